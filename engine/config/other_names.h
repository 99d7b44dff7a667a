/// Finds the axolotl key that an unknown key stands for.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

/// Returns the key that an unknown key means: the unknown key is another program's name for it, or a typing
/// error. Returns nothing if there is no such key.
std::string meant_key(std::string_view key, const std::vector<std::string>& known);

}  // namespace ringmaster
