#include "engine/config/keys.h"

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <numeric>

#include "engine/config/document.h"
#include "engine/config/key_table.h"

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

/// Levenshtein distance, where swapping two neighbours is one step too.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = last;
        std::swap(last, row);
    }
    return last[b.size()];
}

constexpr int kMaxUnknown = 50;

/// Whether the key that this one is a part of is switched on.
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
            say("KEY-UNKNOWN", "",
                std::to_string(m_unknown - kMaxUnknown) + " more keys are none of axolotl's",
                "is it the right file?");
        }
        return std::move(m_verdicts);
    }

  private:
    void judge(const std::string& key) {
        const KeyRule* rule = find_key(key);
        if (!rule) return judge_unknown(key);
        if (!rule->part_of.empty() && !whole_is_on(m_document, *rule)) {
            return no_effect(key, "only means something with " + std::string(rule->part_of));
        }
        if (rule->fate == Fate::Used) return m_verdicts.used.push_back(key);
        if (rule->fate == Fate::NoEffect) return no_effect(key, std::string(rule->why));
        if (const auto fault = fault_of(*rule, m_document)) return unsupported(key, *rule, *fault);
        no_effect(key, "switched off");
    }

    void judge_unknown(const std::string& key) {
        if (m_document.anchor_holders.contains(key)) {
            return no_effect(key, "only holds values that other places of the file repeat");
        }
        m_verdicts.unsupported.push_back({key, "not a key of axolotl"});
        if (++m_unknown > kMaxUnknown) return;
        const std::string nearest = nearest_word(key, m_known);
        say("KEY-UNKNOWN", key, key + " is not a key of axolotl: whatever it asks for would not happen",
            nearest.empty() ? "leave it out" : "did you mean " + nearest + "?");
    }

    void no_effect(const std::string& key, std::string why) {
        m_verdicts.no_effect.push_back({key, std::move(why)});
    }

    void unsupported(const std::string& key, const KeyRule& rule, const KeyFault& fault) {
        m_verdicts.unsupported.push_back({key, fault.message});
        // What is part of an unsupported whole is named by the whole's own diagnostic.
        const KeyRule* whole = find_key(rule.part_of);
        if (!whole || whole->fate == Fate::Used) say("KEY-UNSUPPORTED", key, fault.message, fault.hint);
    }

    void say(const char* code, const std::string& key, const std::string& message, const std::string& hint) {
        m_diagnostics.push_back({Severity::Error, code, key, m_document.line(key), message, hint});
    }

    const Document& m_document;
    Diagnostics& m_diagnostics;
    KeyVerdicts m_verdicts;
    const std::vector<std::string> m_known = known_keys();
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

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t kShortWord = 4;
    std::string nearest;
    std::size_t best = word.size() <= kShortWord ? 2 : std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const std::string& candidate : known) {
        const std::size_t longer = std::max(candidate.size(), word.size());
        const std::size_t shorter = std::min(candidate.size(), word.size());
        if (longer - shorter >= best) continue;
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best && distance < longer) {
            best = distance;
            nearest = candidate;
        }
    }
    if (!nearest.empty() || word.size() < kShortWord) return nearest;
    const auto longer_form = std::find_if(known.begin(), known.end(), [&](const std::string& candidate) {
        return candidate.starts_with(word) || candidate.ends_with("_" + std::string(word));
    });
    return longer_form == known.end() ? std::string() : *longer_form;
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
