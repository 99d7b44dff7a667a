/// Chooses which of our CUDA kernels (engine/kernels/row_kernels.h) replace LibTorch's operations, and starts
/// these kernels.
///
/// RINGMASTER_CUDA_KERNELS is the only switch, and is read once. If it is unset or `all`, all our kernels are
/// used. With `none`, LibTorch's operations are used. With a list of names such as `merge,rms_norm`, only the
/// listed kernels are used. `ringmaster-engine --selftest --device cuda` times each kernel against LibTorch's
/// operations.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/kernels/row_kernels.h"

namespace ringmaster {

enum class OwnKernel { Merge, RmsNorm, LayerNorm, Rope, Swiglu, CrossEntropy };

/// Returns the names in the order of OwnKernel: "merge", "rms_norm", "layer_norm", "rope", "swiglu",
/// "cross_entropy".
const std::vector<std::string>& own_kernel_names();

/// Returns the kernels that a value of RINGMASTER_CUDA_KERNELS names. Throws Error(Usage) if a name is not
/// one of ours.
std::vector<OwnKernel> kernels_named(const std::string& value);

/// Returns true if our kernel computes x; false for a tensor that is not on a CUDA device.
bool uses_own(OwnKernel kernel, const at::Tensor& x);

/// Runs all rows of a kernel: on a device, after the work that is already queued on its current stream; in
/// tests, on the host.
using RunRows = std::function<void(const RowKernel&)>;

/// Returns a runner for a CUDA device; call load_cuda first. The runner throws Error(Refused) if a kernel
/// cannot start.
RunRows rows_on(at::Device device);

}  // namespace ringmaster
