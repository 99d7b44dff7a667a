/// Draws dropout and noise from a counter-based generator. An element's random number depends only on its
/// token's place in the data, its column and a stream (a number for run, step, layer and module). So it is
/// the same for any split or batching of a sequence, and in the backward pass.
///
/// Letters: N tokens, W width.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ringmaster {

/// Returns a hash of a number. Repeated calls combine several numbers into a stream.
uint64_t mixed(uint64_t x);

/// Returns two hash keys below 2^32 per token, int64 [2, N]; `places_n` are indices of tokens, int64 [N].
at::Tensor dropout_keys(const at::Tensor& places_n, uint64_t stream);

/// Returns x_nw ÷ (1 − p), or 0 for dropped elements. `keys_2n` holds the keys of x's tokens.
at::Tensor dropout(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, double p);
/// Computes dropout() with LibTorch's operations, on any device.
at::Tensor dropout_anywhere(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, double p);

/// Adds to each element a random number, uniform in (-limit, limit).
void add_noise(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, double limit);
/// Computes add_noise() with LibTorch's operations, on any device.
void add_noise_anywhere(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, double limit);

}  // namespace ringmaster
