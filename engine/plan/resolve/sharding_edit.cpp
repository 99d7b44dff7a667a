#include "engine/plan/resolve/sharding_edit.h"

#include <string>

namespace ringmaster {

namespace {

constexpr const char* kOffloadsAll = "zero3_bf16_cpuoffload_all";

bool is_mapping(const Config& config, const std::string& key) {
    const auto inner = config.lines.lower_bound(key + '.');
    return inner != config.lines.end() && inner->first.starts_with(key + '.');
}

/// Returns the edit that names axolotl's file for the stage, if it leaves optimizer states where they are
/// now. Its zero2.json puts them in host memory; for stage 3 it has a file with offloading, also of weights,
/// and one without.
std::optional<Edit> named_file(const Config& config, int stage) {
    const bool offloads = config.optimizer_offloading;
    if (is_mapping(config, "deepspeed")) return std::nullopt;
    if (stage == 2 && (!offloads || config.parameter_offloading)) return std::nullopt;
    const char* name = stage == 2 ? "zero2" : offloads ? kOffloadsAll : "zero3";
    return Edit{"deepspeed", std::string("deepspeed_configs/") + name + ".json"};
}

}  // namespace

std::optional<Edit> sharding_edit(const Config& config, int stage) {
    const auto is_written = [&](const char* key) { return config.lines.contains(key); };
    const std::string whole = stage == 3 ? "true" : "false";
    if (is_written("deepspeed.zero_optimization.stage"))
        return Edit{"deepspeed.zero_optimization.stage", std::to_string(stage)};
    if (is_written("deepspeed")) return named_file(config, stage);
    if (is_written("fsdp_config")) return Edit{"fsdp_config.reshard_after_forward", whole};
    if (config.zero_stage_asked > 0 && !is_written("fsdp")) return std::nullopt;
    return Edit{"fsdp_config", "{reshard_after_forward: " + whole + "}"};
}

bool offloads_weights(const Edit& edit) {
    return edit.value.find(kOffloadsAll) != std::string::npos;
}

std::vector<int> sharding_stages(const Config& config) {
    std::vector<int> stages;
    for (const int stage : {0, 2, 3}) {
        if (stage == config.zero_stage_asked || (stage > 0 && sharding_edit(config, stage)))
            stages.push_back(stage);
    }
    return stages;
}

}  // namespace ringmaster
