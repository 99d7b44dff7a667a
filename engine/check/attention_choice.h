/// Chooses CUDA's attention kernel for a run: FlashAttention-2, or cuDNN if a short measurement at the start,
/// on the run's shapes, shows that it is faster. cuDNN is chosen only if it ran, agreed with
/// FlashAttention-2, and was faster on every rank. If the run must repeat bit-exactly, cuDNN must also give
/// the same bits each time.
#pragma once

#include <ATen/core/Tensor.h>

#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/attention/cudnn_attention.h"
#include "engine/comm/groups.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// Describes a causal square, or a fully visible rectangle of queries and keys.
struct KernelShape {
    int64_t rows = 1, heads = 0, kv_heads = 0, tokens = 0, head_dim = 0;
    int64_t keys = 0;  ///< number of keys of a rectangle; 0 for a square

    bool operator==(const KernelShape&) const = default;
};

/// Returns the shape to measure, with just enough tokens to show which kernel is faster. Returns nothing if
/// only one kernel is possible: no GPU, float32, wide heads, or documents and windows, which cuDNN does not
/// support.
std::optional<KernelShape> measured_shape(const Plan& plan);

/// Holds the times of both kernels for one causal square, forward or backward.
struct AttentionTiming {
    double flash_s = 0;
    double other_s = std::numeric_limits<double>::infinity();
    double worst = std::numeric_limits<double>::infinity();  ///< difference ÷ largest value
    std::string problem;                                     ///< error of the other kernel, on one line

    /// Returns whether the other kernel is faster beyond measuring noise, with the same result.
    bool other_wins() const;
};

struct AttentionChoice {
    AttentionTiming forward, backward;
    bool deterministic = true;

    CudnnUse use() const { return {forward.other_wins(), backward.other_wins() && !deterministic}; }
};

/// Measures `other` and `flash` on the same inputs, bfloat16 on a GPU, for `seconds` each.
AttentionChoice measure_attention(const FlashKernel& flash, const FlashKernel& other,
                                  const KernelShape& shape, at::Device device, double seconds);
/// Measures FlashAttention-2 and cuDNN, and tries cuDNN on the run's `shapes`. Does not change the kernel in
/// use.
AttentionChoice measure_cudnn(const KernelShape& shape, at::Device device, double seconds,
                              const std::vector<KernelShape>& shapes = {});

/// Returns the dense launches of one ring rank for a row of the plan's length: all hops, each shape once.
std::vector<KernelShape> run_shapes(const Plan& plan, int ring_rank);

/// Runs the chosen kernels once on each of the run's shapes, with tensors laid out in memory as in the run.
/// Drops `other` if it rejects a shape or gives different results. Stores the reason in `choice`.
void try_on_run_shapes(AttentionChoice& choice, const FlashKernel& flash, const FlashKernel& other,
                       const std::vector<KernelShape>& shapes, at::Device device);

/// Returns the choice of all ranks together: cuDNN only if every rank chose it.
CudnnUse agreed(Groups& groups, const CudnnUse& own);

/// Returns text such as "forward cuDNN (1.20 ms, FlashAttention-2 1.70 ms), backward FlashAttention-2 (…)".
std::string to_text(const AttentionChoice& choice, const CudnnUse& use);
nlohmann::json to_json(const AttentionChoice& choice);

/// If two kernels are possible, measures both, agrees with the other ranks, and applies the result. Returns
/// the choice and its reason; empty if only one kernel is possible.
std::string choose_attention(Groups& groups, const Plan& plan);

}  // namespace ringmaster
