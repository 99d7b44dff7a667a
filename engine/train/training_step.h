/// Runs one optimizer step in the same way on every rank: forward and backward over the step's rows,
/// agreement between ranks, clipping, and the optimizer. The trainer uses this code, and preflight runs it on
/// shortened rows.
///
/// Every step makes four checks, and its error names the check that failed: the ranks' shares add up
/// (shares.h), all ranks have the same gradient norm, ranks with the same weights hold the same bits, and
/// sampled weights have the values of the optimizer's formula (update_check.h).
#pragma once

#include "engine/comm/groups.h"
#include "engine/model/lora.h"
#include "engine/optimizers/optimizer.h"
#include "engine/plan/plan.h"
#include "engine/train/loss_scale.h"
#include "engine/train/mesh_pass.h"
#include "engine/train/preference_pass.h"

namespace ringmaster {

/// Holds requests that one rank makes to all ranks.
struct StepRequests {
    bool stop = false;
    bool save = false;
    bool sample = false;
};

class TrainingStep {
  public:
    TrainingStep(const Plan& plan, Groups& groups, TrainedModel& trained, Optimizer& optimizer,
                 const Kept& kept);

    using Requests = StepRequests;
    struct Computed {
        MeshPass::Result own;  ///< this rank's result
        double loss = 0;       ///< mean over the labels of all ranks
        double grad_norm = 0;  ///< norm over all ranks, before clipping; finite on all ranks or on none
        Requests requests;     ///< requests of all ranks, combined
        std::optional<double> loss_scale = {};   ///< scale of this step's loss; set only in float16
        std::optional<double> router_loss = {};  ///< router's loss over all ranks, if the model adds one
        LossFigures preference = {};
        bool overflowed = false;  ///< float16 cannot hold a scaled gradient; equal on all ranks
    };

    /// Computes gradients of the rows, summed over all ranks. Throws ProgramFault if the ranks' shares do not
    /// add up to the rows, or if gradient norms or weights differ between ranks. In float16 it scales
    /// the loss; a step that overflowed must not be followed by `update`.
    Computed compute(const StepRows& rows, const Requests& requests = {});
    /// Clips and updates; `step` counts from 1. Throws ProgramFault if the update does not follow the
    /// optimizer's formula.
    void update(const Computed& computed, int64_t step, double learning_rate);

    /// Throws ProgramFault with the names of tensors whose copies differ between ranks.
    void check_weights();

    /// Sets the facts that the loss of preferences needs for the rows of later steps.
    void set_facts(PreferenceFacts facts) { facts_ = std::move(facts); }

    MeshPass& pass() { return pass_; }
    /// The scale of the next step, if the run computes in float16.
    LossScale& loss_scale() { return loss_scale_; }

  private:
    Computed agree(const MeshPass::Result& own, const StepRows& rows, const Requests& requests);
    void check_norm(double norm);
    void freeze();
    void unscale(Computed& computed);

    const Plan& plan_;
    const Config& config_;
    Groups& groups_;
    TrainedModel& trained_;
    Parameters& parameters_;  ///< trained_.trained()
    Optimizer& optimizer_;
    MeshPass pass_;
    LossScale loss_scale_;
    PreferenceFacts facts_;
    std::vector<std::vector<FlatRange>> frozen_;  ///< frozen elements of each parameter
};

}  // namespace ringmaster
