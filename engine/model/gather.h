/// Values of all tokens of a sequence that is split over ranks, in the sequence's order, with the layout's
/// padding undone. Forward beside backward.
///
/// Letters: B rows, T this rank's tokens, S the sequence's without the layout's padding; … any more dims.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/comm/groups.h"
#include "engine/plan/layout.h"

namespace ringmaster {

/// int64 [T]: where this rank's tokens lie in the sequence, in their order here.
at::Tensor own_places(const Groups& groups, const Layout& layout, at::Device device);

/// x_bt [B, T, …] of each context-parallel rank becomes x_bs [B, S, …] on all of them. Any dtype that sums
/// exactly with zero.
at::Tensor gather_tokens(Groups& groups, const Layout& layout, const at::Tensor& x_bt, int64_t sequence);

/// The gradient's way back: every rank computed the same from what it gathered, so its own tokens' part is
/// the whole of it; the layout's padding gets zero.
at::Tensor gather_tokens_backward(const Groups& groups, const Layout& layout, const at::Tensor& dx_bs);

}  // namespace ringmaster
