// Reads `fsdp_config`, `fsdp` and `deepspeed`, which only select a ZeRO stage and offloading here.
#include <algorithm>
#include <cctype>
#include <iterator>

#include "engine/config/keys.h"
#include "engine/config/paths.h"
#include "engine/config/sections.h"
#include "engine/words/spelling.h"

namespace ringmaster {
namespace {

using nlohmann::json;

/// Returns the stage of an FSDP sharding strategy, given by name or by accelerate's number.
std::optional<int> strategy_stage(const json& value) {
    if (const auto flag = value.is_boolean() ? std::optional(value.get<bool>()) : std::nullopt)
        return *flag ? 3 : 2;
    const std::string word = lower_case(value.is_string() ? value.get<std::string>() : value.dump());
    if (word == "full_shard" || word == "hybrid_shard" || word == "1" || word == "4" || word == "true")
        return 3;
    if (word == "shard_grad_op" || word == "hybrid_shard_zero2" || word == "2" || word == "5" ||
        word == "false")
        return 2;
    if (word == "no_shard" || word == "3") return 0;
    return std::nullopt;
}

const json* fsdp_option(const json& fsdp_config, const std::string& name) {
    for (const std::string& key : {name, "fsdp_" + name}) {
        if (const auto found = fsdp_config.find(key); found != fsdp_config.end() && !found->is_null())
            return &*found;
    }
    return nullptr;
}

/// Returns the stage of a list such as `fsdp: [full_shard, auto_wrap]`.
int fsdp_list_stage(const json& fsdp) {
    const std::string text = lower_case(fsdp.is_string() ? fsdp.get<std::string>() : fsdp.dump());
    if (text.find("no_shard") != std::string::npos) return 0;
    return text.find("shard_grad_op") != std::string::npos || text.find("zero2") != std::string::npos ? 2 : 3;
}

/// Keeps the weights, and everything that the optimizer needs, in host memory.
void offload_parameters(KeyReader& keys, Config& config, const char* key) {
    if (!config.optimizer_offloading) keys.inform(Form("CFG-OFFLOAD", "parameters"), key);
    config.parameter_offloading = config.optimizer_offloading = true;
}

/// Returns the offloading settings of a DeepSpeed configuration; an empty object if the configuration has
/// none. `what` is "offload_optimizer" or "offload_param".
json offload_of(const json& deepspeed, const char* what) {
    const auto zero = deepspeed.find("zero_optimization");
    if (zero == deepspeed.end() || !zero->is_object()) return json::object();
    const json offload = zero->value(what, json::object());
    return offload.is_object() ? offload : json::object();
}

bool offloads(const json& offload) {
    return offload.value("device", json("none")) != "none";
}

bool asks_for_disk(const json& offload) {
    return offload.value("device", json("none")) == "nvme";
}

void read_offloading(KeyReader& keys, const json& deepspeed, Config& config) {
    const json optimizer = offload_of(deepspeed, "offload_optimizer");
    const json parameters = offload_of(deepspeed, "offload_param");
    config.optimizer_offloading |= offloads(optimizer);
    if (asks_for_disk(parameters)) keys.warn(Form("CFG-OFFLOAD", "nvme"), "deepspeed", {});
    if (offloads(parameters)) offload_parameters(keys, config, "deepspeed");
    if (!asks_for_disk(optimizer)) return;
    const json folder = optimizer.value("nvme_path", json(""));
    if (folder.is_string() && !folder.get<std::string>().empty())
        config.optimizer_disk = absolute_path(config.base_dir, folder.get<std::string>());
    else
        keys.error(Form("CFG-OFFLOAD", "nvme-path"), "deepspeed", {});
}

std::optional<json> read_deepspeed_file(const std::string& path, std::string& problem) {
    const auto text = read_at_most(path, kMaxConfigBytes + 1);
    if (!text) {
        problem = "no such DeepSpeed file: " + path;
        return std::nullopt;
    }
    json read = json::parse(*text, nullptr, /*allow_exceptions=*/false, /*ignore_comments=*/true);
    if (text->size() <= kMaxConfigBytes && !read.is_discarded()) return read;
    problem = path + " is not valid JSON";
    return std::nullopt;
}

std::optional<int> stage_in_file(const json& deepspeed, const std::string& path, std::string& problem) {
    auto stage = deepspeed_stage(deepspeed, problem);
    if (!problem.empty()) problem = path + ": " + problem;
    return stage;
}

/// Returns the content of `file`, or, if the file is missing, of the configuration that axolotl ships under
/// this name.
std::optional<json> deepspeed_named(KeyReader& keys, const std::string& said, const std::string& file,
                                    std::string& problem) {
    std::optional<json> deepspeed = read_deepspeed_file(file, problem);
    if (deepspeed || exists(file)) return deepspeed;
    deepspeed = shipped_deepspeed(said);
    if (!deepspeed) return std::nullopt;
    problem.clear();
    keys.inform(Form("CFG-DEEPSPEED", "shipped"), "deepspeed",
                {{"file", file}, {"stage", deepspeed->at("zero_optimization").at("stage").get<int64_t>()}});
    return deepspeed;
}

/// Reports a configuration that cannot be used. Suggests axolotl's configuration for the stage in the file's
/// name.
void refuse_deepspeed(KeyReader& keys, const Config& config, const json& said, const std::string& problem) {
    FindingValues parameters{{"problem", problem}, {"folder", config.base_dir}};
    const std::string like = said.is_string() ? shipped_deepspeed_like(said.get<std::string>()) : "";
    if (!like.empty()) parameters["shipped"] = like;
    keys.error(Form("CFG-DEEPSPEED", "file"), "deepspeed", std::move(parameters));
}

void read_deepspeed(KeyReader& keys, Config& config) {
    const json& said = *keys.find("deepspeed");
    std::string problem;
    std::optional<json> deepspeed;
    if (said.is_object()) {
        deepspeed = said;
        take(config.zero_stage_asked, deepspeed_stage(said, problem));
    } else if (const auto path = keys.text("deepspeed")) {
        const std::string file = absolute_path(config.base_dir, *path);
        deepspeed = deepspeed_named(keys, *path, file, problem);
        if (deepspeed) take(config.zero_stage_asked, stage_in_file(*deepspeed, file, problem));
    }
    if (problem.empty() && deepspeed) read_offloading(keys, *deepspeed, config);
    if (!problem.empty()) refuse_deepspeed(keys, config, said, problem);
}

void read_fsdp(KeyReader& keys, Config& config) {
    if (const json* fsdp = keys.find("fsdp"); fsdp && is_on(*fsdp)) {
        config.zero_stage_asked = fsdp_list_stage(*fsdp);
        keys.warn(Form("CFG-DEPRECATED", "fsdp"), "fsdp", {{"reshard", config.zero_stage_asked == 3}});
    }
    const json* options = keys.find("fsdp_config");
    if (!options || !is_on(*options)) return;
    if (!options->is_object()) {
        return keys.error(Form("CFG-TYPE", "mapping"), "fsdp_config", {{"value", shown(*options)}});
    }
    const bool says_stage =
        fsdp_option(*options, "sharding_strategy") || fsdp_option(*options, "reshard_after_forward");
    if (config.zero_stage_asked == 0 || says_stage) config.zero_stage_asked = fsdp_stage(*options);
    for (const char* name : {"offload_params", "cpu_offload"}) {
        const json* offload = fsdp_option(*options, name);
        if (offload && as_flag(*offload) == true) {
            config.parameter_offloading = config.optimizer_offloading = true;
            break;
        }
    }
    const json* checkpointing = fsdp_option(*options, "activation_checkpointing");
    if (checkpointing && as_flag(*checkpointing) == true) config.gradient_checkpointing = true;
}

bool asks(KeyReader& keys, const char* key) {
    const json* value = keys.find(key);
    return value && is_on(*value);
}

}  // namespace

int fsdp_stage(const json& fsdp_config) {
    constexpr int kFullShard = 3;
    for (const char* name : {"reshard_after_forward", "sharding_strategy"}) {
        const json* value = fsdp_option(fsdp_config, name);
        if (!value) continue;
        if (const auto stage = strategy_stage(*value)) return *stage;
    }
    return kFullShard;
}

std::optional<int> deepspeed_stage(const json& deepspeed, std::string& problem) {
    if (!deepspeed.is_object()) {
        problem = "the DeepSpeed configuration is not a mapping";
        return std::nullopt;
    }
    const auto zero = deepspeed.find("zero_optimization");
    if (zero == deepspeed.end() || !zero->is_object() || !zero->contains("stage")) return 0;
    const json& stage = zero->at("stage");
    if (stage.is_number_integer() && stage >= 0 && stage <= 3) return stage.get<int>();
    problem = "zero_optimization.stage is " + shown(stage) + ", but must be 0, 1, 2 or 3";
    return std::nullopt;
}

std::optional<int> deepspeed_file_stage(const std::string& path, std::string& problem) {
    const std::optional<json> read = read_deepspeed_file(path, problem);
    return read ? stage_in_file(*read, path, problem) : std::nullopt;
}

void read_sharding(KeyReader& keys, Config& config) {
    take(config.ddp_timeout, keys.whole("ddp_timeout"));
    const bool fsdp = asks(keys, "fsdp") || asks(keys, "fsdp_config");
    const bool deepspeed = asks(keys, "deepspeed");
    if (fsdp && deepspeed) {
        const char* key = asks(keys, "fsdp_config") ? "fsdp_config" : "fsdp";
        const int line = keys.document().line(key);
        keys.error(Form("CFG-CONFLICT", line > 0 ? "sharding" : "sharding-set"), "deepspeed",
                   {{"sharding_key", key}, {"other_line", line}});
        return;
    }
    if (deepspeed) read_deepspeed(keys, config);
    if (fsdp) read_fsdp(keys, config);
}

}  // namespace ringmaster
