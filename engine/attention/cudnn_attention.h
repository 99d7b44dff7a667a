/// cuDNN's attention beside FlashAttention-2 (cuda_flash.h): on Hopper it can be faster. It takes what is
/// dense and either causal from the corner of a square or wholly visible, head dims up to 128. Its backward
/// adds in any order, and is never taken where a run has to repeat to the last bit (deterministic.h).
///
/// Which of the two computes is measured once at the start, on the shapes of the run, and the same on every
/// rank (engine/train/attention_choice.h).
#pragma once

#include "engine/attention/packed_attention.h"

namespace ringmaster {

struct CudnnUse {
    bool forward = false;
    bool backward = false;

    bool operator==(const CudnnUse&) const = default;
};

/// For all that cuda_flash_kernel computes from now on; before any attention. Without a call: none.
void use_cudnn(const CudnnUse& use);
CudnnUse cudnn_in_use();

bool cudnn_takes(const FlashInputs& in);

/// Throw LibTorch's error where this machine's cuDNN has no such kernel.
FlashKernel::Output cudnn_forward(const FlashInputs& in);
FlashKernel::Gradients cudnn_backward(const FlashInputs& in, const at::Tensor& dout,
                                      const FlashKernel::Output& whole);

}  // namespace ringmaster
