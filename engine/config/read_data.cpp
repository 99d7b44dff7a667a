#include <algorithm>
#include <cmath>

#include "engine/config/paths.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;

void read_chat_template(KeyReader& keys, Config& config) {
    for (const char* key : {"chat_template", "chat_template_jinja"}) {
        if (const auto text = keys.text(key)) config.tokenization[key] = *text;
    }
    if (config.tokenization.value("chat_template", "") == "jinja" && !keys.has("chat_template_jinja")) {
        keys.error(Form("CFG-MISSING", "jinja"), "chat_template");
    }
    if (const json* arguments = keys.find("chat_template_kwargs")) {
        if (arguments->is_object()) {
            config.tokenization["chat_template_kwargs"] = *arguments;
        } else {
            keys.error(Form("CFG-TYPE", "mapping-only"), "chat_template_kwargs",
                       {{"value", shown(*arguments)}});
        }
    }
}

/// Reads a key whose value is a list of tokens, each a text.
void read_token_list(KeyReader& keys, Config& config, const char* key) {
    const json* tokens = keys.find(key);
    if (!tokens || tokens->is_null()) return;
    const bool texts = tokens->is_array() && std::all_of(tokens->begin(), tokens->end(),
                                                         [](const json& token) { return token.is_string(); });
    if (!texts) {
        return keys.error(Form("CFG-TYPE", "token-list"), key);
    }
    config.tokenization[key] = *tokens;
}

void read_tokenization(KeyReader& keys, Config& config) {
    read_chat_template(keys, config);
    if (const auto text = keys.text("default_system_message"))
        config.tokenization["default_system_message"] = *text;
    for (const char* key : {"train_on_inputs", "dataset_exact_deduplication", "shuffle_merged_datasets",
                            "shuffle_before_merging_datasets"}) {
        if (const auto flag = keys.flag(key)) config.tokenization[key] = *flag;
    }
    if (const auto least = keys.whole("min_sample_len", {0})) config.tokenization["min_sample_len"] = *least;
    for (const char* key : {"pretrain_multipack_buffer_size", "streaming_multipack_buffer_size"}) {
        if (const auto rows = keys.whole(key)) config.tokenization["streaming_multipack_buffer_size"] = *rows;
    }
    read_token_list(keys, config, "eot_tokens");
}

/// Rejects a mapping under `tokens`: axolotl 0.3 and older used it for what is now special_tokens.
void read_tokens(KeyReader& keys, Config& config) {
    const json* said = keys.find("tokens");
    if (!said || !said->is_object() || said->empty()) return read_token_list(keys, config, "tokens");
    std::vector<Fix> fixes;
    if (!keys.has("special_tokens")) fixes.push_back(keys.renaming("tokens", "special_tokens"));
    keys.error(Form("CFG-TYPE", "special"), "tokens", {{"value", shown(*said)}}, std::move(fixes));
}

/// Reads keys that add or rename tokens, or resize the model's embeddings for them.
void read_vocabulary(KeyReader& keys, Config& config) {
    read_tokens(keys, config);
    for (const char* key :
         {"resize_token_embeddings_to_32x", "mean_resizing_embeddings", "shrink_embeddings"}) {
        if (const auto flag = keys.flag(key)) config.tokenization[key] = *flag;
    }
    const json* renamed = keys.find("added_tokens_overrides");
    if (!renamed || renamed->is_null()) return;
    bool sound = renamed->is_object();
    for (const auto& [number, text] : renamed->items()) {
        sound = sound && text.is_string() && !number.empty() &&
                number.find_first_not_of("0123456789") == std::string::npos;
    }
    if (!sound) {
        return keys.error(Form("CFG-TYPE", "token-numbers"), "added_tokens_overrides");
    }
    config.tokenization["added_tokens_overrides"] = *renamed;
}

/// Reads `dataset_shard_num` and `dataset_shard_idx`, which select a part of the rows in merged order.
void read_dataset_shard(KeyReader& keys, Config& config) {
    const auto shards = keys.whole("dataset_shard_num");
    const auto index = keys.whole("dataset_shard_idx", {0});
    if (shards) config.tokenization["dataset_shard_num"] = *shards;
    if (index) config.tokenization["dataset_shard_idx"] = *index;
    if (shards && index && *index >= *shards) {
        keys.error(Form("CFG-RANGE", "shard"), "dataset_shard_idx", {{"value", *index}, {"shards", *shards}});
    }
}

void read_validation_share(KeyReader& keys, Config& config) {
    take(config.val_set_size, keys.number("val_set_size"));
    if (config.val_set_size > 1 && config.val_set_size != std::floor(config.val_set_size)) {
        keys.error(Form("CFG-RANGE", "rows"), "val_set_size", {{"value", shown(config.val_set_size)}});
        config.val_set_size = 0;
    } else if (config.val_set_size == 1) {
        keys.error(Form("CFG-RANGE", "all"), "val_set_size");
        config.val_set_size = 0;
    }
}

bool is_streamed(const Config& config) {
    return !config.datasets.empty() && config.datasets[0].value("streamed", false);
}

}  // namespace

void read_data(KeyReader& keys, Config& config) {
    read_tokenization(keys, config);
    read_vocabulary(keys, config);
    read_dataset_shard(keys, config);
    if (const auto path = keys.text("dataset_prepared_path"); path && !path->empty()) {
        config.dataset_prepared_path = absolute_path(config.base_dir, *path);
    }
    read_datasets(keys, config);
    read_validation_share(keys, config);
    if (is_streamed(config)) config.val_set_size = 0;
    if (config.val_set_size > 0 && !config.test_datasets.empty()) {
        keys.error(Form("CFG-CONFLICT", "evaluation"), "test_datasets",
                   {{"share", shown(config.val_set_size)}});
    }
    take(config.sequence_len, keys.whole("sequence_len"));
    take(config.excess_length, keys.choice<ExcessLength>("excess_length_strategy"));
    take(config.sample_packing, keys.flag("sample_packing"));
    const auto pad = keys.flag("pad_to_sequence_len");
    config.padding.to_sequence_len = pad.value_or(config.sample_packing);
    take(config.curriculum_sampling, keys.flag("curriculum_sampling"));
    if (is_streamed(config)) config.curriculum_sampling = true;  // rows are trained in the stream's order
    take(config.seed, keys.whole("seed", {0}));
}

}  // namespace ringmaster
