/// Joins partial attention results by their log-sum-exp, in float32, in place: those of CUDA's kernels; the
/// CPU's (engine/attention/block_attention.h) join theirs before they are divided.
///
/// Letters: B rows, H query heads, T queries, D head_dim.
/// Source: Liu et al. 2023, "Ring Attention with Blockwise Transformers", section 3.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/attention/own_kernels.h"

namespace ringmaster {

/// out_bthd float32 [B, T, H, D] and lse_bht float32 [B, H, T] become the result over both sets of keys. lse
/// is −infinity where no key was seen yet (out is 0 there). block_out_bthd may be bfloat16. Strides are free
/// but for the last dims. By LibTorch's operations, or by our kernel where it is switched on.
void merge_by_lse(at::Tensor out_bthd, at::Tensor lse_bht, const at::Tensor& block_out_bthd,
                  const at::Tensor& block_lse_bht);

/// sum_bthd, float32 [B, T, H, D], grows by part_bthd of the same shape, which may be bfloat16. The last dims
/// are contiguous. By LibTorch's operation, or by our kernel where the one that merges is switched on.
void add_to_sum(at::Tensor sum_bthd, const at::Tensor& part_bthd);

namespace plain {
/// By LibTorch's operations.
void merge_by_lse(at::Tensor out_bthd, at::Tensor lse_bht, const at::Tensor& block_out_bthd,
                  const at::Tensor& block_lse_bht);
}  // namespace plain

namespace own {
/// By our kernel, which `run` runs.
void merge_by_lse(const RunRows& run, at::Tensor out_bthd, at::Tensor lse_bht,
                  const at::Tensor& block_out_bthd, const at::Tensor& block_lse_bht);
void add_to_sum(const RunRows& run, at::Tensor sum_bthd, const at::Tensor& part_bthd);
}  // namespace own

}  // namespace ringmaster
