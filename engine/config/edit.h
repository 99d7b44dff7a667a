/// Edits of a YAML text that leave everything else as it is: comments, order, unknown keys, line ends. Each
/// result is read back and compared value by value before it is given out; what cannot be edited so is
/// refused.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/config/diagnostic.h"

namespace ringmaster {

/// The text with `key` (dotted; list items by number) at `value` (one line of YAML). A key that is not there
/// is inserted, beside its relatives where those stand on a line of their own. An older name of the key
/// (sequence_parallel_degree, flash_attention) gives its line to the new one. Throws Error(Refused).
std::string set_key(std::string_view text, const std::string& key, const std::string& value);

/// Several, one after the other.
std::string set_keys(std::string_view text, const std::vector<std::pair<std::string, std::string>>& set);

/// The text without a key that begins a line, and without the lines of its value; with another name for it.
/// Throw Error(Refused).
std::string remove_key(std::string_view text, const std::string& key);
std::string rename_key(std::string_view text, const std::string& key, const std::string& name);

/// The text with the fix's edits. Throws Error(Refused).
std::string apply_fix(std::string_view text, const Fix& fix);

}  // namespace ringmaster
