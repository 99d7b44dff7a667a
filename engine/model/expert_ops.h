/// Routes tokens to experts and computes products with the matrices of experts, forward and backward, without
/// autograd. Rows of the products are sorted by expert, so that each expert needs only one product; the host
/// reads the row counts once per layer.
///
/// Letters: N tokens, C hidden, E experts, K experts of a token, M = N·K rows, O and I outputs and inputs of
/// an expert's matrix.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "engine/activation.h"
#include "engine/model/expert_ranks.h"

namespace ringmaster {

class ExpertExchange;

/// The experts that compute each token, and the row that each of them reads.
struct Routing {
    at::Tensor chosen_nk;         ///< int64
    at::Tensor probabilities_ne;  ///< float32 (float64 for float64 inputs): the experts' scores
    at::Tensor weights_nk;        ///< same dtype: each chosen expert's share of the token's output
    at::Tensor slots_m;           ///< int64: each row's n·K + j (token n, choice j), sorted by expert
    at::Tensor rows_nk;           ///< int64: the row of each token's j-th choice
    std::vector<int64_t> begins;  ///< first row of each expert, then the end of the last expert's rows
    std::shared_ptr<const ExpertExchange> exchange = {};  ///< set if other ranks compute some of the experts

    int64_t per_token() const { return chosen_nk.size(1); }
};

/// Chooses each token's experts: returns int64 [N, K].
using ExpertChooser = std::function<at::Tensor(const ExpertRanks& ranks)>;
/// Returns the experts to use in place of own_nk, the choice of a layer's router. `places_n` are the tokens'
/// places in the data (-1: padding).
using LayerExpertChooser = std::function<at::Tensor(int layer, const at::Tensor& places_n,
                                                    const ExpertRanks& ranks, const at::Tensor& own_nk)>;

/// Routes tokens to experts. With `norms`, the weights of a token's experts add up to rule.scale. The bias,
/// the correction and the factors of the experts' weights are undefined if the model has none. `logits_ne`,
/// if defined, takes the place of a product with router_ec.
Routing route(const at::Tensor& x_nc, const at::Tensor& router_ec, bool norms, const ExpertChooser& choose,
              const at::Tensor& bias_e = {}, const RouterRule& rule = {}, const at::Tensor& correction_e = {},
              const at::Tensor& scales_e = {}, const at::Tensor& logits_ne = {});
/// Returns the weights of the chosen experts before these are multiplied by the experts' factors.
at::Tensor weights_without_factors(const Routing& routing, bool norms, const RouterRule& rule);

/// Calls `body` for each expert that has rows, with the expert, its first row and its number of rows.
template <class Body>
void for_experts(const Routing& routing, const Body& body) {
    for (size_t expert = 0; expert + 1 < routing.begins.size(); ++expert) {
        const int64_t begin = routing.begins[expert], count = routing.begins[expert + 1] - begin;
        if (count > 0) body(static_cast<int64_t>(expert), begin, count);
    }
}

/// Returns the hidden state of each row's token, [M, C].
at::Tensor expert_rows(const at::Tensor& x_nc, const Routing& routing);
/// Returns the expert weight of each row, [M, 1].
at::Tensor row_weights(const Routing& routing);
/// Returns Σ a · b of each row, in the dtype of weights.
at::Tensor row_products(const at::Tensor& a_mw, const at::Tensor& b_mw);

struct WeighedGate {
    at::Tensor act_mi;      ///< weight · f(gate) · up
    at::Tensor dweights_m;  ///< Σ dact · f(gate) · up, in the dtype of weights
};
/// Computes the backward of rows weight · f(gate) · up, given dact, the gradient of the weighted rows:
/// replaces gate_up by the gradients of gate and up. The result's act_mi may use the memory of dact.
WeighedGate weighed_gate_backward(const at::Tensor& gate_up_m2i, const at::Tensor& dact_mi,
                                  const at::Tensor& weights_m1, const GateRule& rule = {});
/// Returns the sum of each token's rows; `weighted` multiplies rows by their weights.
at::Tensor combine(const at::Tensor& y_mc, const Routing& routing, bool weighted);

/// Returns x · weightᵀ for each row, with the weight of the row's expert.
at::Tensor grouped_linear(const at::Tensor& x_mi, const at::Tensor& weight_eoi, const Routing& routing);
/// Adds to each row the bias of its expert; does nothing if bias_eo is undefined.
void add_biases(const at::Tensor& y_mo, const at::Tensor& bias_eo, const Routing& routing);
/// Adds Σ dy · bias of each row's expert to sums_m; does nothing if the bias is undefined.
void add_bias_products(const at::Tensor& sums_m, const at::Tensor& dy_mo, const at::Tensor& bias_eo,
                       const Routing& routing);
/// Sets gradient to beta · gradient + Σ dy of each expert's rows; does nothing if gradient is undefined.
/// `weights_m1`, if defined, multiplies the rows.
void accumulate_grouped_bias(const at::Tensor& gradient_eo, const at::Tensor& dy_mo,
                             const at::Tensor& weights_m1, const Routing& routing, double beta);
/// Returns dy · weight for each row, with the weight of the row's expert.
at::Tensor grouped_product(const at::Tensor& dy_mo, const at::Tensor& weight_eoi, const Routing& routing);
/// Sets gradient to beta · gradient + dyᵀ · x of each expert's rows; does nothing if gradient is undefined.
void accumulate_grouped_gradient(const at::Tensor& gradient_eoi, const at::Tensor& dy_mo,
                                 const at::Tensor& x_mi, const Routing& routing, double beta);

/// Returns the gradient of the router's logits, [N, E], given the gradient of the rows' weights.
/// `dprobabilities_ne`, if defined, is another gradient of the probabilities.
at::Tensor router_backward(const Routing& routing, const at::Tensor& dweights_m, bool norms,
                           const at::Tensor& dprobabilities_ne = {}, const RouterRule& rule = {});

}  // namespace ringmaster
