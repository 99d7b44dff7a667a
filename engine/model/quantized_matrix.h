/// Between a matrix and its bytes (engine/families/quantized_shapes.h).
///
/// Letters: O rows (outputs), C columns (inputs).
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/families/quantized_shapes.h"

namespace ringmaster {

/// How the bytes end: the mean that was taken from the scales, and the dtype of the matrix before it was
/// quantised.
struct QuantizedTail {
    float offset = 0;
    int32_t dtype = 0;  ///< an at::ScalarType
};

/// The bytes of weight_oc, a matrix on the CPU: those that bitsandbytes makes of it there. uint8
/// [layout.bytes].
at::Tensor quantize(const at::Tensor& weight_oc, const Quantization& quantization);

/// Writes the matrix that the bytes stand for, rounded once to the dtype of out_oc: fused kernels on the CPU.
void dequantize(const at::Tensor& bytes, const Quantization& quantization, const QuantizedLayout& layout,
                at::Tensor out_oc);
/// The same by the plainest operations, in float32: what preflight compares with.
at::Tensor dequantize_plainly(const at::Tensor& bytes, const Quantization& quantization,
                              const QuantizedLayout& layout);

QuantizedTail tail_of(const at::Tensor& bytes, const QuantizedLayout& layout);

/// The parts of a matrix's bytes as tensors, to write or to read.
struct QuantizedParts {
    at::Tensor codes;   ///< uint8 [⌈O·C/2⌉], or int8 [O, C]
    at::Tensor scales;  ///< float32 [blocks], or uint8 [blocks] if they are nested
    at::Tensor nested;  ///< float32 [nested blocks]
    at::Tensor map;     ///< float32 [256] of nested scales, else empty
};
QuantizedParts parts_of(const at::Tensor& bytes, const Quantization& quantization,
                        const QuantizedLayout& layout);
void put_tail(const at::Tensor& bytes, const QuantizedLayout& layout, const QuantizedTail& tail);

}  // namespace ringmaster
