#include "engine/plan/sharding_edit.h"

#include <string>

namespace ringmaster {

namespace {

bool is_mapping(const Config& config, const std::string& key) {
    const auto inner = config.lines.lower_bound(key + '.');
    return inner != config.lines.end() && inner->first.starts_with(key + '.');
}

}  // namespace

std::optional<Edit> sharding_edit(const Config& config, int stage) {
    const auto is_written = [&](const char* key) { return config.lines.contains(key); };
    const std::string whole = stage == 3 ? "true" : "false";
    if (is_written("deepspeed.zero_optimization.stage"))
        return Edit{"deepspeed.zero_optimization.stage", std::to_string(stage)};
    if (is_written("deepspeed")) {
        if (config.optimizer_offloading || is_mapping(config, "deepspeed")) return std::nullopt;
        return Edit{"deepspeed", "deepspeed_configs/zero" + std::to_string(stage) + ".json"};
    }
    if (is_written("fsdp_config")) return Edit{"fsdp_config.reshard_after_forward", whole};
    if (config.zero_stage_asked > 0 && !is_written("fsdp")) return std::nullopt;
    return Edit{"fsdp_config", "{reshard_after_forward: " + whole + "}"};
}

std::vector<int> sharding_stages(const Config& config) {
    if (!sharding_edit(config, 3)) return {config.zero_stage_asked};
    if (config.zero_stage_asked == 0) return {0, 2, 3};
    return {2, 3};
}

}  // namespace ringmaster
