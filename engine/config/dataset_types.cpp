#include "engine/config/dataset_types.h"

#include <algorithm>
#include <array>

#include "engine/config/keys.h"
#include "engine/words/spelling.h"

namespace ringmaster {
namespace {

constexpr std::array kStyled{"alpaca",   "concisechoice", "explainchoice", "gpteacher",
                             "jeopardy", "oasst",         "reflection",    "summarizetldr"};
constexpr std::array kStyles{"instruct", "chat", "chatml", "phi"};
constexpr std::array kPlain{"chat_template",
                            "completion",
                            "input_output",
                            "sharegpt",
                            "sharegpt:chat",
                            "sharegpt.load_role",
                            "sharegpt.load_ultrachat",
                            "sharegpt.load_guanaco",
                            "sharegpt.load_glaive",
                            "alpaca_chat",
                            "alpaca_chat.load_concise",
                            "alpaca_chat.load_qa",
                            "alpaca_chat.load_camel_ai",
                            "alpaca_chat.load_no_prompt",
                            "alpaca_instruct",
                            "alpaca_instruct.load_no_prompt",
                            "alpaca_w_system",
                            "alpaca_w_system.load_chat",
                            "alpaca_w_system.load_instruct",
                            "alpaca_w_system.load_open_orca",
                            "alpaca_w_system.load_open_orca_chatml",
                            "context_qa",
                            "context_qa.load_404",
                            "context_qa.load_v2",
                            "creative_acr.load_answer",
                            "creative_acr.load_critique",
                            "creative_acr.load_revise",
                            "llama2_chat",
                            "metharme",
                            "orcamini",
                            "pygmalion"};
/// Prefixes of dataset types whose rows are preferences, rewards or labelled steps.
constexpr std::array kJudged{"bradley_terry", "stepwise_supervised",     "dpo",    "kto",         "orpo",
                             "ebft",          "ebft_pretrain",           "chatml", "llama3",      "zephyr",
                             "ebft_opencode", "ebft_strided_structured", "rwd",    "user_defined"};

constexpr std::array kPaired{"default", "argilla_chat", "icr", "intel", "prompt_pairs", "ultra"};
constexpr std::array kDesired{"argilla", "argilla_chat", "intel", "prompt_pairs", "ultra"};
constexpr std::array kOtherPairs{"chat_template", "chat_template.default", "chat_template.argilla_chat",
                                 "zephyr.nectar", "passthrough",           "passthrough.default"};

std::string first_part(const std::string& type) {
    return type.substr(0, type.find_first_of(".:"));
}

template <class Words>
bool contains(const Words& words, const std::string& word) {
    return std::find(words.begin(), words.end(), word) != words.end();
}

}  // namespace

const std::vector<std::string>& dataset_types() {
    static const std::vector<std::string> types = [] {
        std::vector<std::string> all(kPlain.begin(), kPlain.end());
        for (const std::string kind : kStyled) {
            all.push_back(kind);
            for (const std::string style : kStyles) {
                const bool known = kind != "reflection" || style == "instruct" || style == "chat";
                if (known) all.push_back(kind + ':' + style);
            }
        }
        return all;
    }();
    return types;
}

std::vector<std::string> step_types() {
    return {"stepwise_supervised"};
}

std::vector<std::string> preference_types(PreferenceMethod method) {
    if (method == PreferenceMethod::Orpo) return {"chat_template.argilla"};
    if (method == PreferenceMethod::Reward) return {"bradley_terry.chat_template"};
    std::vector<std::string> types;
    for (const std::string form : {"chatml", "llama3"}) {
        if (method == PreferenceMethod::Kto) {
            for (const char* kind : kDesired) types.push_back(form + '.' + kind);
            continue;
        }
        types.push_back(form);
        for (const char* kind : kPaired) types.push_back(form + '.' + kind);
    }
    if (method != PreferenceMethod::Kto) types.insert(types.end(), kOtherPairs.begin(), kOtherPairs.end());
    return types;
}

std::string today_of_type(const std::string& type) {
    constexpr std::string_view kFormer = ".argilla";
    if (!type.ends_with(kFormer)) return "";
    return type.substr(0, type.size() - kFormer.size()) + ".default";
}

const std::vector<std::string>& preference_mapping_keys(PreferenceMethod method) {
    static const std::vector<std::string> paired{"field_system",   "field_prompt",  "field_chosen",
                                                 "field_rejected", "prompt_format", "chosen_format",
                                                 "rejected_format"};
    static const std::vector<std::string> desired{"field_system", "field_prompt",  "field_completion",
                                                  "field_label",  "prompt_format", "completion_format"};
    return method == PreferenceMethod::Kto ? desired : paired;
}

const std::vector<std::string>& field_mapping_keys() {
    static const std::vector<std::string> keys{
        "system_prompt", "system_format", "field_system", "field_instruction",
        "field_input",   "field_output",  "format",       "no_input_format"};
    return keys;
}

TypeFault fault_of_type(const std::string& type) {
    const std::string first = first_part(type);
    if (contains(kJudged, first) || type == "chat_template.argilla" || type == "chat_template.default") {
        return {Form("CFG-DATASET-TYPE", "compared"), {{"value", type}}};
    }
    std::string dotted = type;
    if (const auto colon = type.find(":load_"); colon != std::string::npos) dotted[colon] = '.';
    const std::string nearest = first == "pretrain"                 ? "completion"
                                : first == "sharegpt"               ? "sharegpt"
                                : contains(dataset_types(), dotted) ? dotted
                                : contains(dataset_types(), first)  ? first
                                                                    : nearest_word(type, dataset_types());
    return {Form("CFG-DATASET-TYPE", nearest.empty() ? "unknown" : "near"),
            {{"value", type}, {"nearest", nearest}}};
}

}  // namespace ringmaster
