/// The records of resources/findings, one a code: title, sentences, explanation, each in every language, and
/// the fixes that need no arithmetic. Command line, --json, app and help take them from here.
///
///     # CFG-RANGE
///     fix below: {key}: {least}
///
///     ## en
///     title: A number outside its range
///     message below: {key} is {value}, it has to be at least {least}
///     hint below: ...
///     effect below: ...
///
///     The explanation, in Markdown, up to the next language.
///
/// {name} is a parameter, or the finding's key; {ranks|rank|ranks} puts the word behind the number,
/// {length!} writes the number as a file does: 1048576, not 1,048,576, and {why~} puts in the language's
/// phrase for the parameter's English words ("phrase ENGLISH => WORDS" in the head). Braces around anything
/// else stay. A fix is "key: value", "remove KEY", several of them with "; " between, or "run COMMAND". One
/// that names a parameter that the finding does not have is not offered.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/config/diagnostic.h"

namespace ringmaster {

struct FindingTexts {
    std::string title;
    std::map<std::string, std::string> messages, hints, effects;  ///< by form
    std::map<std::string, std::string> phrases;                   ///< by the English words of a parameter
    std::string explanation;                                      ///< Markdown
};

struct FindingRecord {
    std::vector<std::pair<std::string, std::string>> fixes;  ///< form, and what to do
    std::map<std::string, FindingTexts> texts;               ///< by language: en, de, zh_CN
};

const std::map<std::string, FindingRecord>& finding_records();
const std::vector<std::string>& finding_languages();  ///< English first
/// Null if the code has no record, or the record lacks the language.
const FindingTexts* texts_of(const std::string& code, const std::string& language);

/// Parameters of a finding about another file than the configuration: message_in() names both first.
inline constexpr const char* kOtherFile = "other_file";
inline constexpr const char* kOtherFileLine = "other_file_line";

/// Returns the sentence in a language; the finding's own if its record has none.
std::string message_in(const std::string& language, const Diagnostic& finding);
std::string hint_in(const std::string& language, const Diagnostic& finding);
std::string effect_in(const std::string& language, const Diagnostic& finding, const Fix& fix);

/// The fixes of the finding's form that its record spells out.
std::vector<Fix> fixes_of_record(const Diagnostic& finding);

/// The new name's edit where the fix gives a key another name (its first edit removes the old one), else
/// null.
const Edit* renaming_of(const Fix& fix);

/// The names between { and } of a template, without their words.
std::vector<std::string> names_in(std::string_view sentence);

}  // namespace ringmaster
