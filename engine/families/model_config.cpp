#include "engine/families/model_config.h"

#include <algorithm>

namespace ringmaster {

LayerKind ModelConfig::layer_kind(int64_t layer) const {
    return layers.empty() ? LayerKind{sliding_window, 0} : layers[static_cast<size_t>(layer)];
}

std::vector<LayerKind> ModelConfig::layer_kinds() const {
    std::vector<LayerKind> kinds;
    for (int64_t layer = 0; layer < (layers.empty() ? 1 : num_layers); ++layer) {
        const LayerKind kind = layer_kind(layer);
        if (std::find(kinds.begin(), kinds.end(), kind) == kinds.end()) kinds.push_back(kind);
    }
    return kinds;
}

}  // namespace ringmaster
