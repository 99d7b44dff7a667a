/// Joins partial results of CUDA's attention kernels in float32: outputs by their log-sum-exps, gradients by
/// adding. The CPU's kernels (engine/attention/block_attention.h) join sums that are not normalized yet.
///
/// Letters: B rows, H query heads, T queries, D head_dim.
/// Source: Liu et al. 2023, "Ring Attention with Blockwise Transformers", section 3.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "engine/attention/own_kernels.h"

namespace ringmaster {

/// Holds a partial result for the tokens from `first_token` on and the heads from `first_head` on. The last
/// dim is contiguous; other strides are free.
struct AttentionPart {
    at::Tensor values_bthd;  ///< in a half precision or float32, like all parts that are joined with it
    at::Tensor lse_bht;      ///< float32; −infinity if a row saw no key; undefined if parts are added
    int64_t first_token = 0;
    int64_t first_head = 0;
};

/// The tensors that parts are joined into.
struct JoinedParts {
    at::Tensor sum_bthd;    ///< float32; undefined if `begins` is set and `whole_bthd` is given
    at::Tensor lse_bht;     ///< float32, log-sum-exp of the joined keys; undefined if parts are added
    bool begins = false;    ///< if true, nothing was joined before, and sum_bthd and lse_bht are overwritten
    at::Tensor whole_bthd;  ///< in the parts' dtype; if defined, receives the result in place of sum_bthd
};

/// Joins any number of parts. A row that no part covers gets zeros, and an lse of −infinity, if `begins` is
/// set. Runs LibTorch's operations, or our kernel if it is switched on.
void join_parts(const JoinedParts& to, const std::vector<AttentionPart>& parts);

/// Adds part_bthd to sum_bthd, which is float32. If `begins` is set, overwrites sum_bthd with part_bthd.
void add_to_sum(const at::Tensor& sum_bthd, const at::Tensor& part_bthd, bool begins);

namespace plain {
/// Joins with LibTorch's operations.
void join_parts(const JoinedParts& to, const std::vector<AttentionPart>& parts);
}  // namespace plain

namespace own {
/// Joins with our kernel, which `run` starts; at most JoinParts<T>::kMost parts.
void join_parts(const RunRows& run, const JoinedParts& to, const std::vector<AttentionPart>& parts);
}  // namespace own

}  // namespace ringmaster
