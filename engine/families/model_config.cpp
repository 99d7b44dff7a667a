#include "engine/families/model_config.h"

#include <algorithm>

#include "engine/families/layer_groups.h"

namespace ringmaster {

LayerKind ModelConfig::layer_kind(int64_t layer) const {
    return layers.empty() ? LayerKind{sliding_window, 0} : layers[static_cast<size_t>(layer)];
}

std::vector<LayerKind> ModelConfig::layer_kinds() const {
    std::vector<LayerKind> kinds;
    for (int64_t layer = 0; layer < (layers.empty() ? 1 : num_layers); ++layer) {
        LayerKind kind = layer_kind(layer);
        kind.dense = kind.lacks_mlp = kind.wide = false;
        kind.keys_of = -1;
        if (kind.attends() && std::find(kinds.begin(), kinds.end(), kind) == kinds.end())
            kinds.push_back(kind);
    }
    return kinds;
}

size_t group_of(const std::vector<LayerGroup>& groups, const LayerKind& kind) {
    const auto has_shapes = [&](const LayerGroup& group) {
        const LayerKind a = group.one.layer_kind(0);
        return a.is_recurrent == kind.is_recurrent && a.dense == kind.dense && a.global == kind.global &&
               a.lacks_mixer == kind.lacks_mixer && a.lacks_mlp == kind.lacks_mlp &&
               (a.keys_of < 0) == (kind.keys_of < 0) && a.wide == kind.wide;
    };
    return static_cast<size_t>(std::find_if(groups.begin(), groups.end(), has_shapes) - groups.begin());
}

std::vector<LayerGroup> layer_groups(const ModelConfig& model) {
    std::vector<LayerGroup> groups;
    for (int64_t layer = 0; layer < model.num_layers; ++layer) {
        const LayerKind kind = model.layer_kind(layer);
        const size_t alike = group_of(groups, kind);
        if (alike < groups.size()) {
            groups[alike].layers.push_back(layer);
            continue;
        }
        groups.push_back({model.of_kind(kind), {layer}});
        groups.back().one.num_layers = 1;
        if (!model.layers.empty()) groups.back().one.layers = {kind};
    }
    return groups;
}

ModelConfig ModelConfig::of_kind(const LayerKind& kind) const {
    ModelConfig own = *this;
    if (kind.wide) own.intermediate_size = wide_intermediate_size;
    if (kind.global) {
        own.head_dim = global_heads.head_dim;
        own.num_kv_heads = global_heads.kv_heads;
        own.values_are_keys = global_heads.values_are_keys;
    }
    own.borrows_keys = kind.keys_of >= 0;
    if (own.borrows_keys) own.values_are_keys = false;
    return own;
}

bool ModelConfig::lends_keys(int64_t layer) const {
    return std::any_of(layers.begin(), layers.end(),
                       [&](const LayerKind& kind) { return kind.keys_of == layer; });
}

int64_t ModelConfig::sparse_layers() const {
    int64_t count = 0;
    for (int64_t layer = 0; layer < num_layers; ++layer) count += has_experts(layer_kind(layer)) ? 1 : 0;
    return count;
}

bool ModelConfig::has_recurrent_layers() const {
    return has_attention_and_recurrence() ||
           std::any_of(layers.begin(), layers.end(), [](const LayerKind& kind) { return kind.is_recurrent; });
}

}  // namespace ringmaster
