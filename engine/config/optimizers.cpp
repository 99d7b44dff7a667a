#include "engine/config/optimizers.h"

#include <algorithm>
#include <array>
#include <utility>

namespace ringmaster {
namespace {

constexpr int64_t kFewestInCodes = 4096;  // min_8bit_size of bitsandbytes; torchao uses the same
constexpr int64_t kBlock = 256;           // block size that transformers passes to torchao, for 4 bits too

using enum UpdateRule;
using enum StateKind;

constexpr std::array kKinds = {
    OptimizerKind{"adamw_torch"},
    OptimizerKind{"adamw_torch_fused"},
    OptimizerKind{"adamw_hf", AdamWHf},
    OptimizerKind{"adamw_anyprecision", AdamW, Float32},
    OptimizerKind{"adamw_bnb_8bit", AdamW, Bitsandbytes8},
    OptimizerKind{"adamw_8bit", AdamW, Bitsandbytes8},
    OptimizerKind{"paged_adamw_8bit", AdamW, Bitsandbytes8, true},
    OptimizerKind{"paged_adamw_32bit", AdamW, Float32, true},
    OptimizerKind{"adamw_torch_8bit", AdamW, TorchaoBlocks8},
    OptimizerKind{"adamw_torch_4bit", AdamW, TorchaoBlocks4},
    OptimizerKind{"sgd", Sgd},
    OptimizerKind{"rmsprop", RmsProp},
    OptimizerKind{"rmsprop_bnb", RmsProp, Float32},
    OptimizerKind{"rmsprop_bnb_32bit", RmsProp, Float32},
    OptimizerKind{"rmsprop_bnb_8bit", RmsProp, Bitsandbytes8},
    OptimizerKind{"lion", Lion, Float32},
    OptimizerKind{"lion_32bit", Lion, Float32},
    OptimizerKind{"lion_8bit", Lion, Bitsandbytes8},
    OptimizerKind{"paged_lion_32bit", Lion, Float32, true},
    OptimizerKind{"paged_lion_8bit", Lion, Bitsandbytes8, true},
    OptimizerKind{"ademamix", AdEMAMix, Float32},
    OptimizerKind{"ademamix_8bit", AdEMAMix, Bitsandbytes8},
    OptimizerKind{"paged_ademamix_32bit", AdEMAMix, Float32, true},
    OptimizerKind{"paged_ademamix_8bit", AdEMAMix, Bitsandbytes8, true},
    OptimizerKind{"schedule_free_adamw", ScheduleFree},
    OptimizerKind{"adafactor", Adafactor, Float32},
    OptimizerKind{"came", Came, Float32, false, true},
    OptimizerKind{"came_pytorch", Came, Float32, false, true},
    OptimizerKind{"muon", Muon, AsWeights, false, true},
};

struct NotBuilt {
    std::string_view name, nearest;
};

/// Names that axolotl 0.19 and transformers 5.23 accept but Ringmaster does not build; a test checks all of
/// them.
constexpr NotBuilt kNotBuilt[] = {
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
    {"schedule_free_radam", "schedule_free_adamw"},
    {"schedule_free_sgd", "schedule_free_adamw"},
    {"lion_pytorch", "lion_32bit"},
    {"adagrad", "rmsprop"},
    {"dion", "muon"},
    {"sinkgd", "muon"},
    {"polora", "adamw_torch"},
    {"galore_adamw", "adamw_bnb_8bit"},
    {"galore_adamw_8bit", "adamw_bnb_8bit"},
    {"galore_adafactor", "adafactor"},
    {"galore_adamw_layerwise", "adamw_bnb_8bit"},
    {"galore_adamw_8bit_layerwise", "adamw_bnb_8bit"},
    {"galore_adafactor_layerwise", "adafactor"},
    {"q_galore_adamw8bit", "adamw_bnb_8bit"},
    {"apollo_adamw", "adamw_bnb_8bit"},
    {"apollo_adamw_layerwise", "adamw_bnb_8bit"},
    {"lomo", "adamw_bnb_8bit"},
    {"adalomo", "adamw_bnb_8bit"},
    {"flash_adamw", "adamw_bnb_8bit"},
    {"flash_adam", "adamw_bnb_8bit"},
    {"flash_sgd", "sgd"},
    {"flash_sgdw", "sgd"},
    {"flash_lion", "lion_8bit"},
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

bool is_table(std::string_view parameter_name) {
    return parameter_name.find("embed_tokens") != std::string_view::npos ||
           parameter_name.find("lm_head") != std::string_view::npos;
}

bool is_embedding(std::string_view parameter_name) {
    return parameter_name.ends_with("model.embed_tokens.weight") ||
           parameter_name.ends_with("model.embed_tokens_per_layer.weight");
}

std::vector<StateSpec> states_of(const OptimizerStates& optimizer, size_t dimensions, bool is_table) {
    using enum StateExtent;
    const bool is_matrix = dimensions >= 2;
    std::vector<StateSpec> states;
    switch (optimizer.rule) {
        case AdamW:
        case AdamWHf:
            return {{"exp_avg"}, {"exp_avg_sq", Elements, false}};
        case Sgd:
            if (optimizer.momentum) states = {{"momentum_buffer"}};
            return states;
        case RmsProp:
            states = {{"square_avg", Elements, false}};
            if (optimizer.momentum) states.push_back({"momentum_buffer"});
            if (optimizer.centered) states.push_back({"grad_avg"});
            // bitsandbytes uses its signed map for this state, although it is never negative.
            if (optimizer.kind != AsWeights) states[0].is_signed = true;
            return states;
        case Lion:
            return {{"exp_avg"}};
        case AdEMAMix:
            return {{"exp_avg"}, {"exp_avg_slow"}, {"exp_avg_sq", Elements, false}};
        case ScheduleFree:
            return {{"exp_avg_sq", Elements, false}, {"z"}};
        case Adafactor:
            if (!is_matrix) return {{"exp_avg_sq", Whole, false}};
            return {{"exp_avg_sq_row", Rows, false}, {"exp_avg_sq_col", Columns, false}};
        case Came:
            if (!is_matrix) return {{"exp_avg"}, {"exp_avg_sq", Whole, false}};
            return {{"exp_avg"},
                    {"exp_avg_sq_row", Rows, false},
                    {"exp_avg_sq_col", Columns, false},
                    {"exp_avg_res_row", Rows, false},
                    {"exp_avg_res_col", Columns, false}};
        case Muon:
            if (!is_matrix) return {};
            if (is_table) return {{"moment1"}, {"moment2", Elements, false}};
            return {{"momentum_buffer"}};
    }
    return states;
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
