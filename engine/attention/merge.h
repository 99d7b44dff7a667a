/// Joins partial attention results of CUDA's kernels by their log-sum-exp, in float32, in place. The CPU's
/// kernels (engine/attention/block_attention.h) join theirs before they divide.
///
/// Letters: B rows, H query heads, T queries, D head_dim.
/// Source: Liu et al. 2023, "Ring Attention with Blockwise Transformers", section 3.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/attention/own_kernels.h"

namespace ringmaster {

/// Merges a block's result into out_bthd float32 [B, T, H, D] and lse_bht float32 [B, H, T]. lse is −infinity
/// and out is 0 if no key was seen yet. block_out_bthd may be bfloat16. Strides are free except in the last
/// dims. Runs LibTorch's operations, or our kernel if it is switched on.
void merge_by_lse(at::Tensor out_bthd, at::Tensor lse_bht, const at::Tensor& block_out_bthd,
                  const at::Tensor& block_lse_bht);

/// Adds part_bthd, which may be bfloat16, to sum_bthd, float32 [B, T, H, D]. Last dims are contiguous. Runs
/// LibTorch's operation, or our kernel if the merging kernel is switched on.
void add_to_sum(at::Tensor sum_bthd, const at::Tensor& part_bthd);

namespace plain {
/// Merges with LibTorch's operations.
void merge_by_lse(at::Tensor out_bthd, at::Tensor lse_bht, const at::Tensor& block_out_bthd,
                  const at::Tensor& block_lse_bht);
}  // namespace plain

namespace own {
/// Do the same as above with our kernels, which `run` starts.
void merge_by_lse(const RunRows& run, at::Tensor out_bthd, at::Tensor lse_bht,
                  const at::Tensor& block_out_bthd, const at::Tensor& block_lse_bht);
void add_to_sum(const RunRows& run, at::Tensor sum_bthd, const at::Tensor& part_bthd);
}  // namespace own

}  // namespace ringmaster
