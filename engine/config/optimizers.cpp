#include "engine/config/optimizers.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ringmaster {
namespace {

constexpr int64_t kFewestInCodes = 4096;  // bitsandbytes' min_8bit_size; torchao follows it
constexpr int64_t kBlock = 256;           // transformers passes it to torchao for 4 bits too

using enum UpdateRule;
using enum StateKind;

constexpr std::array kKinds = {
    OptimizerKind{"adamw_torch"},
    OptimizerKind{"adamw_torch_fused"},
    OptimizerKind{"adamw_anyprecision", AdamW, Float32},
    OptimizerKind{"adamw_bnb_8bit", AdamW, Bitsandbytes8},
    OptimizerKind{"adamw_8bit", AdamW, Bitsandbytes8},
    OptimizerKind{"paged_adamw_8bit", AdamW, Bitsandbytes8, true},
    OptimizerKind{"paged_adamw_32bit", AdamW, Float32, true},
    OptimizerKind{"adamw_torch_8bit", AdamW, TorchaoBlocks8},
    OptimizerKind{"adamw_torch_4bit", AdamW, TorchaoBlocks4},
};

struct NotBuilt {
    std::string_view name, nearest;
};

/// Names that axolotl 0.19 and transformers 5.23 take, and that a test walks.
constexpr NotBuilt kNotBuilt[] = {
    {"adamw_hf", "adamw_torch"},
    {"adamw_apex_fused", "adamw_torch_fused"},
    {"adamw_torch_xla", "adamw_torch"},
    {"adamw_torch_npu_fused", "adamw_torch_fused"},
    {"optimi_adamw", "adamw_torch"},
    {"ao_adamw_4bit", "adamw_torch_4bit"},
    {"ao_adamw_8bit", "adamw_torch_8bit"},
    {"ao_adamw_fp8", "adamw_torch_8bit"},
    {"adopt_adamw", "adamw_torch"},
    {"adamc", "adamw_torch"},
    {"stable_adamw", "adamw_torch"},
    {"grokadamw", "adamw_torch"},
    {"ademamix", "adamw_torch"},
    {"ademamix_8bit", "adamw_bnb_8bit"},
    {"paged_ademamix_32bit", "paged_adamw_32bit"},
    {"paged_ademamix_8bit", "paged_adamw_8bit"},
    {"schedule_free_adamw", "adamw_torch"},
    {"schedule_free_radam", "adamw_torch"},
    {"schedule_free_sgd", "adamw_torch"},
    {"lion_32bit", "adamw_torch"},
    {"lion_8bit", "adamw_bnb_8bit"},
    {"lion_pytorch", "adamw_torch"},
    {"paged_lion_32bit", "paged_adamw_32bit"},
    {"paged_lion_8bit", "paged_adamw_8bit"},
    {"sgd", "adamw_torch"},
    {"adagrad", "adamw_torch"},
    {"rmsprop", "adamw_torch"},
    {"rmsprop_bnb", "adamw_torch"},
    {"rmsprop_bnb_8bit", "adamw_bnb_8bit"},
    {"rmsprop_bnb_32bit", "adamw_torch"},
    {"adafactor", "adamw_bnb_8bit"},
    {"came_pytorch", "adamw_bnb_8bit"},
    {"muon", "adamw_torch"},
    {"dion", "adamw_torch"},
    {"sinkgd", "adamw_torch"},
    {"polora", "adamw_torch"},
    {"galore_adamw", "adamw_bnb_8bit"},
    {"galore_adamw_8bit", "adamw_bnb_8bit"},
    {"galore_adafactor", "adamw_bnb_8bit"},
    {"galore_adamw_layerwise", "adamw_bnb_8bit"},
    {"galore_adamw_8bit_layerwise", "adamw_bnb_8bit"},
    {"galore_adafactor_layerwise", "adamw_bnb_8bit"},
    {"q_galore_adamw8bit", "adamw_bnb_8bit"},
    {"apollo_adamw", "adamw_bnb_8bit"},
    {"apollo_adamw_layerwise", "adamw_bnb_8bit"},
    {"lomo", "adamw_bnb_8bit"},
    {"adalomo", "adamw_bnb_8bit"},
    {"flash_adamw", "adamw_bnb_8bit"},
    {"flash_adam", "adamw_bnb_8bit"},
    {"flash_sgd", "adamw_torch"},
    {"flash_sgdw", "adamw_torch"},
    {"flash_lion", "adamw_bnb_8bit"},
};

}  // namespace

const OptimizerKind* find_optimizer(std::string_view name) {
    const auto found = std::find_if(kKinds.begin(), kKinds.end(),
                                    [&](const OptimizerKind& kind) { return kind.name == name; });
    return found == kKinds.end() ? nullptr : &*found;
}

std::vector<std::string> known_optimizers() {
    std::vector<std::string> names;
    for (const OptimizerKind& kind : kKinds) names.emplace_back(kind.name);
    return names;
}

std::string_view nearest_optimizer(std::string_view name) {
    const auto found = std::find_if(std::begin(kNotBuilt), std::end(kNotBuilt),
                                    [&](const NotBuilt& other) { return other.name == name; });
    return found == std::end(kNotBuilt) ? std::string_view() : found->nearest;
}

StateFormat state_format(StateKind kind, int64_t elements, bool is_embedding) {
    const bool few = elements < kFewestInCodes;
    switch (kind) {
        case AsWeights:
            break;
        case Float32:
            return {32, 0, false};
        case Bitsandbytes8:
            return few || is_embedding ? StateFormat{32, 0, false} : StateFormat{8, kBlock, false};
        case TorchaoBlocks8:
        case TorchaoBlocks4:
            if (few || elements % kBlock != 0) break;
            return {kind == TorchaoBlocks8 ? 8 : 4, kBlock, false};
    }
    return {};
}

}  // namespace ringmaster
