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
        keys.error("CFG-MISSING", "chat_template",
                   "chat_template is jinja, and chat_template_jinja is missing",
                   "chat_template_jinja: <a template, or the path of one>");
    }
    if (const json* arguments = keys.find("chat_template_kwargs")) {
        if (arguments->is_object()) {
            config.tokenization["chat_template_kwargs"] = *arguments;
        } else {
            keys.error("CFG-TYPE", "chat_template_kwargs",
                       "chat_template_kwargs is " + shown(*arguments) + ", it has to be a mapping");
        }
    }
}

void read_tokenization(KeyReader& keys, Config& config) {
    read_chat_template(keys, config);
    if (const auto flag = keys.flag("train_on_inputs")) config.tokenization["train_on_inputs"] = *flag;
    if (const auto least = keys.whole("min_sample_len", {0})) config.tokenization["min_sample_len"] = *least;
    const json* ends = keys.find("eot_tokens");
    if (!ends) return;
    const bool texts = ends->is_array() && std::all_of(ends->begin(), ends->end(),
                                                       [](const json& token) { return token.is_string(); });
    if (!texts) return keys.error("CFG-TYPE", "eot_tokens", "eot_tokens has to be a list of tokens as text");
    config.tokenization["eot_tokens"] = *ends;
}

void read_validation_share(KeyReader& keys, Config& config) {
    take(config.val_set_size, keys.number("val_set_size"));
    if (config.val_set_size > 1 && config.val_set_size != std::floor(config.val_set_size)) {
        keys.error("CFG-RANGE", "val_set_size",
                   "val_set_size is " + shown(config.val_set_size) +
                       ": a share of the rows is below 1, a number of rows whole",
                   "val_set_size: 0.05");
        config.val_set_size = 0;
    } else if (config.val_set_size == 1) {
        keys.error("CFG-RANGE", "val_set_size",
                   "val_set_size is 1: all rows would be set aside, none would train", "val_set_size: 0.05");
        config.val_set_size = 0;
    }
}

}  // namespace

void read_data(KeyReader& keys, Config& config) {
    read_tokenization(keys, config);
    if (const auto path = keys.text("dataset_prepared_path"); path && !path->empty()) {
        config.dataset_prepared_path = absolute_path(config.base_dir, *path);
    }
    read_datasets(keys, config);
    read_validation_share(keys, config);
    if (config.val_set_size > 0 && !config.test_datasets.empty()) {
        keys.error(
            "CFG-CONFLICT", "test_datasets",
            "test_datasets and val_set_size " + shown(config.val_set_size) + " both say what to evaluate on",
            "val_set_size: 0, or leave test_datasets out");
    }
    take(config.sequence_len, keys.whole("sequence_len"));
    take(config.excess_length, keys.choice<ExcessLength>("excess_length_strategy"));
    take(config.sample_packing, keys.flag("sample_packing"));
    const auto pad = keys.flag("pad_to_sequence_len");
    config.padding.to_sequence_len = pad.value_or(config.sample_packing);
    take(config.curriculum_sampling, keys.flag("curriculum_sampling"));
    take(config.seed, keys.whole("seed", {0}));
}

}  // namespace ringmaster
