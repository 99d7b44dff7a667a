/// Reads the records of resources/findings, one per code: title, sentences and explanation in every language,
/// and the fixes that need no computed values. Command line, --json, app and help all use them.
///
///     # CFG-RANGE
///     phrases of CFG-TYPE
///     fix below: {key}: {least}
///
///     ## en
///     title: A number outside its range
///     message below: {key} is {value}, but must be at least {least}
///     hint below: ...
///     app below: the hint in the app, if it names a button where the command line names an option
///     effect below: ...
///
///     The explanation, in Markdown, up to the next language.
///
///     ## de
///     phrase no such file: * => Datei fehlt: *
///
/// {name} is a parameter, or the finding's key. {ranks|rank|ranks} adds the word after the number. {length!}
/// writes a number as in a file: 1048576, not 1,048,576. {why~} inserts the language's phrase for the
/// parameter's English words ("phrase ENGLISH => WORDS" in the head; see phrases.h). The texts of an Error
/// with this code are phrases too; "phrases of CODE" adds those of another record. In a hint, {fixes} lists
/// the fixes with their effects. Other braces stay unchanged. A fix is "key: value", "remove KEY", several of
/// these joined by "; ", or "run COMMAND". A fix is not offered if it names a parameter that the finding does
/// not have.
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
    std::map<std::string, std::string> messages, hints, app_hints, effects;  ///< sentences by form
    std::map<std::string, std::string> phrases;  ///< translations by the parameter's English words
    std::string explanation;                     ///< Markdown
};

struct FindingRecord {
    std::vector<std::string> phrases_of;                     ///< other codes whose phrases are used too
    std::vector<std::pair<std::string, std::string>> fixes;  ///< form, and the fix's text
    std::map<std::string, FindingTexts> texts;               ///< texts by language of finding_languages()
};

const std::map<std::string, FindingRecord>& finding_records();
const std::vector<std::string>& finding_languages();  ///< English first
/// Returns null if the code has no record or the record lacks the language.
const FindingTexts* texts_of(const std::string& code, const std::string& language);

/// Parameters that name another file and a line of it. message_in() puts file and line before the message.
inline constexpr const char* kOtherFile = "other_file";
inline constexpr const char* kOtherFileLine = "other_file_line";

/// Returns the sentence in a language, or the finding's English sentence if its record has none.
std::string message_in(const std::string& language, const Diagnostic& finding);
std::string hint_in(const std::string& language, const Diagnostic& finding);
/// Returns the hint in the app's words, or hint_in() if the record has none.
std::string app_hint_in(const std::string& language, const Diagnostic& finding);
std::string effect_in(const std::string& language, const Diagnostic& finding, const Fix& fix);

/// Returns an English text of an Error in a language: its what(), its hint, or its text(), which starts with
/// the place. Translates with the phrases of the code's record. Returns the text itself if there is no phrase
/// for it. A hint after a dash becomes a sentence of its own, except in English.
std::string error_text_in(const std::string& language, const std::string& code, const std::string& text);

/// Returns the fixes that the record spells out for the finding's form.
std::vector<Fix> fixes_of_record(const Diagnostic& finding);

/// Returns the edit that sets the new name if the fix renames a key (its first edit removes the old name),
/// else null.
const Edit* renaming_of(const Fix& fix);

/// Returns the names between { and } in a template, without their word forms.
std::vector<std::string> names_in(std::string_view sentence);

}  // namespace ringmaster
