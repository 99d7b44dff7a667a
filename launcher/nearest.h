/// The candidate that a person most likely meant.
#pragma once

#include <optional>
#include <string>
#include <vector>

namespace ringmaster {

/// By edit distance (insert, delete, replace, swap neighbours), up to a third of the word's length, at
/// least 2.
std::optional<std::string> nearest(const std::string& word, const std::vector<std::string>& candidates);

}  // namespace ringmaster
