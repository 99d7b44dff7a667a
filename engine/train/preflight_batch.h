/// The rows that preflight proves a mesh on: some of the run's next rows with labels, cut short, and arranged
/// so that every path of a step is taken.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/attention/block_attention.h"
#include "engine/data/tokens.h"
#include "engine/model/decoder.h"
#include "engine/plan/plan.h"
#include "engine/train/mesh_pass.h"

namespace ringmaster {

/// Of the candidates, rows that have a label within their first `tokens`, repeated if they are few; as many
/// as a PreflightBatch takes. Empty if none has one.
std::vector<Row> labelled_rows(const Plan& plan, const TokenFile& file,
                               const std::vector<int64_t>& candidates, int64_t tokens);

/// How many rows a PreflightBatch takes.
int64_t preflight_rows(const Plan& plan);

/// Three micro-batches for each data-parallel group, but one less for the last of several, which fills that
/// round up if the others need it. Sizes of chunks, tiles and blocks shrink with the rows, so that there are
/// several, as in the run.
struct PreflightBatch {
    PreflightBatch(const Plan& plan, std::vector<Row> chosen, int rank, int64_t tokens);
    PreflightBatch(const PreflightBatch&) = delete;
    PreflightBatch& operator=(const PreflightBatch&) = delete;

    /// A document, and where it lies on the mesh.
    struct Document {
        Row row;
        int group = 0;           ///< that has it
        size_t micro_batch = 0;  ///< of the group
        size_t in_batch = 0;     ///< the row of the micro-batch that it is of
        int64_t in_row = 0;      ///< where it begins in that row
        int64_t sequence = 0;    ///< of the micro-batch
        int64_t begin = 0;       ///< within the sequence
        int64_t longest = 0;     ///< document of its micro-batch
    };

    Plan plan;  ///< for rows so short
    Kept kept;
    BlockSizes blocks;
    std::vector<Row> all;             ///< of all groups
    StepRows rows;                    ///< of this rank's group
    std::vector<Row> unlabelled;      ///< its first micro-batch, without labels
    std::vector<Document> documents;  ///< of all groups, in order

  private:
    std::vector<int32_t> no_labels_;
};

}  // namespace ringmaster
