/// Joins partial attention results by their log-sum-exp, in float32, in place: those of CUDA's kernels; the
/// CPU's (engine/attention/block_attention.h) join theirs before they are divided.
///
/// Letters: B rows, H query heads, T queries, D head_dim.
/// Source: Liu et al. 2023, "Ring Attention with Blockwise Transformers", section 3.
#pragma once

#include <ATen/core/Tensor.h>

namespace ringmaster {

/// out_bthd float32 [B, T, H, D] and lse_bht float32 [B, H, T] become the result over both sets of keys. lse
/// is −infinity where no key was seen yet (out is 0 there). block_out_bthd may be bfloat16. Strides are free
/// but for the last dims.
void merge_by_lse(at::Tensor out_bthd, at::Tensor lse_bht, const at::Tensor& block_out_bthd,
                  const at::Tensor& block_lse_bht);

}  // namespace ringmaster
