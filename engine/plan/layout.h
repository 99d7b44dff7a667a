/// Which global token positions each rank of a context-parallel group holds. A layout is data: a list of
/// spans a rank. Sharding, gathering and undoing the padding are one function of a layout and its inverse.
///
/// A rank's local tokens are its spans' positions in the order listed; local index and global position both
/// count from 0.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/config/config.h"
#include "engine/plan/attention_mask.h"
#include "engine/plan/spans.h"

namespace ringmaster {

struct Layout {
    int64_t tokens = 0;        ///< length of the (padded) sequence
    std::vector<Spans> ranks;  ///< of each context rank, sorted by position

    int64_t tokens_of(int rank) const;
};

/// Cells of the causal mask in the rows of these positions (position p sees p + 1 keys): the attention work
/// of a rank.
int64_t causal_cells(const Spans& spans);

/// The multiple that a layout needs a sequence's length to be: contiguous and stripe ring × ulysses, zigzag
/// twice the ring × ulysses; the others take any length, with shards that differ by a token.
int64_t length_multiple(RingAttnFunc func, int ring, int ulysses);

/// `length` rounded up to the layout's multiple.
int64_t padded_length(RingAttnFunc func, int64_t length, int ring, int ulysses);

/// The layout of one document of `tokens` positions (already padded) over ring × ulysses ranks. Throws Error
/// where the length is not a multiple. What a ring rank holds is cut into `ulysses` parts in order, so that
/// the all-to-all's concatenation over a Ulysses group is sorted.
Layout make_layout(RingAttnFunc func, int64_t tokens, int ring, int ulysses);

/// The same for any documents and window: varlen_ring and varlen_zigzag cut each document over all ranks,
/// balanced places them (engine/plan/balanced_layout.h), the others do not look at them. Any length; shards
/// are as equal as it allows. Throws Error for Default and Auto, which name no layout.
Layout make_layout(RingAttnFunc func, int64_t tokens, int ring, int ulysses, const AttentionMask& mask);

/// Positions held together by the ranks of one Ulysses group: what one ring rank attends with after the
/// all-to-all, sorted.
Spans ring_spans(const Layout& layout, int ring_rank, int ulysses);

}  // namespace ringmaster
