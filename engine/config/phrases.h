/// Translates the English words that a finding's parameter holds.
#pragma once

#include <map>
#include <string>

namespace ringmaster {

/// A language's words by the English ones. A * stands for any text: "no such file: *" => "Datei fehlt: *".
using Phrases = std::map<std::string, std::string>;

/// Returns the phrase whose English words match the text, with each * filled, or the text itself.
std::string in_phrases(const Phrases& phrases, const std::string& text);

}  // namespace ringmaster
