/// Selects the rows for preflight's proof: some of the run's next rows with labels, shortened, and arranged
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

/// Returns candidates that have a label within their first `tokens`, as many as a PreflightBatch takes;
/// repeats candidates if there are too few. Empty if none has a label.
std::vector<Row> labelled_rows(const Plan& plan, const TokenFile& file,
                               const std::vector<int64_t>& candidates, int64_t tokens);

/// Returns the number of rows that a PreflightBatch takes.
int64_t preflight_rows(const Plan& plan);

/// Holds three micro-batches per data-parallel group. The last of several groups has one micro-batch fewer,
/// and takes part in the missing round only if the other groups need it. Sizes of chunks, tiles and blocks
/// shrink with the rows, so that there are several, as in the run.
struct PreflightBatch {
    PreflightBatch(const Plan& plan, std::vector<Row> chosen, int rank, int64_t tokens);
    PreflightBatch(const PreflightBatch&) = delete;
    PreflightBatch& operator=(const PreflightBatch&) = delete;

    /// A document, and its place on the mesh.
    struct Document {
        Row row;
        int group = 0;           ///< data-parallel group that reads the document
        size_t micro_batch = 0;  ///< index within the group
        size_t in_batch = 0;     ///< row within the micro-batch
        int64_t in_row = 0;      ///< start of the document within that row
        int64_t sequence = 0;    ///< sequence within the micro-batch
        int64_t begin = 0;       ///< place in the sequence of the document's first token that is not shared
        int64_t longest = 0;     ///< length of the micro-batch's longest document
        int64_t padded = 0;      ///< length of a sequence of its micro-batch before the layout's padding, if
                                 ///< no prompt were shared
        size_t slot = 0;         ///< the document's first slot in the step (StepRows)
        int64_t shared = 0;  ///< number of the document's first tokens that are stored with another document
        size_t prompt_of = 0;      ///< index of the document that stores these first tokens
        int64_t prompt_begin = 0;  ///< place of these first tokens in the sequence
        int64_t lent = 0;          ///< number of the document's first tokens that other documents share

        /// Returns a token's place in the sequence.
        int64_t place_of(int64_t token) const {
            return token < shared ? prompt_begin + token : begin + token - shared;
        }
    };

    Plan plan;  ///< plan for rows of this length
    Kept kept;
    BlockSizes blocks;
    std::vector<Row> all;             ///< rows of all groups
    StepRows rows;                    ///< rows of this rank's group
    std::vector<Row> unlabelled;      ///< rows of the group's first micro-batch, without labels
    std::vector<Document> documents;  ///< documents of all groups, in order

  private:
    std::vector<int32_t> no_labels_;
};

}  // namespace ringmaster
