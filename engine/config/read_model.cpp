#include <algorithm>
#include <array>

#include "engine/config/keys.h"
#include "engine/config/paths.h"
#include "engine/config/sections.h"
#include "engine/words/spelling.h"

namespace ringmaster {
namespace {

using nlohmann::json;

/// axolotl's switches that attn_implementation replaced, in order of precedence.
struct AttentionFlag {
    const char* key;
    const char* implementation;
};
constexpr std::array<AttentionFlag, 6> kAttentionFlags{{
    {"xformers_attention", "xformers"},
    {"sage_attention", "sage"},
    {"flex_attention", "flex_attention"},
    {"flash_attention", "flash_attention_2"},
    {"sdp_attention", "sdpa"},
    {"eager_attention", "eager"},
}};

std::string folder_or_id(const Config& config, const std::string& name) {
    const std::string folder = absolute_path(config.base_dir, name);
    return is_folder(folder) || looks_like_path(name) ? folder : name;
}

void read_attention(KeyReader& keys, Config& config) {
    take(config.attn_implementation, keys.text("attn_implementation"));
    const std::vector<std::string> known{
        "eager", "sdpa", "flash_attention_2", "flash_attention_3", "flex_attention", "xformers",
        "sage",  "fp8"};
    const std::string& said = config.attn_implementation;
    if (!said.empty() && said.find('/') == std::string::npos &&
        std::find(known.begin(), known.end(), said) == known.end()) {
        const std::string nearest = said == "flash" ? "flash_attention_2" : nearest_word(said, known);
        keys.warn(Form("CFG-VALUE", "attention"), "attn_implementation",
                  {{"value", shown(json(said))},
                   {"nearest", nearest.empty() ? std::string("flash_attention_2") : nearest}});
    }
    for (const auto& [key, implementation] : kAttentionFlags) {
        if (keys.flag(key) != true) continue;
        std::vector<Fix> fixes;
        if (said.empty()) fixes.push_back({{{"attn_implementation", implementation}}});
        if (!said.empty()) fixes.push_back({{{key, "", true}}});
        keys.warn(Form("CFG-DEPRECATED"), key, {{"name", "attn_implementation"}}, std::move(fixes));
        if (said.empty()) {
            config.attn_implementation = implementation;
        } else if (said != implementation) {
            keys.warn(Form("CFG-CONFLICT", "attention"), key,
                      {{"implementation", implementation}, {"asked", said}});
        }
    }
}

/// Reports a name that axolotl ignores: an error if it is a misspelling of one of `names`, because axolotl
/// would then silently train without that token; else a warning.
void judge_unknown_token(KeyReader& keys, const json& tokens, const std::string& name,
                         const std::vector<std::string>& names) {
    const std::string path = "special_tokens." + name;
    // eot_tokens is a key at the top level.
    const bool ends_turns = name == "eot_token" || name == "eot_tokens";
    const bool shortened = std::find(names.begin(), names.end(), name + "_token") != names.end();
    const std::string meant = ends_turns ? "" : shortened ? name + "_token" : misspelt_word(name, names);
    if (meant.empty()) return keys.warn(Form("KEY-UNKNOWN", "token-idle"), path, {{"known", listed(names)}});
    std::vector<Fix> fixes;
    if (!tokens.contains(meant)) fixes.push_back(keys.renaming(path, meant));
    keys.error(Form("KEY-UNKNOWN", "token"), path, {{"known", listed(names)}}, std::move(fixes));
}

void read_special_tokens(KeyReader& keys, Config& config) {
    const json* tokens = keys.find("special_tokens");
    if (!tokens) return;
    if (!tokens->is_object()) {
        return keys.error(Form("CFG-TYPE", "mapping"), "special_tokens", {{"value", shown(*tokens)}});
    }
    const std::vector<std::string> names{"bos_token", "eos_token", "pad_token", "unk_token"};
    for (const auto& [name, value] : tokens->items()) {
        const std::string path = "special_tokens." + name;
        if (std::find(names.begin(), names.end(), name) != names.end()) {
            if (const auto text = keys.text(path)) config.special_tokens[name] = *text;
        } else if (name == "additional_special_tokens") {
            if (value.is_array() && !value.empty()) config.special_tokens[name] = value;
            if (!value.is_array() && !value.is_null()) keys.error(Form("CFG-TYPE", "tokens"), path);
        } else {
            judge_unknown_token(keys, *tokens, name, names);
        }
    }
}

/// Reads the key that makes training start from random weights. axolotl 0.8 to 0.10 named the key
/// random_init_weights.
void read_reinit(KeyReader& keys, Config& config) {
    const char* old_name = "random_init_weights";
    take(config.reinit_weights, keys.flag(old_name));
    if (config.reinit_weights) {
        std::vector<Fix> fixes;
        if (keys.has("reinit_weights"))
            fixes.push_back({{{old_name, "", true}}});
        else
            fixes.push_back(keys.renaming(old_name, "reinit_weights"));
        keys.warn(Form("CFG-DEPRECATED"), old_name, {{"name", "reinit_weights"}}, std::move(fixes));
    }
    take(config.reinit_weights, keys.flag("reinit_weights"));
}

void read_revision(KeyReader& keys, Config& config) {
    for (const char* key : {"revision_of_model", "model_revision"}) {
        if (const auto revision = keys.text(key)) config.tokenization["revision_of_model"] = *revision;
    }
}

/// Reads the overrides of config.json that are supported: those of a router's loss.
void read_model_overrides(KeyReader& keys, Config& config) {
    for (const std::string key : {"model_config", "overrides_of_model_config"}) {
        const json* overrides = keys.find(key);
        if (!overrides || overrides->is_null()) continue;
        if (!overrides->is_object()) {
            keys.error(Form("CFG-TYPE", "mapping"), key, {{"value", shown(*overrides)}});
            continue;
        }
        take(config.output_router_logits, keys.flag(key + ".output_router_logits"));
        take(config.router_aux_loss_coef, keys.number(key + ".router_aux_loss_coef"));
        for (const auto& [name, value] : overrides->items()) {
            const bool known = name == "output_router_logits" || name == "router_aux_loss_coef";
            if (!known && !value.is_null())
                keys.error(Form("KEY-UNSUPPORTED", "model-override"), key + "." + name, {});
        }
    }
}

constexpr const char* kMistralCommon = "tokenizer_use_mistral_common";

/// Returns true if a name holds "magistral" in any case: axolotl then reads mistral-common's tokenizer.
bool names_magistral(const KeyReader& keys) {
    for (const char* key : {"base_model", "base_model_config", "tokenizer_config"}) {
        const json* name = keys.find(key);
        if (!name || !name->is_string()) continue;
        if (lower_case(name->get<std::string>()).find("magistral") != std::string::npos) return true;
    }
    return false;
}

/// Reports a dataset's keys that cannot be combined with mistral-common.
void check_mistral_dataset(KeyReader& keys, const std::string& entry) {
    const json* type = keys.find(entry + ".type");
    if (type && type->is_string() && type->get<std::string>().starts_with("sharegpt"))
        keys.error(Form("CFG-CONFLICT", "mistral-rows"), entry + ".type");
    for (const char* key : {".chat_template", ".chat_template_jinja"}) {
        if (keys.has(entry + key)) keys.warn(Form("CFG-CONFLICT", "mistral-idle"), entry + key);
    }
}

/// Reads tokenizer_use_mistral_common by axolotl's rules, with the keys that it excludes or ignores.
void read_mistral_common(KeyReader& keys, Config& config) {
    const auto asked = keys.flag(kMistralCommon);
    if (!asked.value_or(names_magistral(keys))) return;
    config.tokenization[kMistralCommon] = true;
    if (!asked) keys.inform(Form("CFG-VALUE", "magistral"), "base_model");
    for (const char* key :
         {"added_tokens_overrides", "special_tokens", "tokens", "chat_template", "processor_kwargs"}) {
        const json* value = keys.find(key);
        if (value && is_on(*value)) keys.error(Form("CFG-CONFLICT", "mistral-common"), key);
    }
    if (keys.has("pretraining_dataset"))
        keys.error(Form("CFG-CONFLICT", "mistral-rows"), "pretraining_dataset");
    for (const char* key : {"chat_template_jinja", "eot_tokens", "tokenizer_type", "tokenizer_legacy"}) {
        if (keys.has(key)) keys.warn(Form("CFG-CONFLICT", "mistral-idle"), key);
    }
    for (const char* list : {"datasets", "test_datasets"}) {
        const json* entries = keys.find(list);
        for (size_t i = 0; entries && entries->is_array() && i < entries->size(); ++i)
            check_mistral_dataset(keys, std::string(list) + '.' + std::to_string(i));
    }
}

}  // namespace

std::vector<std::string> attention_flags() {
    std::vector<std::string> keys;
    for (const AttentionFlag& flag : kAttentionFlags) keys.emplace_back(flag.key);
    return keys;
}

void read_model(KeyReader& keys, Config& config) {
    take(config.base_model, keys.text("base_model"));
    if (config.base_model.empty() && !config.accelerate_only && !keys.has("base_model")) {
        keys.error(Form("CFG-MISSING", "base_model"), "base_model");
    }
    if (!config.base_model.empty()) {
        const std::string folder = absolute_path(config.base_dir, config.base_model);
        if (is_folder(folder)) config.model_dir = folder;
    }
    const std::string tokenizer = keys.text("tokenizer_config").value_or(config.base_model);
    if (!tokenizer.empty()) config.tokenizer = folder_or_id(config, tokenizer);
    read_reinit(keys, config);
    for (const char* key : {"trust_remote_code", "tokenizer_legacy"}) {
        if (const auto flag = keys.flag(key)) config.tokenization[key] = *flag;
    }
    if (const auto type = keys.text("tokenizer_type")) config.tokenization["tokenizer_type"] = *type;
    read_model_overrides(keys, config);
    read_revision(keys, config);
    read_mistral_common(keys, config);
    read_special_tokens(keys, config);
    read_attention(keys, config);
}

}  // namespace ringmaster
