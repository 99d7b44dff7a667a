/// Dropout that is drawn from a counter, not from a generator's state: whether an element is dropped depends
/// on its token's place in the data, its column and a stream (a number for run, step, layer and module)
/// alone. So the same elements are dropped however a sequence is split or batched, and again in the backward.
///
/// Letters: N tokens, W width.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ringmaster {

/// Numbers into one that looks random: a stream of several.
uint64_t mixed(uint64_t x);

/// Of tokens at these places (int64 [N]): int64 [2, N], below 2^32.
at::Tensor dropout_keys(const at::Tensor& places_n, uint64_t stream);

/// x_nw ÷ (1 − p), and 0 where it is dropped. `keys_2n` are those of x's tokens.
at::Tensor dropout(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, double p);
/// The same by LibTorch's operations, on any device.
at::Tensor dropout_anywhere(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, double p);

}  // namespace ringmaster
