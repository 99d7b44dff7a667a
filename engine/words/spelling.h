/// Compares words, to suggest known words for misspelt ones, and writes words in lower case.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

/// Returns the known word with the smallest edit distance to `word`; empty if none is close.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// Returns the known word that `word` misspells or abbreviates; empty if they differ by more than a few
/// typing errors.
std::string misspelt_word(std::string_view word, const std::vector<std::string>& known);

std::string lower_case(std::string text);  ///< changes only ASCII letters

}  // namespace ringmaster
