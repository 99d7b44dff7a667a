/// Computes which global token positions each rank of a context-parallel group holds. A layout is data: a
/// list of spans per rank. One function and its inverse shard, gather and remove padding for every layout.
///
/// A rank's local tokens are the positions of its spans in the order listed; local index and global position
/// both count from 0.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/config/config.h"
#include "engine/layout/attention_mask.h"
#include "engine/layout/spans.h"

namespace ringmaster {

struct Layout {
    int64_t tokens = 0;        ///< length of the (padded) sequence
    std::vector<Spans> ranks;  ///< spans of each context rank, sorted by position
    /// Local index at which each chunk of a rank begins, then the end of the last chunk; the same on every
    /// rank. Empty if ranks compute all their tokens at once.
    std::vector<int64_t> chunk_bounds = {};

    int64_t tokens_of(int rank) const;
    size_t chunks() const { return chunk_bounds.empty() ? 1 : chunk_bounds.size() - 1; }
};

/// Returns the first token of each of `chunks` nearly equal parts of `tokens` tokens, then the end of the
/// last part.
std::vector<int64_t> chunk_bounds(int64_t tokens, int64_t chunks);

/// Returns the number of causal mask cells in the rows of these positions, which is a rank's attention work.
/// Position p sees p + 1 keys.
int64_t causal_cells(const Spans& spans);

/// Returns the multiple that a layout requires of a sequence's length: ring × ulysses for contiguous and
/// stripe, twice that for zigzag, 1 for the others, whose shards differ by at most a token. If sequences are
/// cut into chunks, shards must be equal, and the others also require ring × ulysses.
int64_t length_multiple(RingAttnFunc func, int ring, int ulysses, bool has_chunks = false);

/// Returns `length` rounded up to the layout's multiple.
int64_t padded_length(RingAttnFunc func, int64_t length, int ring, int ulysses, bool has_chunks = false);

/// Returns the layout of one document of `tokens` positions (already padded) over ring × ulysses ranks. Each
/// ring rank's share is divided into `ulysses` parts in order, so that the all-to-all over a Ulysses group
/// returns sorted tokens. Throws Error if `tokens` is not a multiple of the layout's multiple.
Layout make_layout(RingAttnFunc func, int64_t tokens, int ring, int ulysses);

/// Returns a layout for any documents, window and length: varlen_ring and varlen_zigzag cut each document
/// over all ranks, balanced places documents (engine/layout/balanced_layout.h), and the other layouts ignore
/// documents. Shards are as equal as the layout allows. Throws Error for Default and Auto, which name no
/// layout.
///
/// With more than one chunk, the sequence is first cut into this many stretches (fewer if it is too short),
/// and each of them is laid out over all ranks: a rank's first chunk is its share of the first stretch. With
/// chunks, also throws Error if `tokens` is not a multiple of length_multiple, or if the layout divides a
/// stretch into unequal shares, as `balanced` may do.
Layout make_layout(RingAttnFunc func, int64_t tokens, int ring, int ulysses, const AttentionMask& mask,
                   int64_t chunks = 1);

/// Returns the sorted positions that the ranks of one Ulysses group hold together: one ring rank attends with
/// them after the all-to-all.
Spans ring_spans(const Layout& layout, int ring_rank, int ulysses);
/// Returns the sorted positions of one chunk that these ranks hold together.
Spans chunk_spans(const Layout& layout, size_t chunk, int ring_rank, int ulysses);

}  // namespace ringmaster
