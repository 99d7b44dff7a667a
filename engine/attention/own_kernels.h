/// Which of our own CUDA kernels (engine/kernels/row_kernels.h) are used in place of LibTorch's operations,
/// and how they are started.
///
/// RINGMASTER_CUDA_KERNELS is the one switch, read once: unset or `all`, ours compute; `none`, LibTorch's
/// operations do; else a list of names, such as `merge,rms_norm`, says which are ours. `ringmaster-engine
/// --selftest --device cuda` times both sides of each.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <string>
#include <vector>

#include "engine/kernels/row_kernels.h"

namespace ringmaster {

enum class OwnKernel { Merge, RmsNorm, Rope, Swiglu, CrossEntropy };

/// "merge", "rms_norm", "rope", "swiglu", "cross_entropy": all of them, in the order of OwnKernel.
const std::vector<std::string>& own_kernel_names();

/// The kernels that a value of RINGMASTER_CUDA_KERNELS names. Throws Error(Usage) where it names none of
/// ours.
std::vector<OwnKernel> kernels_named(const std::string& value);

/// False for a tensor that is not on a CUDA device.
bool uses_own(OwnKernel kernel, const at::Tensor& x);

/// Runs all rows of a kernel: on a device behind what its current stream has been given; in tests on the
/// host.
using RunRows = std::function<void(const RowKernel&)>;

/// Of a CUDA device, after load_cuda. What it returns throws Error(Refused) where a kernel cannot be started.
RunRows rows_on(at::Device device);

}  // namespace ringmaster
