/// Calls cuDNN's attention, the alternative to FlashAttention-2 (cuda_flash.h): on Hopper it can be faster.
/// It takes dense inputs, either causal over a square or with every key visible, and head dims up to 128. Its
/// backward sums in an order that varies, so it is not used if a run must repeat bit-exactly
/// (deterministic.h).
///
/// engine/check/attention_choice.h measures both kernels once at the start of a run, on the run's shapes.
/// cuDNN is used if it is faster on every rank.
#pragma once

#include "engine/attention/packed_attention.h"

namespace ringmaster {

struct CudnnUse {
    bool forward = false;
    bool backward = false;

    bool operator==(const CudnnUse&) const = default;
};

/// Sets whether cuDNN computes the forward and the backward pass; by default it computes neither. Call this
/// function before any attention is computed.
void use_cudnn(const CudnnUse& use);
CudnnUse cudnn_in_use();  ///< returns the last choice

bool cudnn_takes(const FlashInputs& in);

/// Calls cuDNN. Throws LibTorch's error if this machine's cuDNN has no such kernel.
FlashKernel::Output cudnn_forward(const FlashInputs& in);
FlashKernel::Gradients cudnn_backward(const FlashInputs& in, const at::Tensor& dout,
                                      const FlashKernel::Output& whole);

}  // namespace ringmaster
