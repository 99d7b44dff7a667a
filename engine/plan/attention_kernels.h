/// Which kernels compute a run's attention, and why. The engine asks the same functions before its calls, so
/// that what the plan names is what runs.
///
/// On a GPU half precisions go by FlashAttention-2, or by cuDNN if that is faster; float32 goes by LibTorch's
/// memory-efficient kernel. On the CPU Ringmaster's own kernels compute.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/plan/flash_calls.h"
#include "engine/plan/plan.h"

namespace ringmaster {

enum class AttentionFamily { OwnBlocks, FlashAttention2, Efficient };
AttentionFamily attention_family(Device device, bool float32);

/// One launch without gaps, in a half precision.
struct DenseCall {
    int64_t queries = 0, keys = 0, head_dim = 0;
    FlashWindow window;
};
/// Rectangles that are wholly visible, and squares that are causal.
bool cudnn_takes(const DenseCall& call);

/// Why cuDNN computes no part of the run's attention. Null if it may: a measurement at the start decides.
const char* why_not_cudnn(const Plan& plan);

/// Texts of one line, in English; the app translates each as a whole.
struct AttentionUse {
    std::string kernel;  ///< "FlashAttention-2, dense"
    std::string use;     ///< what it computes; "for" in the JSON
    std::string why;
};
/// Empty if the model's shape or the mesh is unknown.
std::vector<AttentionUse> attention_kernels(const Plan& plan);

}  // namespace ringmaster
