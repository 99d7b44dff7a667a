// Lists the DeepSpeed configurations that axolotl ships: which states they shard and offload.
#include <algorithm>
#include <array>
#include <filesystem>
#include <regex>

#include "engine/config/sections.h"
#include "engine/words/spelling.h"

namespace ringmaster {
namespace {

using nlohmann::json;

struct Shipped {
    std::string_view name;
    int stage;
    bool offloads_optimizer;
    bool offloads_parameters;
};

constexpr std::array<Shipped, 8> kShipped{{
    {"zero1.json", 1, false, false},
    {"zero1_torch_compile.json", 1, false, false},
    {"zero2.json", 2, true, false},
    {"zero2_torch_compile.json", 2, true, false},
    {"zero3.json", 3, false, false},
    {"zero3_bf16.json", 3, false, false},
    {"zero3_bf16_cpuoffload_all.json", 3, true, true},
    {"zero3_bf16_cpuoffload_params.json", 3, false, true},
}};

}  // namespace

std::optional<json> shipped_deepspeed(const std::string& path) {
    const std::filesystem::path file(path);
    const bool bare = file.parent_path().empty() || file.parent_path() == ".";
    const std::string folder = file.parent_path().filename().string(), name = file.filename().string();
    if (!bare && folder != "deepspeed_configs" && folder != "deepspeed") return std::nullopt;
    const auto shipped =
        std::find_if(kShipped.begin(), kShipped.end(), [&](const Shipped& one) { return one.name == name; });
    if (shipped == kShipped.end()) return std::nullopt;
    json zero = {{"stage", shipped->stage}};
    if (shipped->offloads_optimizer) zero["offload_optimizer"] = {{"device", "cpu"}};
    if (shipped->offloads_parameters) zero["offload_param"] = {{"device", "cpu"}};
    return json{{"zero_optimization", zero}};
}

std::string shipped_deepspeed_like(const std::string& path) {
    const std::string name = lower_case(std::filesystem::path(path).filename().string());
    static const std::regex stage("(?:zero|stage|ds_config)[-_]?([123])(?![0-9])");
    std::smatch found;
    return std::regex_search(name, found, stage) ? "deepspeed_configs/zero" + found[1].str() + ".json" : "";
}

}  // namespace ringmaster
