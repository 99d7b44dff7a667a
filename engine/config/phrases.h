/// Translates the English words that a finding's parameter holds.
#pragma once

#include <map>
#include <string>

namespace ringmaster {

/// Maps English phrases to those of a language. A * stands for any text: "no such file: *" => "Datei fehlt:
/// *".
using Phrases = std::map<std::string, std::string>;

/// Translates an English text by the phrase that matches it; returns the text itself if none does. A number
/// in place of a * gets the language's decimal mark.
std::string in_phrases(const Phrases& phrases, const std::string& text, char decimal = '.');

}  // namespace ringmaster
