/// One optimizer step as every rank takes it: forward and backward over the step's rows, what the ranks agree
/// on, clipping, the optimizer. The trainer runs it; preflight runs the same code on its own rows.
///
/// Checked at every step, and the step fails by name if one is off: the ranks' shares add up (shares.h), all
/// ranks have the same gradient norm, ranks that hold the same weights hold the same bits, and sampled
/// weights are where the optimizer's formula puts them (update_check.h).
#pragma once

#include "engine/comm/groups.h"
#include "engine/model/lora.h"
#include "engine/plan/plan.h"
#include "engine/train/mesh_pass.h"
#include "engine/train/optimizer.h"

namespace ringmaster {

/// What a rank asks of all.
struct StepWishes {
    bool stop = false;
    bool save = false;
};

class TrainingStep {
  public:
    TrainingStep(const Plan& plan, Groups& groups, TrainedModel& trained, Optimizer& optimizer, const Kept& kept);

    using Wishes = StepWishes;
    struct Computed {
        MeshPass::Result own;  ///< of this rank
        double loss = 0;       ///< mean over all labels of all ranks
        double grad_norm = 0;  ///< before clipping, of all ranks; not finite on all ranks or on none
        Wishes wishes;         ///< of any rank
    };

    /// Gradients of the rows, summed over all ranks. Throws ProgramFault if the ranks' shares do not add up
    /// to the rows, or if gradient norms or weights differ between ranks.
    Computed compute(const StepRows& rows, const Wishes& wishes = {});
    /// Clips and updates; `step` counts from 1. Throws ProgramFault if an update is not the optimizer's.
    void update(const Computed& computed, int64_t step, double learning_rate);

    /// Throws ProgramFault naming the tensors that ranks hold different copies of.
    void check_weights();

    MeshPass& pass() { return pass_; }

  private:
    Computed agree(const MeshPass::Result& own, const StepRows& rows, const Wishes& wishes);
    void check_norm(double norm);
    void freeze();

    const Config& config_;
    Groups& groups_;
    TrainedModel& trained_;
    Parameters& parameters_;  ///< of it, those that are trained
    Optimizer& optimizer_;
    MeshPass pass_;
    std::vector<std::vector<FlatRange>> frozen_;  ///< elements of each parameter that are not trained
};

}  // namespace ringmaster
