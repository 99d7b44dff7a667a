/// Our kernels beside their plain LibTorch twins on one device: do they agree, and what does each take. On a
/// GPU ours are those of engine/kernels/row_kernels.h, whether they are switched on or not; on the CPU the
/// fused ones that every run uses.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace ringmaster {

using Tensors = std::vector<at::Tensor>;

/// One kernel on one dtype. `ours` and `twin` may write over what `inputs` made.
struct KernelCase {
    std::string kernel;  ///< "rms_norm_backward"
    std::string dtype;
    std::function<Tensors()> inputs;
    std::function<Tensors(const Tensors&)> ours, twin;
    double bound = 0;  ///< of the largest difference over the largest value
};

/// Sizes are a Llama-8B layer's on a GPU, small ones elsewhere.
std::vector<KernelCase> kernel_cases(at::Device device);

/// The largest difference over the largest value, over all outputs; infinite where one is not finite.
double worst_difference(const Tensors& ours, const Tensors& twin);

struct KernelVerdict {
    std::string kernel, dtype;
    double worst = 0, bound = 0;
    double ours_s = 0, twin_s = 0;

    bool ok() const { return worst <= bound; }
};

/// Times each side for `seconds`.
KernelVerdict check(const KernelCase& it, at::Device device, double seconds);

}  // namespace ringmaster
