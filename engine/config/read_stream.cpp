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
    const std::string said = entry.value("path", json()).is_string() ? entry["path"].get<std::string>() : "";
    if (said.empty()) keys.error(Form("CFG-MISSING", "path"), key);
    const std::string place = absolute_path(config.base_dir, said);
    if (exists(place) || looks_like_path(said)) entry["path"] = place;
    return json::array({entry});
}

namespace {

/// Before version 0.13 axolotl ignored val_set_size for a stream; newer versions refuse it.
void check_share(KeyReader& keys) {
    const json* share = keys.find("val_set_size");
    if (!share || !is_on(*share)) return;
    const json* strategy = keys.find(keys.has("eval_strategy") ? "eval_strategy" : "evaluation_strategy");
    if (strategy && (*strategy == "no" || *strategy == false))
        keys.warn(Form("CFG-CONFLICT", "stream-share-idle"), "val_set_size");
    else
        keys.error(Form("CFG-CONFLICT", "stream-share"), "val_set_size");
}

}  // namespace

void check_stream(KeyReader& keys, const Config& config) {
    const std::string key = "pretraining_dataset";
    if (!keys.has("max_steps")) {
        keys.missing(Form("CFG-MISSING", "max_steps"), "max_steps", key);
    }
    check_share(keys);
    if (config.tokenization.value("dataset_exact_deduplication", false)) {
        keys.error(Form("CFG-CONFLICT", "stream-duplicates"), "dataset_exact_deduplication");
    }
}

}  // namespace ringmaster
