#include "engine/layout/score_blocks.h"

#include <algorithm>

namespace ringmaster {

namespace {

constexpr int64_t kLeast = 16;

/// Counts the passes over a block's scores, in bytes per score, for float32 scores and products whose inputs
/// have e bytes. The passes are listed in the order of score_block_attention.cpp; r and w stand for one
/// float32 score read and written. A product reads scores in the inputs' dtype; 16-bit inputs need a
/// conversion first, which reads 4 bytes and writes e.
double conversion(double e) {
    return e == 4 ? 0 : 4 + e;
}
/// Product w, tanh rw, maximum r, subtraction rw, exponential rw, sum r, conversion, product with values.
double forward_passes(double e) {
    return 4 + 8 + 4 + 8 + 8 + 4 + conversion(e) + e;
}
/// Scores: product w, tanh rw. Probabilities: subtraction rw, exponential rw, conversion, product. Their
/// gradients: product w, subtraction rw, multiplication rrw, the cap's slope rrw, conversion, two products.
double backward_passes(double e) {
    return 4 + 8 + 8 + 8 + conversion(e) + e + 4 + 8 + 12 + 12 + conversion(e) + 2 * e;
}

}  // namespace

ScoreBlocks score_blocks(int64_t heads, int64_t most_scores) {
    const int64_t of_head = most_scores / std::max<int64_t>(1, heads);
    int64_t queries = kLeast;
    while (4 * queries * queries <= of_head) queries *= 2;
    return {queries, std::max(kLeast, of_head / queries / kLeast * kLeast)};
}

ScoreBlocks largest_block(const ScoreBlocks& blocks, const std::vector<Slice>& slices) {
    ScoreBlocks largest;
    for (const Slice& slice : slices) {
        largest.queries = std::max(largest.queries, slice.query_end - slice.query_begin);
        largest.keys = std::max(largest.keys, slice.key_end - slice.key_begin);
    }
    return {std::min(blocks.queries, largest.queries), std::min(blocks.keys, largest.keys)};
}

double score_block_bytes(const ScoreBlockShape& shape, const std::vector<Slice>& slices, bool backward) {
    const ScoreBlocks block = largest_block(score_blocks(shape.rows * shape.heads), slices);
    const auto e = double(shape.element_bytes), D = double(shape.head_dim);
    const double queries = double(shape.rows * shape.heads * block.queries);
    const double keys = double(shape.rows * shape.key_heads * block.keys);
    const double converted = e == 4 ? 0 : e;
    const double scores = queries * double(block.keys) * (converted + 4 * (backward ? 3 : 1));
    const double gathered = queries * (backward ? (2 * e + 4) * D + 2 * 4 : (e + 4) * D + 2 * 4);
    const double gradients = backward ? 4 * keys * D : 0;
    const bool copies_keys = shape.rows > 1 && shape.key_heads > 1;
    const auto masked = [](const Slice& slice) { return slice.mask != SliceMask::Full; };
    const double mask = std::any_of(slices.begin(), slices.end(), masked)
                            ? double(block.queries * block.keys + 4 * (block.queries + block.keys))
                            : 0;
    const double of_softmax = backward ? 0 : 5 * 4 * queries;
    return scores + gathered + gradients + std::max({copies_keys ? e * keys * D : 0, mask, of_softmax});
}

/// The sums of a block's queries are scaled and added to once per block of keys; the gradients of keys are
/// computed as a product and added once per block of queries.
double score_traffic(const ScoreBlockShape& shape, bool backward) {
    const ScoreBlocks block = score_blocks(shape.rows * shape.heads);
    const auto e = double(shape.element_bytes), D = double(shape.head_dim);
    const double group = double(shape.heads) / double(shape.key_heads);
    const double of_queries = D / double(block.keys), of_keys = D / (group * double(block.queries));
    if (!backward) return forward_passes(e) + of_queries * (8 + 8) + of_keys * 2 * e;
    return backward_passes(e) + of_queries * 8 + of_keys * (3 * e + 2 * (4 + 12));
}

}  // namespace ringmaster
