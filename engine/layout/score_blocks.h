/// Gives sizes, memory and traffic of the blocks of scores by which a GPU computes attention with LibTorch's
/// operations (engine/attention/score_block_attention.h). Shared by the engine, which runs the blocks, and
/// the planner, which counts their memory and time.
///
/// Letters: B rows, H query heads, K key/value heads (H a multiple of K), D head_dim; e bytes per element of
/// the inputs.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/layout/slices.h"

namespace ringmaster {

/// Bounds the scores of a block, over all rows and heads: 32 MiB in float32. A GPU's pass over that many
/// scores takes longer than the host needs to launch the next operation; larger blocks would only take
/// memory.
constexpr int64_t kMostScores = int64_t{1} << 23;

/// Queries and keys of a block. The two are about equal, so that the rows of both are read and added to as
/// rarely as possible. Queries are never more than keys, so each query of a slice sees a key of its first
/// block.
struct ScoreBlocks {
    int64_t queries = 0, keys = 0;
};
/// Returns the sizes for `heads` query heads of all rows together: at least 16 queries and 16 keys, which
/// exceed the bound only above 32,768 heads.
ScoreBlocks score_blocks(int64_t heads, int64_t most_scores = kMostScores);

/// Sizes of the tensors of one attention call.
struct ScoreBlockShape {
    int64_t rows = 1, heads = 1, key_heads = 1, head_dim = 0;
    int64_t element_bytes = 2;
};

/// Returns the largest block of the slices, at most `blocks`. Slices may not be empty.
ScoreBlocks largest_block(const ScoreBlocks& blocks, const std::vector<Slice>& slices);

/// Returns the bytes that a call allocates besides inputs and results: scores, probabilities and masks of a
/// block, its queries' rows, and copies of its keys' rows.
double score_block_bytes(const ScoreBlockShape& shape, const std::vector<Slice>& slices, bool backward);

/// Returns the bytes that a GPU reads and writes for each score: each pass over a block, and the block's
/// share of the passes over rows of queries and keys. Matrix products read their inputs once.
double score_traffic(const ScoreBlockShape& shape, bool backward);

}  // namespace ringmaster
