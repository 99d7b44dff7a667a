/// Groups layers whose parameters have the same shapes, so that sizes are counted once per group.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "engine/families/model_config.h"

namespace ringmaster {

struct LayerGroup {
    ModelConfig one;  ///< the model with only one layer of the group, and with that layer's sizes
    std::vector<int64_t> layers;
};

/// Returns the index of the group with the shapes of a layer of this kind; groups.size() if there is none.
size_t group_of(const std::vector<LayerGroup>& groups, const LayerKind& kind);

/// Returns the groups in the order of their first layers; empty if the model has no layers.
std::vector<LayerGroup> layer_groups(const ModelConfig& model);

/// Returns the sum of `of(model with only that layer)` over the layers that an adapter adapts, or over all
/// layers if there is no adapter.
template <class Of>
auto sum_over_layers(const ModelConfig& model, const Lora& lora, const Of& of) {
    decltype(of(model)) sum = 0;
    for (const LayerGroup& group : layer_groups(model)) {
        const auto adapted = std::count_if(group.layers.begin(), group.layers.end(),
                                           [&](int64_t layer) { return !lora.on() || lora.adapts(layer); });
        if (adapted > 0) sum += static_cast<decltype(sum)>(adapted) * of(group.one);
    }
    return sum;
}

/// Returns the mean of `of(model with only that layer)` over the layers with attention.
template <class Of>
double mean_of_attention(const ModelConfig& model, const Of& of) {
    if (model.global_heads.head_dim == 0) return of(model);
    double sum = 0;
    for (const LayerGroup& group : layer_groups(model)) sum += double(group.layers.size()) * of(group.one);
    return sum / double(model.num_layers);
}

/// Returns the largest `of(model with only that layer)` over all layers.
template <class Of>
auto largest_of_layers(const ModelConfig& model, const Of& of) {
    decltype(of(model)) most = 0;
    for (const LayerGroup& group : layer_groups(model)) most = std::max(most, of(group.one));
    return most;
}

}  // namespace ringmaster
