#include "engine/config/read_stream.h"

#include "engine/config/keys.h"
#include "engine/config/paths.h"

namespace ringmaster {

using nlohmann::json;

/// order.
json read_stream(KeyReader& keys, Config& config) {
    const std::string key = "pretraining_dataset";
    const json& value = *keys.find(key);
    json entry = value.is_array() && !value.empty() ? value[0] : value;
    const bool named = entry.is_string();
    if (named) entry = json{{"path", entry}};
    if (!entry.is_object()) {
        keys.error("CFG-TYPE", key,
                   key + " is " + shown(value) + ", it has to be a path or an entry with a path",
                   key + ":\n  - path: <a file, a folder or a hub id>\n    type: pretrain");
        return json::array();
    }
    if (value.is_array() && value.size() > 1)
        keys.warn("CFG-CONFLICT", key, key + " has several entries, and axolotl reads the first alone",
                  "leave the others out");
    const std::string type = entry.value("type", json("pretrain")).dump();
    if (type != "\"pretrain\"" && type != "\"completion\"")
        keys.error("CFG-DATASET-TYPE", named ? key : key + ".0.type", key + " has type " + type,
                   "type: pretrain, or completion");
    entry["type"] = type == "\"completion\"" ? "completion" : "pretrain";
    entry["streamed"] = true;
    const std::string said = entry.value("path", json()).is_string() ? entry["path"].get<std::string>() : "";
    if (said.empty())
        keys.error("CFG-MISSING", key, key + " has no path", "path: <a file, a folder or a hub id>");
    const std::string place = absolute_path(config.base_dir, said);
    if (exists(place) || looks_like_path(said)) entry["path"] = place;
    return json::array({entry});
}

void check_stream(KeyReader& keys, const Config& config) {
    const std::string key = "pretraining_dataset";
    if (!keys.has("max_steps")) {
        keys.missing("max_steps", key, "max_steps is missing: a stream has no length of its own",
                     "max_steps: 1000");
    }
    const json* share = keys.find("val_set_size");
    if (share && is_on(*share)) {
        keys.error("CFG-CONFLICT", "val_set_size", "val_set_size sets rows aside, which a stream cannot",
                   "name test_datasets instead");
    }
    if (config.tokenization.value("dataset_exact_deduplication", false)) {
        keys.error("CFG-CONFLICT", "dataset_exact_deduplication", "a stream's rows are not compared",
                   "dataset_exact_deduplication: false");
    }
}

}  // namespace ringmaster
