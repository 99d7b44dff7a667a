#include "engine/config/read_stream.h"

#include "engine/config/keys.h"
#include "engine/config/paths.h"

namespace ringmaster {

using nlohmann::json;

/// Returns the stream as the only entry of `datasets`, or an empty list after an error.
json read_stream(KeyReader& keys, Config& config) {
    const std::string key = "pretraining_dataset";
    const json& value = *keys.find(key);
    json entry = value.is_array() && !value.empty() ? value[0] : value;
    const bool named = entry.is_string();
    if (named) entry = json{{"path", entry}};
    if (!entry.is_object()) {
        keys.error(Form("CFG-TYPE", "stream"), key, {{"value", shown(value)}});
        return json::array();
    }
    if (value.is_array() && value.size() > 1) keys.warn(Form("CFG-CONFLICT", "one-stream"), key);
    const std::string type = entry.value("type", json("pretrain")).dump();
    if (type != "\"pretrain\"" && type != "\"completion\"")
        keys.error(Form("CFG-DATASET-TYPE", "stream"), named ? key : key + ".0.type", {{"value", type}});
    entry["type"] = type == "\"completion\"" ? "completion" : "pretrain";
    entry["streamed"] = true;
    entry["pretraining"] = true;
    const std::string said = entry.value("path", json()).is_string() ? entry["path"].get<std::string>() : "";
    if (said.empty()) keys.error(Form("CFG-MISSING", "path"), key);
    const std::string place = absolute_path(config.base_dir, said);
    if (exists(place) || looks_like_path(said)) entry["path"] = place;
    return json::array({entry});
}

namespace {

/// Checks val_set_size, which axolotl before version 0.13 ignored for a stream and newer versions refuse.
void check_share(KeyReader& keys) {
    const json* share = keys.find("val_set_size");
    if (!share || !is_on(*share)) return;
    const json* strategy = keys.find(keys.has("eval_strategy") ? "eval_strategy" : "evaluation_strategy");
    if (strategy && (*strategy == "no" || *strategy == false))
        keys.warn(Form("CFG-CONFLICT", "stream-share-idle"), "val_set_size");
    else
        keys.error(Form("CFG-CONFLICT", "stream-share"), "val_set_size");
}

/// Reports a missing max_steps, and settings that no stream supports. `key` makes the rows a stream:
/// pretraining_dataset or streaming.
void check_any_stream(KeyReader& keys, const Config& config, const std::string& key) {
    if (!keys.has("max_steps")) {
        keys.missing(Form("CFG-MISSING", "max_steps"), "max_steps", key);
    }
    if (config.tokenization.value("dataset_exact_deduplication", false)) {
        keys.error(Form("CFG-CONFLICT", "stream-duplicates"), "dataset_exact_deduplication");
    }
}

bool switched_on(const KeyReader& keys, const std::string& key) {
    const json* value = keys.find(key);
    return value && is_on(*value);
}

/// Reports keys that choose a part of the rows. axolotl's streams ignore them or fail on them.
void check_parts(KeyReader& keys, const Config& config) {
    for (const char* key : {"dataset_shard_num", "dataset_shard_idx"}) {
        if (switched_on(keys, key)) keys.error(Form("CFG-CONFLICT", "stream-part"), key, {{"part", key}});
    }
    for (std::size_t i = 0; i < config.datasets.size(); ++i) {
        const std::string where = "datasets." + std::to_string(i) + '.';
        for (const std::string key : {"shards", "preprocess_shards"}) {
            if (switched_on(keys, where + key))
                keys.error(Form("CFG-CONFLICT", "stream-part"), where + key, {{"part", key}});
        }
        const json* split = keys.find(where + "split");
        const std::string said = split && split->is_string() ? split->get<std::string>() : "";
        if (said.find_first_of("[+") != std::string::npos)
            keys.error(Form("CFG-CONFLICT", "stream-part"), where + "split", {{"part", said}});
    }
}

}  // namespace

void check_stream(KeyReader& keys, const Config& config) {
    check_any_stream(keys, config, "pretraining_dataset");
    check_share(keys);
}

void stream_datasets(KeyReader& keys, Config& config) {
    if (!keys.flag("streaming").value_or(false)) return;
    check_any_stream(keys, config, "streaming");
    if (switched_on(keys, "val_set_size")) keys.error(Form("CFG-CONFLICT", "stream-share"), "val_set_size");
    if (config.policy || (config.preference.on() && !config.preference.scores()))
        return;  // axolotl does not stream rows for `rl`
    check_parts(keys, config);
    const bool packs = switched_on(keys, "sample_packing");
    if (packs && config.datasets.size() > 1) keys.error(Form("CFG-CONFLICT", "stream-packing"), "streaming");
    if (packs && keys.has("excess_length_strategy") && *keys.find("excess_length_strategy") != "drop")
        keys.warn(Form("CFG-CONFLICT", "stream-length"), "excess_length_strategy");
    for (json& entry : config.datasets) {
        if (entry.is_object()) entry["streamed"] = true;
    }
    if (!packs && config.datasets.size() == 1 && switched_on(keys, "curriculum_sampling"))
        config.tokenization["shuffle_merged_datasets"] = false;
}

}  // namespace ringmaster
