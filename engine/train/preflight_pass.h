/// The two computations that preflight compares: a step on the mesh, and the plain model's on its documents.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/model/lora.h"
#include "engine/train/preflight_batch.h"
#include "engine/train/training_step.h"

namespace ringmaster {

/// The same on every rank.
struct Proof {
    double loss = 0;  ///< mean over all labels
    double grad_norm = 0;
    Flat gradients;  ///< of all rows; right in the own slices
    at::Tensor
        samples_lsw;  ///< float32 [2, samples, (H + 2K)·D]: gradients of q, k and v, first and last layer
};

/// By the trainer's step, its gradients begun as NaN. They stay in `trained` for `update`. Throws
/// ProgramFault.
Proof prove_on_mesh(const PreflightBatch& batch, Groups& groups, TrainedModel& trained, TrainingStep& step,
                    TrainingStep::Computed& computed);
/// By the mesh's forward and backward alone, of a model without an optimizer. Throws ProgramFault.
Proof prove_pass(const PreflightBatch& batch, Groups& groups, TrainedModel& trained);

/// By the plain model. A group's documents are dealt to the ranks of the next group, so that no rank computes
/// what it computed on the mesh; only on one rank it does, by other code.
Proof prove_plainly(const PreflightBatch& batch, Groups& groups, TrainedModel& trained);

/// Names a tensor that has a gradient other than zero after rows without labels alone. All ranks together.
std::string learned_without_labels(const PreflightBatch& batch, Groups& groups, TrainedModel& trained);

/// The same model in float32, with the weights that `trained` computes with.
TrainedModel in_float32(const Plan& plan, TrainedModel& trained);

/// Names a tensor whose elements are not all held by exactly one rank of the shard group, or that a pass does
/// not read as the ranks hold it. Empty: all are right. All ranks together. Throws ProgramFault if ranks hold
/// different copies.
std::string wrong_weights(Groups& groups, TrainedModel& trained);

/// Changes the second half of one document of the group's first micro-batch: whether any output outside it
/// changed, or none inside.
bool leaks(const PreflightBatch& batch, Groups& groups, TrainedModel& trained);

}  // namespace ringmaster
