#include "engine/families/quantized_shapes.h"

#include <algorithm>

#include "engine/families/layer_groups.h"

namespace ringmaster {

namespace {

int64_t padded(int64_t bytes) {
    return (bytes + kPartAlignment - 1) / kPartAlignment * kPartAlignment;
}

int64_t parts_of(int64_t count, int64_t size) {
    return (count + size - 1) / size;
}

}  // namespace

QuantizedLayout quantized_layout(const Quantization& quantization, int64_t rows, int64_t columns) {
    const bool four = quantization.is_4bit(), nested = four && quantization.nested;
    QuantizedLayout layout;
    layout.rows = rows;
    layout.columns = columns;
    layout.blocks = four ? parts_of(rows * columns, quantization.block) : rows;
    layout.nested_blocks = nested ? parts_of(layout.blocks, kNestedBlock) : 0;
    layout.scales_at = padded(four ? parts_of(rows * columns, 2) : rows * columns);
    layout.nested_at = layout.scales_at + padded(layout.blocks * (nested ? 1 : 4));
    layout.map_at = layout.nested_at + padded(4 * layout.nested_blocks);
    layout.tail_at = layout.map_at + (nested ? 4 * kScaleMap : 0);
    layout.bytes = layout.tail_at + kPartAlignment;
    return layout;
}

QuantizedLayout quantized_layout(const Quantization& quantization, const ParameterShape& shape) {
    return quantized_layout(quantization, shape.size() / shape.shape.back(), shape.shape.back());
}

bool is_quantized(const ParameterShape& shape, const Quantization& quantization) {
    if (shape.role == Role::ExpertGateUp || shape.role == Role::ExpertDown) return quantization.experts;
    const bool is_bias = shape.role == Role::ExpertGateUpBias || shape.role == Role::ExpertDownBias;
    const bool is_module = shape.name.ends_with(".weight") &&
                           (shape.role != Role::Router || shape.name.ends_with(".router.proj.weight"));
    return shape.layer >= 0 && shape.shape.size() == 2 && is_module && !is_bias;
}

bool is_rounded(const ParameterShape& shape, const Quantization& quantization) {
    return quantization.on() && shape.role == Role::LayerInputs &&
           shape.file_name().ends_with(".per_layer_model_projection.weight");
}

std::vector<ParameterShape> kept_shapes(const ModelConfig& model, const Quantization& quantization) {
    std::vector<ParameterShape> shapes = parameter_shapes(model);
    if (quantization.on())
        std::erase_if(shapes, [&](const ParameterShape& shape) { return is_quantized(shape, quantization); });
    return shapes;
}

std::vector<ParameterShape> quantized_shapes(const ModelConfig& model, const Quantization& quantization) {
    std::vector<ParameterShape> shapes = parameter_shapes(model);
    std::erase_if(shapes, [&](const ParameterShape& shape) { return !is_quantized(shape, quantization); });
    for (ParameterShape& shape : shapes) shape.shape = {quantized_layout(quantization, shape).bytes};
    return shapes;
}

QuantizedLayer quantized_layer(const ModelConfig& model, const Quantization& quantization) {
    QuantizedLayer largest;
    if (!quantization.on()) return largest;
    for (const LayerGroup& group : layer_groups(model)) {
        QuantizedLayer layer;
        for (const ParameterShape& shape : parameter_shapes(group.one)) {
            if (!is_quantized(shape, quantization)) continue;
            layer.elements += shape.size();
            layer.bytes += quantized_layout(quantization, shape).bytes;
        }
        if (layer.bytes > largest.bytes) largest = layer;
    }
    return largest;
}

}  // namespace ringmaster
