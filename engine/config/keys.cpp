#include "engine/config/keys.h"

#include <algorithm>
#include <array>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/config/document.h"
#include "engine/config/key_history.h"
#include "engine/config/key_reader.h"
#include "engine/config/key_table.h"
#include "engine/config/other_names.h"
#include "engine/config/trackers.h"
#include "engine/words/spelling.h"

namespace ringmaster {
namespace {

using nlohmann::json;

const std::map<std::string_view, KeyRule>& rules() {
    static const std::map<std::string_view, KeyRule> table = [] {
        std::map<std::string_view, KeyRule> made;
        for (const KeyGroup& group : key_groups()) {
            for (std::string_view rest = group.keys; !rest.empty();) {
                const std::string_view key = rest.substr(0, rest.find(' '));
                made.emplace(key, KeyRule{key, group.fate, group.why, group.hint, group.part_of});
                rest.remove_prefix(std::min(key.size() + 1, rest.size()));
            }
        }
        return made;
    }();
    return table;
}

constexpr int kMaxUnknown = 50;

/// Lists keys that are used but change only what is reported or kept.
constexpr std::array<std::string_view, 5> kQuietKeys{"dataset_prepared_path", "ddp_timeout", "logging_steps",
                                                     "save_total_limit", "strict"};

/// axolotl 0.3 to 0.11 switched ReLoRA on by this key; from 0.12 on the key is `relora`.
constexpr std::string_view kOldRelora = "relora_steps";

/// Returns the keys whose presence or absence changes what is trained.
std::vector<std::string> training_keys() {
    std::vector<std::string> keys;
    for (const auto& [key, rule] : rules()) {
        const bool quiet =
            is_tracker_key(key) || std::find(kQuietKeys.begin(), kQuietKeys.end(), key) != kQuietKeys.end();
        if (rule.fate != Fate::NoEffect && !quiet) keys.emplace_back(key);
    }
    return keys;
}

/// Returns "why (axolotl 0.1.0-0.4.0 had it)" for a key that axolotl dropped.
std::string with_past(std::string_view key, std::string_view why) {
    const std::string past = past_of(key);
    return std::string(why) + (past.empty() ? "" : " (" + past + ")");
}

/// Returns true if the key named by `rule.part_of` is switched on.
bool whole_is_on(const Document& document, const KeyRule& rule) {
    const json* value = document.find(rule.part_of);
    return value && is_on(*value);
}

class Judge {
  public:
    Judge(const Document& document, Diagnostics& diagnostics)
        : m_document(document), m_diagnostics(diagnostics) {}

    KeyVerdicts verdicts() {
        for (const std::string& key : m_document.top_level_keys()) judge(key);
        if (m_unknown > kMaxUnknown) {
            say(Severity::Error, Form("KEY-UNKNOWN", "many"), "", {{"more", m_unknown - kMaxUnknown}});
        }
        return std::move(m_verdicts);
    }

  private:
    void judge(const std::string& key) {
        const KeyRule* rule = find_key(key);
        if (!rule) return judge_unknown(key);
        if (!rule->part_of.empty() && key != kOldRelora && !whole_is_on(m_document, *rule)) {
            return no_effect(key, "only means something with " + std::string(rule->part_of));
        }
        if (rule->fate == Fate::Used) return m_verdicts.used.push_back(key);
        if (rule->fate == Fate::NoEffect) return no_effect(key, with_past(key, rule->why));
        if (const auto fault = fault_of(*rule, m_document)) return unsupported(key, *rule, *fault);
        const bool on = is_on(m_document.values.at(key));
        no_effect(key, on ? "this value changes nothing that is trained here" : "switched off");
    }

