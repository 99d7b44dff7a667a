/// Determines which weights of a model are quantised, and their size: the layers' matrices, each as one array
/// of bytes. All other weights stay unquantised, as in bitsandbytes: vectors, tables and, unless
/// `quantize_moe_experts` is set, experts.
///
/// A matrix is stored as [codes | scales | scales of scales | map | tail], each part padded to 16 bytes. With
/// 4 bits, a byte holds two codes of the row-major matrix, the first in the high nibble; each block has a
/// scale, in float32, or in 8-bit codes with a float32 per 256 codes. With 8 bits, a byte holds a code, and
/// each row has a float32 scale.
#pragma once

#include "engine/config/quantization.h"
#include "engine/families/model_config.h"

namespace ringmaster {

constexpr int64_t kNestedBlock = 256;  ///< number of scales that share a scale of scales
constexpr int64_t kScaleMap = 256;     ///< float32 entries of the code book stored with nested scales
constexpr int64_t kPartAlignment = 16;

/// Sizes of one matrix, and the offset of each part in bytes.
struct QuantizedLayout {
    int64_t rows = 0, columns = 0;
    int64_t blocks = 0;         ///< number of scales; with 8 bits, one per row
    int64_t nested_blocks = 0;  ///< number of scales of scales; 0 if scales are float32
    int64_t scales_at = 0, nested_at = 0, map_at = 0, tail_at = 0;
    int64_t bytes = 0;

    int64_t elements() const { return rows * columns; }
};

QuantizedLayout quantized_layout(const Quantization& quantization, int64_t rows, int64_t columns);
/// Returns the layout of a parameter. If the parameter holds several matrices, they count as one matrix, in
/// which they lie one below the other.
QuantizedLayout quantized_layout(const Quantization& quantization, const ParameterShape& shape);

bool is_quantized(const ParameterShape& shape, const Quantization& quantization);
/// Returns whether a matrix is rounded to the values that quantisation gives, but kept in the dtype of
/// computation. This applies to a linear module outside the layers, because bitsandbytes quantises it.
bool is_rounded(const ParameterShape& shape, const Quantization& quantization);

/// Returns the parameters that stay unquantised; all of them if quantisation is off.
std::vector<ParameterShape> kept_shapes(const ModelConfig& model, const Quantization& quantization);
/// Returns the quantised parameters by name, as bytes: shape {bytes}.
std::vector<ParameterShape> quantized_shapes(const ModelConfig& model, const Quantization& quantization);

/// Sizes of the quantised matrices of the largest layer.
struct QuantizedLayer {
    int64_t elements = 0;  ///< quantised elements
    int64_t bytes = 0;     ///< bytes of these elements
};
QuantizedLayer quantized_layer(const ModelConfig& model, const Quantization& quantization);

}  // namespace ringmaster
