#include "launcher/queue/sweep.h"

#include <nlohmann/json.hpp>

#include "engine/config/document.h"
#include "engine/error.h"
#include "launcher/base/files.h"
#include "launcher/run/request.h"

namespace ringmaster {

using nlohmann::json;

namespace {

constexpr size_t kMostRuns = 1000;

[[noreturn]] void refuse(const std::string& option, const std::string& why) {
    throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "'" + option + "' " + why, "--sweep",
                "write --sweep 'learning_rate=[1e-4, 2e-4]', or name a YAML file with a list of mappings");
}

json yaml_of(const std::string& option, const std::string& text) {
    json value;
    Diagnostics problems;
    if (!read_value(text, value, problems) || has_error(problems)) refuse(option, "is not YAML");
    if (!value.is_array() || value.empty()) refuse(option, "has no list of values");
    return value;
}

std::vector<SweptKeys> values_of_key(const std::string& option) {
    const auto [key, text] = parse_set(option);
    std::vector<SweptKeys> runs;
    for (const json& value : yaml_of(option, text)) runs.push_back({{key, value.dump()}});
    return runs;
}

std::vector<SweptKeys> runs_of_file(const std::string& file) {
    std::vector<SweptKeys> runs;
    for (const json& mapping : yaml_of(file, read_file(file))) {
        if (!mapping.is_object()) refuse(file, "has an entry that is no mapping");
        runs.emplace_back();
        for (const auto& [key, value] : mapping.items()) runs.back()[key] = value.dump();
    }
    return runs;
}

}  // namespace

std::vector<SweptKeys> runs_of_sweep(const std::vector<std::string>& options) {
    std::vector<SweptKeys> all{{}};
    for (const std::string& option : options) {
        const auto runs =
            option.find('=') == std::string::npos ? runs_of_file(option) : values_of_key(option);
        std::vector<SweptKeys> combined;
        for (const SweptKeys& before : all) {
            for (SweptKeys keys : runs) {
                keys.insert(before.begin(), before.end());
                combined.push_back(std::move(keys));
            }
            if (combined.size() > kMostRuns) refuse(option, "makes more than 1,000 runs");
        }
        all = std::move(combined);
    }
    return all;
}

}  // namespace ringmaster
