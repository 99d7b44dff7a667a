/// Dequantises MXFP4 weights. A code has a sign bit, two exponent bits and one mantissa bit (E2M1). A byte
/// holds two codes, the first in the low half. A power of two scales each group of 32 codes. Source: Open
/// Compute Project 2023, "OCP Microscaling Formats (MX) Specification", section 5.3. The files hold matrices
/// of experts transposed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

namespace ringmaster {

constexpr int64_t kMxfp4Group = 32;

/// Returns elements [begin, end) of the parameter [experts, inputs, outputs] in float32. `blocks` holds the
/// codes, uint8 [experts, outputs, inputs / 32, 16]; `scales` holds the exponents + 127, uint8 [experts,
/// outputs, inputs / 32].
at::Tensor mxfp4_values(const at::Tensor& blocks, const at::Tensor& scales, int64_t begin, int64_t end);

}  // namespace ringmaster
