/// Which weights of a model are quantised, and how many bytes they take: the layers' matrices, each as one
/// run of bytes. Embedding, head, norms and biases stay as they are, as bitsandbytes leaves them.
///
/// Each matrix is [codes | scales | scales of scales | map | tail], every part padded to 16 bytes. 4 bits:
/// two codes a byte of the row-major matrix, the first in the high nibble; a scale for each block, float32,
/// or 8-bit codes with a float32 for each 256 of them. 8 bits: a code a byte, a float32 scale for each row.
#pragma once

#include "engine/config/quantization.h"
#include "engine/families/model_config.h"

namespace ringmaster {

constexpr int64_t kNestedBlock = 256;  ///< scales that share a scale
constexpr int64_t kScaleMap =
    256;  ///< float32 entries of the code book of nested scales, which goes with them
constexpr int64_t kPartAlignment = 16;

/// Of one matrix: where its parts begin, in bytes.
struct QuantizedLayout {
    int64_t rows = 0, columns = 0;
    int64_t blocks = 0;         ///< scales; of 8 bits one a row
    int64_t nested_blocks = 0;  ///< scales of scales; 0: scales are float32
    int64_t scales_at = 0, nested_at = 0, map_at = 0, tail_at = 0;
    int64_t bytes = 0;

    int64_t elements() const { return rows * columns; }
};

QuantizedLayout quantized_layout(const Quantization& quantization, int64_t rows, int64_t columns);

bool is_quantized(const ParameterShape& shape);

/// Parameters of a model that stay as they are; all of them without quantisation.
std::vector<ParameterShape> kept_shapes(const ModelConfig& model, const Quantization& quantization);
/// The others by their names, as bytes: shape {bytes}.
std::vector<ParameterShape> quantized_shapes(const ModelConfig& model, const Quantization& quantization);

/// Of one layer.
struct QuantizedLayer {
    int64_t elements = 0;  ///< that are quantised
    int64_t bytes = 0;     ///< that they take
};
QuantizedLayer quantized_layer(const ModelConfig& model, const Quantization& quantization);

}  // namespace ringmaster
