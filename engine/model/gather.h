/// Gathers values of all tokens of a sequence that is split over ranks, in the sequence's order and without
/// the layout's padding.
///
/// Letters: B rows, T this rank's tokens, S tokens of the sequence without the layout's padding; … is for any
/// further dimensions.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/comm/groups.h"
#include "engine/layout/layout.h"

namespace ringmaster {

/// Returns int64 [T]: the indices of the spans' tokens in the sequence, in local order.
at::Tensor places_of(const Spans& spans, at::Device device);
/// Returns the spans of this rank's tokens.
const Spans& own_spans(const Groups& groups, const Layout& layout);
/// Returns int64 [T]: the indices of this rank's tokens in the sequence, in local order.
inline at::Tensor own_places(const Groups& groups, const Layout& layout, at::Device device) {
    return places_of(own_spans(groups, layout), device);
}

/// Returns x_bs [B, S, …] on every context-parallel rank, given x_bt [B, T, …] of each rank. Works for any
/// dtype in which adding zero is exact.
at::Tensor gather_tokens(Groups& groups, const Layout& layout, const at::Tensor& x_bt, int64_t sequence);

}  // namespace ringmaster