    void judge_unknown(const std::string& key) {
        if (m_document.anchor_holders.contains(key)) {
            return no_effect(key, "only holds values that other places of the file repeat");
        }
        const bool counts = ++m_unknown <= kMaxUnknown;
        const std::string meant = counts ? misspelt_word(key, m_training) : "";
        if (!meant.empty()) return judge_misspelt(key, meant);
        const char* why = "not a key of axolotl: nothing reads it";
        const bool strict = is_strict();
        if (!strict) no_effect(key, why);
        if (strict) m_verdicts.unsupported.push_back({key, why});
        if (!counts) return;
        say(strict ? Severity::Error : Severity::Warning, Form("KEY-UNKNOWN", strict ? "strict" : "idle"),
            key, {}, renamings(key, meant_key(key, m_known)));
    }

    void judge_misspelt(const std::string& key, const std::string& meant) {
        m_verdicts.unsupported.push_back({key, "not a key of axolotl, but close to " + meant});
        FindingValues parameters{{"meant", meant}};
        if (m_document.values.contains(meant)) parameters["doubled"] = key;
        say(Severity::Error, Form("KEY-UNKNOWN", "misspelt"), key, std::move(parameters),
            renamings(key, meant));
    }

    /// Returns a fix that renames the key to the intended name, unless the file already has that name.
    std::vector<Fix> renamings(const std::string& key, const std::string& name) const {
        if (name.empty() || m_document.values.contains(name)) return {};
        return {{{{key, "", true}, {name, one_line_of(m_document.values.at(key))}}}};
    }

    bool is_strict() const {
        const json* strict = m_document.find("strict");
        return strict && is_on(*strict);
    }

    void no_effect(const std::string& key, std::string why) {
        m_verdicts.no_effect.push_back({key, std::move(why)});
    }

    void unsupported(const std::string& key, const KeyRule& rule, const KeyFault& fault) {
        m_verdicts.unsupported.push_back({key, fault.message});
        // If this key is part of an unsupported key, that key's diagnostic is enough.
        const KeyRule* whole = find_key(rule.part_of);
        if (!whole || whole->fate == Fate::Used || !whole_is_on(m_document, rule))
            say_unsupported(key, rule, fault);
    }

    void say_unsupported(const std::string& key, const KeyRule& rule, const KeyFault& fault) {
        const std::string past = past_of(key);
        say(Severity::Error, Form("KEY-UNSUPPORTED", past.empty() ? "key" : "key-past"), key,
            {{"value", fault.value},
             {"why", std::string(rule.why)},
             {"past", past},
             {"advice", std::string(rule.hint)}},
            fault.fixes);
    }

    void say(Severity severity, const Form& form, const std::string& key, FindingValues parameters,
             std::vector<Fix> fixes = {}) {
        m_diagnostics.push_back(
            finding(severity, form, key, m_document.line(key), std::move(parameters), std::move(fixes)));
    }

    void say(Severity severity, const char* code, const std::string& key, const std::string& message,
             const std::string& hint, const std::vector<Fix>& fixes = {}) {
        m_diagnostics.push_back({severity, code, key, m_document.line(key), message, hint, "", {}, fixes});
    }

    const Document& m_document;
    Diagnostics& m_diagnostics;
    KeyVerdicts m_verdicts;
    const std::vector<std::string> m_known = known_keys();
    const std::vector<std::string> m_training = training_keys();
    int m_unknown = 0;
};

}  // namespace

const KeyRule* find_key(std::string_view key) {
    const auto found = rules().find(key);
    return found == rules().end() ? nullptr : &found->second;
}

std::vector<std::string> known_keys() {
    std::vector<std::string> keys;
    for (const auto& [key, rule] : rules()) keys.emplace_back(key);
    return keys;
}

bool is_on(const json& value) {
    switch (value.type()) {
        case json::value_t::null:
            return false;
        case json::value_t::boolean:
            return value.get<bool>();
        case json::value_t::number_integer:
        case json::value_t::number_unsigned:
        case json::value_t::number_float:
            return value.get<double>() != 0;
        case json::value_t::string: {
            const auto& text = value.get_ref<const std::string&>();
            return !text.empty() && text != "none" && text != "None" && text != "false" && text != "False";
        }
        default:
            return !value.empty();
    }
}

KeyVerdicts judge_keys(const Document& document, Diagnostics& diagnostics) {
    return Judge(document, diagnostics).verdicts();
}

}  // namespace ringmaster
