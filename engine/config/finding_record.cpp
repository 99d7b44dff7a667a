#include "engine/config/finding_record.h"

#include <algorithm>
#include <cctype>
#include <cstdio>
#include <optional>
#include <sstream>

#include "engine/config/key_reader.h"

namespace ringmaster {

/// Written by embed_findings.cmake: the files of resources/findings, one after the other.
extern const char* const kFindingFiles;

namespace {

// -------------------------------------------------------------------------------------------- reading

/// "message below: text" without its first word: form and text.
std::pair<std::string, std::string> form_and_text(const std::string& line, size_t word) {
    const size_t colon = line.find(':');
    const std::string form = colon > word + 1 ? line.substr(word + 1, colon - word - 1) : "";
    return {form, line.size() > colon + 2 ? line.substr(colon + 2) : ""};
}

class RecordReader {
  public:
    void take(const std::string& line) {
        if (line.starts_with("```")) m_in_example = !m_in_example;
        if (line.starts_with("# ") && !m_in_example) {
            m_record = &m_records[line.substr(2)];
            m_texts = nullptr;
        } else if (line.starts_with("## ")) {
            m_texts = &m_record->texts[line.substr(3)];
            m_head = true;
        } else if (m_texts == nullptr) {
            if (line.starts_with("fix")) m_record->fixes.push_back(form_and_text(line, 3));
        } else if (m_head) {
            take_head(line);
        } else {
            m_texts->explanation += line + "\n";
        }
    }

    std::map<std::string, FindingRecord> records() { return std::move(m_records); }

  private:
    void take_head(const std::string& line) {
        if (line.starts_with("title: ")) m_texts->title = line.substr(7);
        if (line.starts_with("message")) m_texts->messages.insert(form_and_text(line, 7));
        if (line.starts_with("hint")) m_texts->hints.insert(form_and_text(line, 4));
        if (line.starts_with("effect")) m_texts->effects.insert(form_and_text(line, 6));
        if (line.starts_with("phrase ")) take_phrase(line.substr(7));
        if (line.empty()) m_head = false;
    }

    void take_phrase(const std::string& line) {
        constexpr std::string_view kBetween = " => ";
        const size_t at = line.find(kBetween);
        if (at != line.npos) m_texts->phrases[line.substr(0, at)] = line.substr(at + kBetween.size());
    }

    std::map<std::string, FindingRecord> m_records;
    FindingRecord* m_record = nullptr;
    FindingTexts* m_texts = nullptr;
    bool m_head = false;
    bool m_in_example = false;  ///< in a block of code, where # begins a remark
};

// ------------------------------------------------------------------------------------------ rendering

std::string grouped_by_thousands(int64_t number) {
    std::string digits = std::to_string(number);
    const int64_t first = number < 0 ? 1 : 0;
    for (auto at = static_cast<int64_t>(digits.size()) - 3; at > first; at -= 3)
        digits.insert(static_cast<size_t>(at), ",");
    return digits;
}

std::string in_gib(double bytes) {
    char text[32];
    std::snprintf(text, sizeof text, "%.1f GiB", bytes / double(int64_t{1} << 30));
    return text;
}

/// A value in a sentence (1,048,576; 3.2 GiB) or in a file (1048576).
struct Writer {
    bool for_file;
    bool is_bytes;

