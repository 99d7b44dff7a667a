/// Converts codes of block-wise states on any device: our kernels on the CPU, else LibTorch's operations.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/kernels/code_book.h"

namespace ringmaster {

/// Returns float32 values of `count` codes that begin at a block's start or lie within one block. `scales`
/// has one scale per block.
at::Tensor decode(const CodeBook& book, const at::Tensor& codes, const at::Tensor& scales, int64_t count,
                  int64_t block);
at::Tensor encode(const CodeBook& book, const at::Tensor& values, const at::Tensor& scales, int64_t block);

/// Returns the largest magnitude of each block; the last block may be shorter.
at::Tensor largest_of_blocks(const at::Tensor& values, int64_t block);
/// Returns the scales of blocks with these largest magnitudes.
at::Tensor scales_from(const CodeBook& book, const at::Tensor& largest);

/// Returns the values of single codes, without their scale.
at::Tensor numbers_of(const CodeBook& book, const at::Tensor& codes);
/// Returns, for each code, the distance from its number to the farther of its two neighbours' numbers. Adds
/// the width of a bin if the book looks numbers up in bins.
at::Tensor gaps_of(const CodeBook& book, const at::Tensor& codes);

}  // namespace ringmaster
