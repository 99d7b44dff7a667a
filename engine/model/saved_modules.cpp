#include "engine/model/saved_modules.h"

#include <ATen/ATen.h>

#include <algorithm>

namespace ringmaster {

namespace {

Parameters& holder(Parameters& weights, Adapter* adapter, int unit) {
    const bool saved = adapter != nullptr && !adapter->parameters().is_empty(unit);
    return saved ? adapter->parameters() : weights;
}

/// Returns the model's embedding or head; for tied weights, the embedding in both cases.
size_t index_of_table(const Parameters& weights, Role role) {
    const std::vector<ParameterShape>& shapes = weights.shapes();
    const auto found = std::find_if(shapes.begin(), shapes.end(),
                                    [&](const ParameterShape& shape) { return shape.role == role; });
    return found != shapes.end() ? static_cast<size_t>(found - shapes.begin())
                                 : index_of_table(weights, Role::Embedding);
}

}  // namespace

Parameters& embedding_holder(Parameters& weights, Adapter* adapter) {
    return holder(weights, adapter, 0);
}

Parameters& head_holder(Parameters& weights, Adapter* adapter) {
    return holder(weights, adapter, weights.head_unit());
}

std::vector<std::pair<Parameters*, int>> units_of_head(Parameters& weights, Adapter* adapter) {
    Parameters& head = head_holder(weights, adapter);
    std::vector<std::pair<Parameters*, int>> units;
    if (&head != &weights) {
        units.emplace_back(&weights, weights.head_unit());
        units.emplace_back(&head, head.head_unit());
        return units;
    }
    for (const int unit : weights.units_of_head()) units.emplace_back(&weights, unit);
    return units;
}

void initialize_adapter(Parameters& adapter, Parameters& weights, const ModelConfig& model, int64_t seed) {
    WholeValues of_model(weights, weights.master());
    InitialValues initial(model, seed);
    for (size_t i = 0; i < adapter.shapes().size(); ++i) {
        const ParameterShape& shape = adapter.shapes()[i];
        const bool is_new = shape.layer >= 0;
        adapter.put(i, is_new ? initial.next(shape) : of_model.of(index_of_table(weights, shape.role)));
    }
    adapter.share_update();
}

}  // namespace ringmaster
