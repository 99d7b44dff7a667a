/// Compares our kernels with the same computation by LibTorch's operations on one device, in results and
/// speed. On a GPU our kernels are those of engine/kernels/row_kernels.h, enabled or not; on the CPU they are
/// the fused ones that every run uses.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

namespace ringmaster {

using Tensors = std::vector<at::Tensor>;

/// Holds one kernel with one dtype. `twin` is the same computation by LibTorch. `ours` and `twin` may
/// overwrite the tensors made by `inputs`.
struct KernelCase {
    std::string kernel;  ///< e.g. "rms_norm_backward"
    std::string dtype;
    std::function<Tensors()> inputs;
    std::function<Tensors(const Tensors&)> ours, twin;
    double bound = 0;  ///< bound of largest difference ÷ largest value
};

/// Returns the cases. On a GPU their sizes are those of a Llama-8B layer; elsewhere they are small.
std::vector<KernelCase> kernel_cases(at::Device device);

/// Returns the largest difference ÷ the largest value over all outputs; infinite if one is not finite.
double worst_difference(const Tensors& ours, const Tensors& twin);

struct KernelVerdict {
    std::string kernel, dtype;
    double worst = 0, bound = 0;
    double ours_s = 0, twin_s = 0;

    bool ok() const { return worst <= bound; }
};

/// Compares the results, and times each side for `seconds`.
KernelVerdict check(const KernelCase& it, at::Device device, double seconds);

}  // namespace ringmaster
