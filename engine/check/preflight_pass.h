/// Runs the two computations that preflight compares: a step on the mesh, and the plain model's.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "engine/check/expert_choices.h"
#include "engine/check/preflight_batch.h"
#include "engine/comm/groups.h"
#include "engine/config/precision.h"
#include "engine/model/lora.h"
#include "engine/train/training_step.h"

namespace ringmaster {

// Bounds for a tensor's ‖mesh − plain‖ ÷ ‖plain‖. float32 differs only by the order of sums: correct meshes
// stay below 2e-6, the faults of tests/faults are above 4e-3. bfloat16 keeps 8 bits: correct meshes stay
// below 0.02; the float32 proof finds faults below the bound. float16 keeps 11 bits.
constexpr double kFloat32Bound = 1e-4;
constexpr double kBfloat16Bound = 6e-2;
constexpr double kFloat16Bound = 1e-2;

inline double bound_of(Precision precision) {
    return precision == Precision::Float32 ? kFloat32Bound
           : precision == kFp16Mixed       ? kFloat16Bound
                                           : kBfloat16Bound;
}

/// Holds results that are the same on every rank.
struct Proof {
    double loss = 0;  ///< mean over all labels
    double grad_norm = 0;
    Flat gradients;  ///< gradients of all rows; correct in this rank's slices
    at::Tensor
        samples_lsw;  ///< float32 [2, samples, (H + 2K)·D]: gradients of q, k and v, first and last layer
    std::shared_ptr<ExpertChoices> choices = {};  ///< the plain model's choices; null without experts
    PreferenceFacts facts = {};  ///< facts with which the plain model computed the loss of preferences
    /// Holds a reward model's gradients as they would be if chosen and rejected documents, whose scores are
    /// nearly equal at first, did not cancel. Rounding errors are in proportion to these. Unset for other
    /// models.
    std::optional<Flat> uncancelled = {};
};

/// Proves the trainer's step, with gradients that start as NaN; they stay in `trained` for `update`. Uses the
/// experts that the plain model chose, and its facts of preferences. Throws ProgramFault.
Proof prove_on_mesh(const PreflightBatch& batch, Groups& groups, TrainedModel& trained, TrainingStep& step,
                    TrainingStep::Computed& computed, const Proof& plain);
/// Proves the mesh's forward and backward alone, for a model without an optimizer. Throws ProgramFault.
Proof prove_pass(const PreflightBatch& batch, Groups& groups, TrainedModel& trained, const Proof& plain);

/// Runs the plain model. A group's documents are given to the next group's ranks, so that no rank repeats
/// with the plain model what it computed on the mesh. A single rank must repeat it.
Proof prove_plainly(const PreflightBatch& batch, Groups& groups, TrainedModel& trained);

/// Returns the name of a tensor with a nonzero gradient after rows without labels. All ranks take part.
std::string learned_without_labels(const PreflightBatch& batch, Groups& groups, TrainedModel& trained);

/// Returns the model in float32, with the weights that `trained` computes with.
TrainedModel in_float32(const Plan& plan, TrainedModel& trained);

/// Checks that exactly one rank of the shard group holds each element, and that all ranks compute with that
/// rank's value. Returns a message that names a tensor that fails; empty if all pass. All ranks take part.
/// Throws ProgramFault if ranks hold different copies.
std::string wrong_weights(Groups& groups, TrainedModel& trained);

/// Changes the second half of one document of the group's first micro-batch. Returns whether any output
/// outside it changed, or none inside.
bool leaks(const PreflightBatch& batch, Groups& groups, TrainedModel& trained);

}  // namespace ringmaster
