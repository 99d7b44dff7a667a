/// The two ways that preflight compares: a batch on the mesh as a step would have it, and each of its
/// documents alone on one rank.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/comm/groups.h"
#include "engine/data/tokens.h"
#include "engine/model/lora.h"
#include "engine/plan/plan.h"
#include "engine/train/mesh_pass.h"

namespace ringmaster {

/// The first micro-batches of every data-parallel group, rows cut to `tokens`.
struct PreflightBatch {
    PreflightBatch(const Plan& plan, const Groups& groups, const TokenFile& file,
                   const std::vector<int64_t>& first_rows, int64_t tokens);

    /// A document of this group, and where it lies on the mesh.
    struct Document {
        Row row;
        size_t micro_batch = 0;
        int64_t sequence = 0;  ///< of the micro-batch
        int64_t begin = 0;     ///< within it
    };

    Plan plan;  ///< for rows so short
    StepRows rows;
    size_t all_rows = 0;  ///< of all groups
    std::vector<Document> documents;
};

/// The same on every rank.
struct MeshProof {
    double loss = 0;  ///< mean over all labels
    Flat gradients;   ///< float32, of all rows; right in the own slices
    at::Tensor
        samples_lsw;  ///< float32 [2, samples, (H + 2K)·D]: gradients of q, k and v, first and last layer
};

/// Throws SharesDiffer.
MeshProof prove_on_mesh(const PreflightBatch& batch, Groups& groups, TrainedModel& trained);

/// Documents are dealt to the ranks of the context-parallel group; nothing of the mesh is used but a sum, and
/// at stage 3 the gathering of weights.
MeshProof prove_on_one_rank(const PreflightBatch& batch, Groups& groups, TrainedModel& trained);

double largest_of_ranks(Groups& groups, double value);

/// Changes the second half of one document of the group's first micro-batch: whether any output outside it
/// changed, or none inside.
bool leaks(const PreflightBatch& batch, Groups& groups, TrainedModel& trained);

}  // namespace ringmaster
