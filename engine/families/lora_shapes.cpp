#include <algorithm>

#include "engine/config/lora_targets.h"
#include "engine/families/layer_groups.h"
#include "engine/families/lora_sizes.h"
#include "engine/families/peft_names.h"
#include "engine/families/shape_parts.h"

namespace ringmaster {

namespace {

const std::string kPeftPrefix = "base_model.model.";

bool ends_with_module(const std::string& name, const std::vector<std::string>& modules) {
    return std::any_of(modules.begin(), modules.end(),
                       [&](const std::string& module) { return name.ends_with("." + module + ".weight"); });
}

/// Returns an adapter's parameter, named after the model's parameter that it adapts.
ParameterShape adapter_shape(const ModelConfig& model, const ParameterShape& of, const std::string& part,
                             std::vector<int64_t> shape, Role role) {
    const auto named = [&](const std::string& name) {
        return kPeftPrefix + (part.empty() ? name : name.substr(0, name.rfind('.') + 1) + part);
    };
    ParameterShape made{named(of.name), std::move(shape), role != Role::HeadBias, of.layer, role};
    const std::string in_files = named(peft_name(model, of));
    if (in_files != made.name) made.stored = {in_files};
    return made;
}

bool adapts_parameter(const Lora& lora, const ParameterShape& shape) {
    return lora.adapts(shape.layer) &&
           std::any_of(lora.parameters.begin(), lora.parameters.end(),
                       [&](const std::string& name) { return shape.name.ends_with("." + name); });
}

/// Adds the matrices of all experts (engine/model/expert_adapter.h). PEFT wraps a module once for each of its
/// parameters, and gives the outermost wrapper, which is the last parameter's, the module's name.
void add_expert_adapter(const ModelConfig& model, const Lora& lora, const ParameterShape& of,
                        std::vector<ParameterShape>& shapes) {
    const int64_t experts = of.shape[0], rank = lora.r * experts;
    const bool swaps = model.experts_transposed;
    const std::string name = peft_name(model, of), parameter = kPeftPrefix + of.name;
    const bool is_inner = of.role == Role::ExpertGateUp && lora.parameters.size() > 1;
    const std::string wrapper =
        kPeftPrefix + name.substr(0, name.rfind('.')) + (is_inner ? ".base_layer" : "");
    const auto add = [&](const char* part, std::vector<int64_t> shape, Role role) {
        shapes.push_back({parameter + part, std::move(shape), true, of.layer, role, {wrapper + part}});
    };
    add(".lora_A.weight", {rank, of.shape[swaps ? 1 : 2]}, Role::LoraA);
    add(".lora_B.weight", {of.shape[swaps ? 2 : 1], rank}, Role::LoraB);
}

void add_head_bias(const ModelConfig& model, std::vector<ParameterShape>& shapes) {
    for (const ParameterShape& shape : parameter_shapes(model))
        if (shape.role == Role::HeadBias)
            shapes.push_back(adapter_shape(model, shape, "", shape.shape, Role::HeadBias));
}

}  // namespace

std::vector<ParameterShape> lora_shapes(const ModelConfig& model, const Lora& lora) {
    std::vector<ParameterShape> shapes;
    const LoraTargets targets = targets_of(lora);
    const auto add_table = [&](Role role) {
        const ParameterShape table = table_of(model, role);
        shapes.push_back(adapter_shape(model, table, "", table.shape, role));
    };
    if (!targets.saved_embedding.empty()) add_table(Role::Embedding);
    for (const ParameterShape& shape : parameter_shapes(model)) {
        if (shape.shape.size() == 3 && adapts_parameter(lora, shape))
            add_expert_adapter(model, lora, shape, shapes);
        const bool is_adapted = shape.layer >= 0 && lora.adapts(shape.layer) && shape.shape.size() == 2;
        if (!is_adapted || !ends_with_module(peft_name(model, shape), targets.names)) continue;
        shapes.push_back(adapter_shape(model, shape, "lora_A.weight", {lora.r, shape.shape[1]}, Role::LoraA));
        shapes.push_back(adapter_shape(model, shape, "lora_B.weight", {shape.shape[0], lora.r}, Role::LoraB));
        if (lora.dora)
            shapes.push_back(
                adapter_shape(model, shape, "lora_magnitude_vector", {shape.shape[0]}, Role::LoraMagnitude));
    }
    if (!targets.saved_head.empty()) {
        add_table(Role::Head);
        if (model.head_bias) add_head_bias(model, shapes);
    }
    return shapes;
}

namespace {

/// Returns the elements of an adapter in the model's only layer.
int64_t adapted_layer(const ModelConfig& one, Lora lora) {
    lora.layers.clear();
    return sizes_of(lora_shapes(one, lora)).layer;
}

}  // namespace

UnitSizes lora_unit_sizes(const ModelConfig& model, const Lora& lora) {
    if (!lora.on()) return {};
    UnitSizes sizes = sizes_of(lora_shapes(without_layers(model), lora));
    sizes.layer = largest_of_layers(model, [&](const ModelConfig& one) { return adapted_layer(one, lora); });
    return sizes;
}

int64_t lora_count(const ModelConfig& model, const Lora& lora) {
    if (!lora.on()) return 0;
    const UnitSizes sizes = lora_unit_sizes(model, lora);
    return sizes.embedding + sizes.head +
           sum_over_layers(model, lora, [&](const ModelConfig& one) { return adapted_layer(one, lora); });
}

}  // namespace ringmaster