    std::string operator()(bool value) const { return value ? "true" : "false"; }
    std::string operator()(int64_t value) const {
        if (for_file) return std::to_string(value);
        return is_bytes ? in_gib(double(value)) : grouped_by_thousands(value);
    }
    std::string operator()(double value) const { return is_bytes ? in_gib(value) : shown(value); }
    std::string operator()(const std::string& value) const { return value; }
    template <class Item>
    std::string operator()(const std::vector<Item>& values) const {
        std::string text;
        for (const Item& value : values) text += (text.empty() ? "" : ", ") + (*this)(value);
        return text;
    }
};

/// {name}, {name!}, {name~} or {name|one|many}.
struct Slot {
    explicit Slot(std::string_view inside) : name(inside.substr(0, inside.find('|'))) {
        as_in_file = name.ends_with('!');
        is_phrase = name.ends_with('~');
        if (as_in_file || is_phrase) {
            name.pop_back();
            return;
        }
        if (name.size() == inside.size()) return;
        const std::string_view words = inside.substr(name.size() + 1);
        one = words.substr(0, words.find('|'));
        many = words.substr(words.find('|') + 1);
    }
    std::string name;
    std::string_view one, many;
    bool as_in_file = false, is_phrase = false;
};

using Phrases = std::map<std::string, std::string>;

/// Tells a slot from YAML that stands in braces too, such as {fsdp_version: 2}.
bool is_slot(std::string_view inside) {
    const std::string_view name = inside.substr(0, inside.find_first_of("|!~"));
    return !name.empty() && std::all_of(name.begin(), name.end(),
                                        [](unsigned char c) { return std::isalnum(c) != 0 || c == '_'; });
}

std::optional<std::string> value_of(const Slot& slot, const std::string& key, const FindingValues& parameters,
                                    bool for_file, const Phrases& phrases) {
    if (slot.name == "key") return key;
    const auto at = parameters.find(slot.name);
    if (at == parameters.end()) return std::nullopt;
    std::string text =
        std::visit(Writer{for_file || slot.as_in_file, slot.name.ends_with("_bytes")}, at->second);
    if (slot.is_phrase && phrases.contains(text)) return phrases.at(text);
    if (slot.many.empty()) return text;
    return text + " " + std::string(at->second == FindingValue(int64_t{1}) ? slot.one : slot.many);
}

/// Nothing where a slot has no value.
std::optional<std::string> filled(std::string_view sentence, const std::string& key,
                                  const FindingValues& parameters, bool for_file,
                                  const Phrases& phrases = {}) {
    std::string text;
    for (size_t at = 0; at < sentence.size();) {
        const size_t open = std::min(sentence.find('{', at), sentence.size());
        const size_t close = sentence.find('}', open);
        if (close == sentence.npos) return text + std::string(sentence.substr(at));
        const std::string_view inside = sentence.substr(open + 1, close - open - 1);
        const auto value = is_slot(inside)
                               ? value_of(Slot(inside), key, parameters, for_file, phrases)
                               : std::optional(std::string(sentence.substr(open, close + 1 - open)));
        if (!value) return std::nullopt;
        text += std::string(sentence.substr(at, open - at)) + *value;
        at = close + 1;
    }
    return text;
}

Fix fix_from(std::string_view text) {
    Fix fix;
    constexpr std::string_view kRun = "run ", kRemove = "remove ", kBetween = "; ";
    if (text.starts_with(kRun)) {
        fix.command = text.substr(kRun.size());
        return fix;
    }
    while (!text.empty()) {
        const std::string one(text.substr(0, text.find(kBetween)));
        text.remove_prefix(std::min(text.size(), one.size() + kBetween.size()));
        const size_t colon = one.find(": ");
        if (one.starts_with(kRemove)) {
            fix.edits.push_back({one.substr(kRemove.size()), "", true});
        } else if (colon != std::string::npos) {
            fix.edits.push_back({one.substr(0, colon), one.substr(colon + 2)});
        }
    }
    return fix;
}

// ------------------------------------------------------------------------------------ sentences of fixes

struct FixWords {
    const char *either, *both, *remove, *rename;
};

const FixWords& words_in(const std::string& language) {
    static const std::map<std::string, FixWords> words = {
        {"en", {", or ", " with ", "leave {key} out", "rename it to {key}"}},
        {"de", {" oder ", " mit ", "{key} weglassen", "in {key} umbenennen"}},
        {"zh_CN", {"，或 ", "，并 ", "删去 {key}", "改名为 {key}"}},
    };
    const auto at = words.find(language);
    return at == words.end() ? words.at("en") : at->second;
}

std::string with_key(const char* sentence, const std::string& key) {
    return filled(sentence, key, {}, false).value_or("");
}

std::string said(const Fix& fix, const FixWords& words) {
    if (!fix.command.empty()) return fix.command;
    if (const Edit* renamed = renaming_of(fix)) return with_key(words.rename, renamed->key);
    std::string text;
    for (const Edit& edit : fix.edits) {
        text += text.empty() ? "" : words.both;
        text += edit.remove ? with_key(words.remove, edit.key) : edit.key + ": " + edit.value;
    }
    return text;
}

/// "key: value (what comes of it), or key: other value"
std::string said(const Diagnostic& finding, const std::string& language) {
    const FixWords& words = words_in(language);
    std::string text;
    for (const Fix& fix : finding.fixes) {
        const std::string effect = effect_in(language, finding, fix);
        text += (text.empty() ? "" : words.either) + said(fix, words);
        if (!effect.empty()) text += " (" + effect + ")";
    }
    return text;
}

std::optional<std::string> sentence(std::map<std::string, std::string> FindingTexts::*kind,
                                    const std::string& language, const Diagnostic& finding,
                                    const FindingValues& parameters) {
    const FindingTexts* texts = texts_of(finding.code, language);
    if (texts == nullptr) return std::nullopt;
    auto at = (texts->*kind).find(finding.form);
    if (at == (texts->*kind).end()) at = (texts->*kind).find("");
    if (at == (texts->*kind).end()) return std::nullopt;
    return filled(at->second, finding.key, parameters, false, texts->phrases);
}

}  // namespace

const std::map<std::string, FindingRecord>& finding_records() {
    static const std::map<std::string, FindingRecord> records = [] {
        RecordReader reader;
        std::istringstream lines(kFindingFiles);
        for (std::string line; std::getline(lines, line);) reader.take(line);
        return reader.records();
    }();
    return records;
}

const std::vector<std::string>& finding_languages() {
    static const std::vector<std::string> languages = {"en", "de", "zh_CN"};
    return languages;
}

/// The other file that a finding is about, before its message.
static std::string place_in(const std::string& language, const Diagnostic& finding) {
    static const std::map<std::string, const char*> places = {
        {"en", "{other_file} line {other_file_line!}: "},
        {"de", "{other_file} Zeile {other_file_line!}: "},
        {"zh_CN", "{other_file} 第 {other_file_line!} 行："},
    };
    const auto at = places.find(language);
    if (at == places.end()) return "";
    return filled(at->second, finding.key, finding.parameters, false).value_or("");
}

const FindingTexts* texts_of(const std::string& code, const std::string& language) {
    const auto record = finding_records().find(code);
    if (record == finding_records().end()) return nullptr;
    const auto texts = record->second.texts.find(language);
    return texts == record->second.texts.end() ? nullptr : &texts->second;
}

std::string message_in(const std::string& language, const Diagnostic& finding) {
    const auto message = sentence(&FindingTexts::messages, language, finding, finding.parameters);
    if (!message) return finding.message;
    return finding.parameters.contains(kOtherFile) ? place_in(language, finding) + *message : *message;
}

std::string hint_in(const std::string& language, const Diagnostic& finding) {
    const auto hint = sentence(&FindingTexts::hints, language, finding, finding.parameters);
    if (hint) return *hint;
    const FindingTexts* texts = texts_of(finding.code, language);
    const bool is_recorded = texts != nullptr && !texts->messages.empty();
    return is_recorded && !finding.fixes.empty() ? said(finding, language) : finding.hint;
}

std::string effect_in(const std::string& language, const Diagnostic& finding, const Fix& fix) {
    FindingValues parameters = fix.parameters;
    parameters.insert(finding.parameters.begin(), finding.parameters.end());
    return sentence(&FindingTexts::effects, language, finding, parameters).value_or(fix.effect);
}

std::vector<Fix> fixes_of_record(const Diagnostic& finding) {
    std::vector<Fix> fixes;
    const auto record = finding_records().find(finding.code);
    if (record == finding_records().end()) return fixes;
    for (const auto& [form, text] : record->second.fixes) {
        const auto plain =
            form == finding.form ? filled(text, finding.key, finding.parameters, true) : std::nullopt;
        if (plain) fixes.push_back(fix_from(*plain));
    }
    return fixes;
}

const Edit* renaming_of(const Fix& fix) {
    const bool renames = fix.edits.size() == 2 && fix.edits[0].remove && !fix.edits[1].remove;
    return renames ? &fix.edits[1] : nullptr;
}

std::vector<std::string> names_in(std::string_view sentence) {
    std::vector<std::string> names;
    for (size_t open = sentence.find('{'); open != sentence.npos; open = sentence.find('{', open + 1)) {
        const size_t close = sentence.find('}', open);
        if (close == sentence.npos) break;
        const std::string_view inside = sentence.substr(open + 1, close - open - 1);
        if (is_slot(inside)) names.push_back(Slot(inside).name);
    }
    return names;
}

}  // namespace ringmaster
