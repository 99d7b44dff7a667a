#include "engine/model/quantized_base.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>

#include "engine/error.h"
#include "engine/families/config_text.h"
#include "engine/files/text_file.h"
#include "engine/model/quantized_matrix.h"
#include "engine/model/weight_files.h"

namespace ringmaster {

namespace {

std::vector<ParameterShape> matrices_of(const ModelConfig& model, const Quantization& quantization) {
    std::vector<ParameterShape> shapes = parameter_shapes(model);
    std::erase_if(shapes, [&](const ParameterShape& shape) { return !is_quantized(shape, quantization); });
    return shapes;
}

/// Returns the threshold that a quantised folder was saved with, if its config.json names one.
std::optional<double> stored_threshold(const std::string& model_dir) {
    const std::string text = readable_text(std::filesystem::path(model_dir) / "config.json");
    const nlohmann::json config =
        nlohmann::json::parse(with_finite_numbers(text), nullptr, /*allow_exceptions=*/false);
    if (!config.is_object()) return std::nullopt;
    const nlohmann::json said = config.value("quantization_config", nlohmann::json::object());
    const auto found = said.is_object() ? said.find("llm_int8_threshold") : said.end();
    if (!said.is_object() || found == said.end() || !found->is_number()) return std::nullopt;
    return std::max(0.0, found->get<double>());
}

}  // namespace

QuantizedBase::QuantizedBase(const ModelConfig& model, const Quantization& quantization, at::ScalarType dtype,
                             at::Device device, Sharding sharding)
    : quantization_(quantization),
      dtype_(dtype),
      rounded_(dtype),
      matrices_(matrices_of(model, quantization)),
      bytes_(model, quantization, device, std::move(sharding)),
      quantizes_inputs_(device.is_cuda() && quantization.format == WeightFormat::Int8) {
    layouts_.resize(static_cast<size_t>(model.num_layers));
    for (const ParameterShape& matrix : matrices_) {
        for (size_t target = 0; target < kModulePaths.size(); ++target)
            if (matrix.name.ends_with(module_path(target) + ".weight"))
                layouts_[static_cast<size_t>(matrix.layer)][target] = quantized_layout(quantization, matrix);
        if (matrix.shape.size() == 3)
            experts_[index_of(matrix.role)] = {quantized_layout(quantization, matrix), matrix.shape};
    }
}

void QuantizedBase::enter_layer(int layer) {
    layer_ = layer;
    held_ = {};
    held_experts_ = {};
}

void QuantizedBase::release() {
    holds_ = false;
    held_ = {};
    held_experts_ = {};
}

at::Tensor QuantizedBase::matrix(LoraSite site) const {
    at::Tensor& held = held_[static_cast<size_t>(site)];
    if (held.defined()) return held;
    const auto [first, count] = targets_of(site);
    const auto& layouts = layouts_[static_cast<size_t>(layer_)];
    int64_t rows = 0, inputs = 0;
    for (size_t target = first; target < first + count; ++target) {
        rows += layouts[target].rows;
        inputs = std::max(inputs, layouts[target].columns);
    }
    const at::Tensor bytes = bytes_.weights().layers[static_cast<size_t>(layer_)].at(site).weight_oc;
    at::Tensor weight_oc = at::empty({rows, inputs}, bytes.options().dtype(rounded_));
    int64_t row = 0, byte = 0;
    for (size_t target = first; target < first + count; ++target) {
        const QuantizedLayout& layout = layouts[target];
        if (layout.rows == 0) continue;  // part of a fused matrix, or an MLP without a gate
        dequantize(bytes.narrow(0, byte, layout.bytes), quantization_, layout,
                   weight_oc.narrow(0, row, layout.rows));
        row += layout.rows;
        byte += layout.bytes;
    }
    weight_oc = weight_oc.to(dtype_);
    if (holds_) held = weight_oc;
    return weight_oc;
}

at::Tensor QuantizedBase::expert_matrices(Role role) const {
    at::Tensor& held = held_experts_[index_of(role)];
    if (held.defined()) return held;
    const OfExperts& of = experts_[index_of(role)];
    const LayerTensors& layer = bytes_.weights().layers[static_cast<size_t>(layer_)];
    const at::Tensor& bytes = role == Role::ExpertDown ? layer.experts_down_eci : layer.experts_gate_up_exc;
    const at::Tensor values_mi =
        at::empty({of.layout.rows, of.layout.columns}, bytes.options().dtype(rounded_));
    dequantize(bytes, quantization_, of.layout, values_mi);
    const at::Tensor matrices_eoi = values_mi.to(dtype_).view(of.shape);
    if (holds_) held = matrices_eoi;
    return matrices_eoi;
}

std::vector<Int8Matrix> QuantizedBase::int8_matrices(LoraSite site) const {
    const at::Tensor bytes = bytes_.weights().layers[static_cast<size_t>(layer_)].at(site).weight_oc;
    const auto [first, count] = targets_of(site);
    std::vector<Int8Matrix> matrices;
    int64_t byte = 0;
    for (size_t target = first; target < first + count; ++target) {
        const QuantizedLayout& layout = layouts_[static_cast<size_t>(layer_)][target];
        if (layout.rows == 0) continue;
        const QuantizedParts parts = parts_of(bytes.narrow(0, byte, layout.bytes), quantization_, layout);
        matrices.push_back({parts.codes, parts.scales});
        byte += layout.bytes;
    }
    return matrices;
}

at::Tensor QuantizedBase::plain_matrix(const at::Tensor& unit_bytes, int layer, size_t target) const {
    const std::string name = ".layers." + std::to_string(layer) + "." + module_path(target) + ".weight";
    return plain_values(unit_bytes, name, layouts_[static_cast<size_t>(layer)][target]);
}

at::Tensor QuantizedBase::plain_experts(const at::Tensor& unit_bytes, int layer, Role role) const {
    const std::string name = ".layers." + std::to_string(layer) + ".mlp.experts.";
    const OfExperts& of = experts_[index_of(role)];
    return plain_values(unit_bytes, name + (role == Role::ExpertDown ? "down_proj" : "gate_up_proj"),
                        of.layout)
        .view(of.shape);
}

at::Tensor QuantizedBase::plain_values(const at::Tensor& unit_bytes, const std::string& name,
                                       const QuantizedLayout& layout) const {
    const auto found = std::find_if(matrices_.begin(), matrices_.end(), [&](const ParameterShape& matrix) {
        return matrix.name.ends_with(name);
    });
    const auto index = static_cast<size_t>(found - matrices_.begin());
    return dequantize_plainly(bytes_.view(unit_bytes, index), quantization_, layout).to(rounded_);
}

void QuantizedBase::put_bytes(size_t index, const at::Tensor& bytes) {
    const FlatRange own = bytes_.own_elements(index);
    bytes_.own_values(bytes_.master(), index).copy_(bytes.narrow(0, own.begin, own.size()));
}

void QuantizedBase::put(size_t index, const at::Tensor& weight_oc) {
    if (bytes_.own_elements(index).size() == 0) return;
    put_bytes(index, quantize(weight_oc.to(dtype_).flatten(0, -2), quantization_));
}

void QuantizedBase::load(const std::string& model_dir) {
    WeightFiles files(model_dir, "model");
    if (quantization_.stored) outlier_threshold_ = stored_threshold(model_dir).value_or(outlier_threshold_);
    for (size_t i = 0; i < matrices_.size(); ++i) {
        if (bytes_.own_elements(i).size() == 0) continue;
        if (matrices_[i].shape.size() == 3) {  // bitsandbytes never stores experts quantised
            put(i, files.values_of(matrices_[i]));
            continue;
        }
        if (const at::Tensor bytes = read_quantized(files, matrices_[i], quantization_); bytes.defined()) {
            put_bytes(i, bytes);
            continue;
        }
        put(i, files.values_of(matrices_[i]));
    }
    bytes_.share_update();
}

}  // namespace ringmaster
