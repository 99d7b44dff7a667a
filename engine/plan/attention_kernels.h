/// Names the kernels that compute a run's attention, and the reasons. The engine asks the same functions
/// before its calls, so the kernels that the plan names are the ones that run.
///
/// On a GPU, half precisions use FlashAttention-2, or cuDNN if that is faster; float32 uses LibTorch's
/// memory-efficient kernel. A model that caps its scores uses blocks of scores by LibTorch's operations,
/// since these kernels have no cap. On the CPU, Ringmaster's own kernels compute attention.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "engine/layout/flash_calls.h"
#include "engine/plan/plan.h"

namespace ringmaster {

enum class AttentionFamily { OwnBlocks, FlashAttention2, Efficient, ScoreBlocks };
constexpr int64_t kFlashMostHeadDim = 256;
AttentionFamily attention_family(Device device, bool float32, int64_t head_dim, bool caps_scores);
/// Returns the family of a plan's layers; without a model, the family of a model without special features.
AttentionFamily attention_family(const Plan& plan);
/// Returns whether the family adds to float32 sums that are not normalized yet (block_attention.h), rather
/// than return a normalized result of each call in the inputs' dtype, to be joined.
constexpr bool keeps_sums(AttentionFamily family) {
    return family == AttentionFamily::OwnBlocks || family == AttentionFamily::ScoreBlocks;
}

/// A kernel launch in a half precision, without gaps between segments.
struct DenseCall {
    int64_t queries = 0, keys = 0, head_dim = 0;
    FlashWindow window;
};
/// Returns whether cuDNN can compute the call: fully visible rectangles and causal squares.
bool cudnn_takes(const DenseCall& call);

/// Returns why cuDNN computes none of the attention. Returns null if cuDNN may compute it; the engine then
/// measures at the start which kernel is faster.
const char* why_not_cudnn(const Plan& plan);

/// Holds one line of English text per member; the app translates each line as a whole.
struct AttentionUse {
    std::string kernel;  ///< "FlashAttention-2, dense"
    std::string use;     ///< what the kernel computes; named "for" in the JSON
    std::string why;     ///< a few words
    std::string more;    ///< may be empty

    std::string whole_why() const { return more.empty() ? why : why + "; " + more; }
};
/// Returns nothing if the model's shape or the mesh is unknown.
std::vector<AttentionUse> attention_kernels(const Plan& plan);

}  // namespace ringmaster
