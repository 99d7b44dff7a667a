/// Converts between a matrix and its bytes (engine/families/quantized_shapes.h).
///
/// Letters: O rows (outputs), C columns (inputs).
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/families/quantized_shapes.h"

namespace ringmaster {

/// The tail of the bytes: the mean subtracted from the scales, and the dtype of the matrix before
/// quantisation.
struct QuantizedTail {
    float offset = 0;
    int32_t dtype = 0;  ///< an at::ScalarType
};

/// Returns the bytes of weight_oc, a matrix on the CPU, equal to those of bitsandbytes on the CPU: uint8
/// [layout.bytes].
at::Tensor quantize(const at::Tensor& weight_oc, const Quantization& quantization);

/// Writes the matrix that the bytes hold, rounded once to the dtype of out_oc; uses fused kernels on the CPU.
void dequantize(const at::Tensor& bytes, const Quantization& quantization, const QuantizedLayout& layout,
                at::Tensor out_oc);
/// Returns the matrix in float32, made with the simplest operations: preflight's reference.
at::Tensor dequantize_plainly(const at::Tensor& bytes, const Quantization& quantization,
                              const QuantizedLayout& layout);

QuantizedTail tail_of(const at::Tensor& bytes, const QuantizedLayout& layout);

/// Views of the parts of a matrix's bytes, for writing or reading.
struct QuantizedParts {
    at::Tensor codes;   ///< uint8 [⌈O·C/2⌉], or int8 [O, C]
    at::Tensor scales;  ///< float32 [blocks], or uint8 [blocks] if nested
    at::Tensor nested;  ///< float32 [nested blocks]
    at::Tensor map;     ///< float32 [256] if scales are nested, else empty
};
QuantizedParts parts_of(const at::Tensor& bytes, const Quantization& quantization,
                        const QuantizedLayout& layout);
void put_tail(const at::Tensor& bytes, const QuantizedLayout& layout, const QuantizedTail& tail);

}  // namespace ringmaster
