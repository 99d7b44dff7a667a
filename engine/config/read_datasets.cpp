// Reads `datasets` and `test_datasets`: checks entries and keeps them, with absolute local paths.
#include <algorithm>
#include <filesystem>
#include <map>

#include "engine/config/dataset_types.h"
#include "engine/config/keys.h"
#include "engine/config/paths.h"
#include "engine/config/read_stream.h"
#include "engine/config/sections.h"
#include "engine/words/spelling.h"

namespace ringmaster {
namespace {

using nlohmann::json;

using Words = std::vector<std::string>;

const Words kFileTypes{"json", "jsonl", "parquet", "arrow", "csv", "text"};
const Words kDataSuffixes{".json", ".jsonl", ".ndjson", ".parquet", ".arrow", ".csv", ".txt"};
const Words kCompressions{".gz", ".bz2", ".xz"};

/// Keys of an entry that axolotl knows, grouped by their meaning here.
const Words kReadKeys{"path",
                      "type",
                      "ds_type",
                      "data_files",
                      "name",
                      "split",
                      "train_on_split",
                      "revision",
                      "trust_remote_code",
                      "field",
                      "field_messages",
                      "field_system",
                      "field_tools",
                      "field_thinking",
                      "template_thinking_key",
                      "message_property_mappings",
                      "message_field_role",
                      "message_field_content",
                      "message_field_training",
                      "roles",
                      "roles_to_train",
                      "train_on_eos",
                      "train_on_eot",
                      "chat_template",
                      "chat_template_jinja",
                      "drop_system_message",
                      "message_field_training_detail",
                      "split_thinking",
                      "conversation",
                      "field_human",
                      "field_model",
                      "strict",
                      "shards",
                      "shards_idx",
                      "preprocess_shards"};
const Words kRefusedKeys{"input_transform",
                         "input_format",
                         "field_chosen",
                         "field_rejected",
                         "step_separator",
                         "max_completion_length",
                         "train_on_last_step_only",
                         "length",
                         "sequence_length",
                         "min_input_id",
                         "max_input_id",
                         "skip",
                         "streaming",
                         "temperature"};
const Words kStepKeys{"step_separator", "max_completion_length",
                      "train_on_last_step_only"};           ///< read only for types whose steps are labelled
const Words kAnswerKeys{"field_chosen", "field_rejected"};  ///< read only under `rl`
const Words kIdleKeys{"field_instruction", "field_input", "field_output", "logprobs_field", "text_column"};
const Words kEndWords{"all", "turn", "last", "none"};

bool contains(const Words& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

bool has_data_suffix(const std::string& path) {
    std::filesystem::path name = path;
    if (contains(kCompressions, name.extension().string())) name = name.stem();
    return contains(kDataSuffixes, name.extension().string());
}

bool is_pattern(const std::string& path) {
    return path.find_first_of("*?[") != std::string::npos;
}

bool is_address(const std::string& path) {
    return path.find("://") != std::string::npos;
}

class EntryReader {
  public:
    EntryReader(KeyReader& keys, const Config& config, std::string where, json entry)
        : m_keys(keys), m_config(config), m_where(std::move(where)), m_entry(std::move(entry)) {}

    json read() {
        check_keys();
        check_type();
        check_file_type();
        check_values();
        check_shards();
        resolve_path();
        return std::move(m_entry);
    }

  private:
    std::string at(const std::string& key) const { return m_where + '.' + key; }

    void check_keys() {
        for (const auto& [key, value] : m_entry.items()) {
            if (contains(kReadKeys, key) || contains(kIdleKeys, key)) continue;
            if (m_config.preference.on() && contains(kAnswerKeys, key)) continue;
            if (m_config.token_labels > 0 && contains(kStepKeys, key)) continue;
            if (!contains(kRefusedKeys, key)) {
                judge_unknown(key);
            } else if (is_on(value)) {
                m_keys.error(Form("KEY-UNSUPPORTED", "rows"), at(key));
            }
        }
    }

    /// Reports an unknown key of a dataset, which axolotl ignores: an error if it resembles a known key or if
    /// `strict: true` is set, else a warning.
    void judge_unknown(const std::string& key) {
        constexpr int kMost = 20;
        if (++m_unknown > kMost) return;
        Words known = kReadKeys;
        known.insert(known.end(), kRefusedKeys.begin(), kRefusedKeys.end());
        const std::string nearest = misspelt_word(key, known);
        std::vector<Fix> fixes;
        if (!nearest.empty() && !m_entry.contains(nearest))
            fixes.push_back(m_keys.renaming(at(key), nearest));
        if (nearest.empty() && !m_keys.flag("strict").value_or(false))
            m_keys.warn(Form("KEY-UNKNOWN", "dataset-idle"), at(key));
        else
            m_keys.error(Form("KEY-UNKNOWN", "dataset"), at(key), {}, std::move(fixes));
    }

    void check_type() {
        const json* type = m_keys.find(at("type"));
        if (!type) return;
        if (m_config.sampling) return check_transform(*type);
        if (m_config.policy) {
            if (is_on(*type))
                m_keys.error(Form("CFG-DATASET-TYPE", "rollouts"), at("type"), {{"value", shown(*type)}});
            return;
        }
        if (type->is_object()) return check_mapping(*type);
        const auto word = m_keys.text(at("type"));
        if (m_config.preference.on() || m_config.token_labels > 0)
            return check_judged_type(word.value_or(""));
        if (!word || word->empty() || contains(dataset_types(), *word)) return;
        const TypeFault fault = fault_of_type(*word);
        m_keys.error(fault.form, at("type"), fault.parameters);
    }

    /// Checks `type` for rows that are prompts. The key may be absent, or name a user's function that makes
    /// prompts from a row.
    void check_transform(const json& type) {
        if (!is_on(type)) return;
        const std::string word = type.is_string() ? type.get<std::string>() : "";
        const size_t dot = word.rfind('.');
        if (dot == std::string::npos || dot == 0 || dot + 1 == word.size())
            m_keys.error(Form("CFG-DATASET-TYPE", "prompts"), at("type"), {{"value", shown(type)}});
    }

    void check_judged_type(const std::string& word) {
        const Words types =
            m_config.token_labels > 0 ? step_types() : preference_types(m_config.preference.method);
        if (word.empty() || contains(types, word)) return;
        const std::string today = today_of_type(word);
        const std::string nearest = contains(types, today) ? today : nearest_word(word, types);
        m_keys.error(Form("CFG-DATASET-TYPE", nearest.empty() ? "preference" : "preference-near"), at("type"),
                     {{"value", word}, {"nearest", nearest}, {"known", listed(types)}});
    }

    /// Checks `type: {field_instruction: …, format: …}`, which names the fields of a row's prompt.
    void check_mapping(const json& mapping) {
        const Preference& preference = m_config.preference;
        const Words& known =
            preference.on() ? preference_mapping_keys(preference.method) : field_mapping_keys();
        for (const auto& [key, value] : mapping.items()) {
            const std::string path = at("type") + '.' + key;
            if (contains(known, key)) {
                m_keys.text(path);
                continue;
            }
            const std::string nearest = nearest_word(key, known);
            m_keys.error(Form("KEY-UNKNOWN", nearest.empty() ? "fields" : "fields-near"), path,
                         {{"nearest", nearest}});
        }
    }

    void check_values() {
        for (const char* key : {"train_on_eos", "train_on_eot"}) m_keys.word(at(key), kEndWords);
        for (const char* key : {"split_thinking", "drop_system_message", "trust_remote_code"})
            m_keys.flag(at(key));
        for (const char* key :
             {"field", "field_messages", "field_system", "field_tools", "field_thinking", "chat_template",
              "chat_template_jinja", "conversation", "revision", "field_chosen", "field_rejected"})
            m_keys.text(at(key));
    }

    void check_shards() {
        const auto shards = m_keys.whole(at("shards"));
        const auto index = m_keys.whole(at("shards_idx"), {0});
        m_keys.whole(at("preprocess_shards"));
        if (!index || *index < shards.value_or(1)) return;
        m_keys.error(Form("CFG-RANGE", shards ? "shard" : "shard-alone"), at("shards_idx"),
                     {{"value", *index}, {"shards", shards.value_or(1)}});
    }

    void check_file_type() { m_keys.word(at("ds_type"), kFileTypes); }

    void resolve_path() {
        const auto path = m_keys.text(at("path"));
        if (!path || path->empty()) {
            if (!m_keys.has(at("path"))) {
                m_keys.error(Form("CFG-MISSING", "path"), m_where);
            } else if (path) {
                m_keys.error(Form("CFG-MISSING", "path-empty"), at("path"));
            }
            return;
        }
        if (contains(kFileTypes, *path) && m_entry.contains("data_files")) return resolve_files();
        if (is_address(*path)) return;
        const std::string place = absolute_path(m_config.base_dir, *path);
        const bool there = exists(place);
        if (!there && !is_pattern(*path) && !looks_like_path(*path) && !has_data_suffix(*path))
            return refuse_code();  // the path is a hub id
        m_entry["path"] = place;
        if (!there && !is_pattern(*path)) say_missing(at("path"), place);
    }

    /// Resolves `data_files` of an entry with `path: json`, in the forms that load_dataset accepts.
    void resolve_files() {
        json& files = m_entry["data_files"];
        if (files.is_string()) files = json::array({files});
        if (!files.is_array()) {
            return m_keys.error(Form("CFG-TYPE", "paths"), at("data_files"));
        }
        for (json& file : files) {
            if (!file.is_string()) {
                return m_keys.error(Form("CFG-TYPE", "paths"), at("data_files"));
            }
            const std::string said = file.get<std::string>();
            if (is_address(said)) continue;
            file = absolute_path(m_config.base_dir, said);
            if (!is_pattern(said) && !exists(file.get<std::string>()))
                say_missing(at("data_files"), file.get<std::string>());
        }
    }

    /// Rejects hub datasets that run a script to load their rows (trust_remote_code).
    void refuse_code() {
        const auto found = m_entry.find("trust_remote_code");
        if (found == m_entry.end() || !is_on(*found)) return;
        m_keys.error(Form("KEY-UNSUPPORTED", "remote-code"), at("trust_remote_code"));
    }

    void say_missing(const std::string& key, const std::string& place) {
        m_keys.warn(Form("CFG-DATASET-MISSING"), key, {{"path", place}, {"folder", m_config.base_dir}});
    }

    KeyReader& m_keys;
    const Config& m_config;
    std::string m_where;
    json m_entry;
    int m_unknown = 0;
};

json read_entries(KeyReader& keys, const Config& config, const std::string& key) {
    json entries = json::array();
    const json* list = keys.find(key);
    if (!list) return entries;
    if (!list->is_array()) {
        keys.error(Form("CFG-TYPE", "entries"), key, {{"value", shown(*list)}});
        return entries;
    }
    for (std::size_t i = 0; i < list->size(); ++i) {
        const std::string where = key + '.' + std::to_string(i);
        if (!(*list)[i].is_object()) {
            keys.error(Form("CFG-TYPE", "entry"), where, {{"value", shown((*list)[i])}});
            continue;
        }
        entries.push_back(EntryReader(keys, config, where, (*list)[i]).read());
    }
    return entries;
}

}  // namespace

void read_datasets(KeyReader& keys, Config& config) {
    if (keys.has("pretraining_dataset") && !keys.find("pretraining_dataset")->is_null()) {
        config.datasets = read_stream(keys, config);
        config.test_datasets = read_entries(keys, config, "test_datasets");
        return check_stream(keys, config);
    }
    config.datasets = read_entries(keys, config, "datasets");
    config.test_datasets = read_entries(keys, config, "test_datasets");
    stream_datasets(keys, config);
    const json* list = keys.find("datasets");
    const bool none = !list || (list->is_array() && list->empty());
    const bool are_elsewhere =
        !config.dataset_prepared_path.empty() || (config.policy && config.policy->folder);
    if (none && !config.accelerate_only && !are_elsewhere) {
        keys.error(Form("CFG-MISSING", "datasets"), "datasets");
    }
}

}  // namespace ringmaster
