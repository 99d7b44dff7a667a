/// Computes an adapter's part for a parameter that holds the matrices of all experts: adds scale ·
/// x·A_eᵀ·B_eᵀ to the product of expert e. As in PEFT's ParamWrapper, A holds the experts' matrices stacked
/// by rows, and column j·E + e of B is column j of B_e.
///
/// A rank that computes only some of the experts (engine/model/expert_exchange.h) still holds the adapter's
/// matrices for all experts. It leaves the gradients of the other experts at zero; the sum over ranks
/// supplies them.
///
/// Letters: M rows sorted by expert, I and O inputs and outputs of an expert's matrix, E experts, R rank.
#pragma once

#include "engine/model/expert_ops.h"
#include "engine/model/parameters.h"

namespace ringmaster {

/// A LoRA adapter on the matrices of all experts. Its functions do nothing if `weights` is undefined.
struct ExpertAdapter {
    LowRank weights = {}, gradients = {};
    double scale = 1;
    int64_t rank = 0;
    int64_t first_expert = 0;  ///< index, among all experts, of the routing's expert 0

    bool on() const { return weights.a_rc.defined(); }
    void add_forward(const at::Tensor& y_mo, const at::Tensor& x_mi, const Routing& routing) const;
    void add_input_gradient(const at::Tensor& dx_mi, const at::Tensor& dy_mo, const Routing& routing) const;
    /// Sets the gradients of A and B to beta · gradient + new gradient.
    void accumulate(const at::Tensor& dy_mo, const at::Tensor& x_mi, const Routing& routing,
                    double beta) const;

  private:
    at::Tensor a_of(const at::Tensor& a_ri, int64_t expert) const;
    at::Tensor b_of(const at::Tensor& b_or, int64_t expert) const;
};

}  // namespace ringmaster
