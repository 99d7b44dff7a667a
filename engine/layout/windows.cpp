#include "engine/layout/windows.h"

#include <algorithm>

namespace ringmaster {

std::optional<int64_t> widest_window(const ModelConfig& model) {
    int64_t widest = 0;
    for (const LayerKind& kind : model.layer_kinds()) {
        if (!kind.window) return {};
        widest = std::max(widest, *kind.window);
    }
    return widest;
}

}  // namespace ringmaster
