/// What becomes of each key of an axolotl file, as data: the whole schema, one line of reasons for each group
/// of keys.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/read_config.h"

namespace ringmaster {

enum class Fate {
    Used,
    NoEffect,     ///< whatever its value
    Unsupported,  ///< an error where its value switches it on; else without effect
};

struct KeyRule {
    std::string_view key;
    Fate fate = Fate::Used;
    std::string_view why;      ///< NoEffect: why it has none; Unsupported: what it would change
    std::string_view hint;     ///< Unsupported: the nearest thing that works
    std::string_view part_of;  ///< another key: only where that is switched on does this one mean anything
};

/// nullptr: no key of axolotl's schema nor of ours.
const KeyRule* find_key(std::string_view key);

std::vector<std::string> known_keys();  ///< sorted; for completion

/// The known word nearest to `word` by edit distance; empty where none is near.
std::string nearest_word(std::string_view word, const std::vector<std::string>& known);

/// The known word that `word` misspells or abbreviates; empty where none is so close that a slip explains it.
std::string misspelt_word(std::string_view word, const std::vector<std::string>& known);

/// A value that switches something on: not null, false, 0, empty, or the word none.
bool is_on(const nlohmann::json& value);

struct Document;

/// Sorts every top-level key into its list and says what is unknown or unsupported.
KeyVerdicts judge_keys(const Document& document, Diagnostics& diagnostics);

}  // namespace ringmaster
