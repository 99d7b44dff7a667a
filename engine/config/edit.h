/// Edits a YAML text and leaves everything else unchanged: comments, order, unknown keys, line ends. Each
/// result is read back and compared value by value before it is returned; if an edit cannot be made this way,
/// it is refused.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "engine/config/diagnostic.h"

namespace ringmaster {

/// Returns the text with `key` (dotted; list items by number) set to `value` (one line of YAML). Inserts a
/// missing key next to related keys that have a line of their own. If the file has an older name of the key
/// (sequence_parallel_degree, flash_attention), replaces it in its line. Throws Error(Refused).
std::string set_key(std::string_view text, const std::string& key, const std::string& value);

/// Applies several edits in order.
std::string set_keys(std::string_view text, const std::vector<std::pair<std::string, std::string>>& set);

/// remove_key and rename_key take a key that begins a line. Removing a key also removes the lines of its
/// value. Both throw Error(Refused).
std::string remove_key(std::string_view text, const std::string& key);
std::string rename_key(std::string_view text, const std::string& key, const std::string& name);

/// Returns the text with the fix's edits. Throws Error(Refused).
std::string apply_fix(std::string_view text, const Fix& fix);

}  // namespace ringmaster
