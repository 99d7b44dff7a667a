/// Computes which global token positions each rank of a context-parallel group holds. A layout is data: a
/// list of spans per rank. One function and its inverse shard, gather and remove padding for every layout.
///
/// A rank's local tokens are the positions of its spans in the order listed; local index and global position
/// both count from 0.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/config/config.h"
#include "engine/plan/attention_mask.h"
#include "engine/plan/spans.h"

namespace ringmaster {

struct Layout {
    int64_t tokens = 0;        ///< length of the (padded) sequence
    std::vector<Spans> ranks;  ///< spans of each context rank, sorted by position

    int64_t tokens_of(int rank) const;
};

/// Returns the cells of the causal mask in the rows of these positions (position p sees p + 1 keys): a rank's
/// attention work.
int64_t causal_cells(const Spans& spans);

/// Returns the multiple that a layout requires of a sequence's length: ring × ulysses for contiguous and
/// stripe, twice that for zigzag, 1 for the others, whose shards differ by at most a token.
int64_t length_multiple(RingAttnFunc func, int ring, int ulysses);

/// Returns `length` rounded up to the layout's multiple.
int64_t padded_length(RingAttnFunc func, int64_t length, int ring, int ulysses);

/// Returns the layout of one document of `tokens` positions (already padded) over ring × ulysses ranks. Each
/// ring rank's share is cut into `ulysses` parts in order, so that the all-to-all over a Ulysses group
/// returns sorted tokens. Throws Error if `tokens` is not a multiple of the layout's multiple.
Layout make_layout(RingAttnFunc func, int64_t tokens, int ring, int ulysses);

/// Returns a layout for any documents, window and length: varlen_ring and varlen_zigzag cut each document
/// over all ranks, balanced places documents (engine/plan/balanced_layout.h), the others ignore them. Shards
/// are as equal as the layout allows. Throws Error for Default and Auto, which name no layout.
Layout make_layout(RingAttnFunc func, int64_t tokens, int ring, int ulysses, const AttentionMask& mask);

/// Returns the sorted positions that the ranks of one Ulysses group hold together: one ring rank attends with
/// them after the all-to-all.
Spans ring_spans(const Layout& layout, int ring_rank, int ulysses);

}  // namespace ringmaster
