/// Which of CUDA's attention kernels a run computes with: FlashAttention-2, or cuDNN's where it is faster, by
/// a short measurement at the start on the shapes of the run. cuDNN is taken only where it ran, agreed with
/// FlashAttention-2, was faster on every rank, and repeats to the last bit or need not.
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

/// A causal square, or a rectangle that is wholly visible.
struct AttentionShape {
    int64_t rows = 1, heads = 0, kv_heads = 0, tokens = 0, head_dim = 0;
    int64_t keys = 0;  ///< of a rectangle; 0: a square

    bool operator==(const AttentionShape&) const = default;
};

/// What a rank attends with, its tokens no more than are needed to tell the two apart. Nothing where only one
/// kernel comes into question: no GPU, float32, wide heads, or documents and windows, which cuDNN does not
/// take.
std::optional<AttentionShape> measured_shape(const Plan& plan);

/// Of one causal square, forward or backward.
struct AttentionTiming {
    double flash_s = 0;
    double other_s = std::numeric_limits<double>::infinity();
    double worst = std::numeric_limits<double>::infinity();  ///< difference over the largest value
    std::string problem;                                     ///< the other kernel's, in one line

    /// By more than what two measurements of the same differ by, and with the same result.
    bool other_wins() const;
};

struct AttentionChoice {
    AttentionTiming forward, backward;
    bool deterministic = true;

    CudnnUse use() const { return {forward.other_wins(), backward.other_wins() && !deterministic}; }
};

/// `other` beside `flash` on the same inputs, bfloat16 on a GPU, for `seconds` each.
AttentionChoice measure_attention(const FlashKernel& flash, const FlashKernel& other,
                                  const AttentionShape& shape, at::Device device, double seconds);
/// FlashAttention-2 beside cuDNN, which is then tried on the run's own `shapes`. Leaves in use what was.
AttentionChoice measure_cudnn(const AttentionShape& shape, at::Device device, double seconds,
                              const std::vector<AttentionShape>& shapes = {});

/// The dense launches of one ring rank for a row as long as the plan's: every hop's, each shape once.
std::vector<AttentionShape> run_shapes(const Plan& plan, int ring_rank);

/// Runs what `use` chose once on each of the run's own shapes, which lie in memory as the run's tensors do,
/// and drops it if `other` refuses one or computes something else. The reason goes to `choice`.
void try_on_run_shapes(AttentionChoice& choice, const FlashKernel& flash, const FlashKernel& other,
                       const std::vector<AttentionShape>& shapes, at::Device device);

/// What all ranks of the world chose: cuDNN only where every one did.
CudnnUse agreed(Groups& groups, const CudnnUse& own);

/// "forward cuDNN (1.20 ms, FlashAttention-2 1.70 ms), backward FlashAttention-2 (…)"
std::string to_text(const AttentionChoice& choice, const CudnnUse& use);
nlohmann::json to_json(const AttentionChoice& choice);

/// Measures where there is a choice, agrees, and has it used from here on. What was chosen and why; empty
/// where there is none.
std::string choose_attention(Groups& groups, const Plan& plan);

}  // namespace ringmaster
