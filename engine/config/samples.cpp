#include "engine/config/samples.h"

#include <algorithm>
#include <array>

#include "engine/config/keys.h"

namespace ringmaster {

namespace {

using nlohmann::json;

constexpr const char* kPrompts = "sample_prompts";

bool is_message(const json& message) {
    const auto is_text = [&](const char* key) { return message.contains(key) && message[key].is_string(); };
    return message.is_object() && is_text("role") && is_text("content");
}

bool is_prompt(const json& prompt) {
    if (prompt.is_string()) return !prompt.get_ref<const std::string&>().empty();
    return prompt.is_array() && !prompt.empty() && std::all_of(prompt.begin(), prompt.end(), is_message);
}

}  // namespace

void check_samples(KeyReader& keys) {
    const json* prompts = keys.find(kPrompts);
    if (!prompts || !is_on(*prompts)) return;
    if (!(prompts->is_array() && std::all_of(prompts->begin(), prompts->end(), is_prompt)))
        keys.error(Form("CFG-TYPE", "prompts"), kPrompts, {{"value", shown(*prompts)}});
    keys.whole("sample_max_new_tokens", {1});
    keys.number("sample_temperature");
    keys.whole("sample_top_k", {0});
    keys.number("sample_top_p", {0, 1, true});
    keys.whole("sample_seed", {0});
}

json requested_samples(const json& values) {
    const json prompts = values.value(kPrompts, json());
    if (!prompts.is_array() || prompts.empty()) return {};
    json requested = {{"asked", prompts}};
    constexpr std::array kSettings = {"max_new_tokens", "temperature", "top_k", "top_p", "seed"};
    for (const std::string setting : kSettings) {
        const json value = values.value("sample_" + setting, json());
        if (!value.is_null()) requested[setting] = value;
    }
    return requested;
}

}  // namespace ringmaster
