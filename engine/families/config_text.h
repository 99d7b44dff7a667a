/// Reads the text of a model's config.json.
#pragma once

#include <string>

namespace ringmaster {

/// Python's json module writes numbers that are not finite as NaN, Infinity and -Infinity, which no JSON
/// parser has to accept; nvidia/Nemotron-H-8B-Base-8K has such a file. Returns the text with {"__float__":
/// "Infinity"} in their place, as transformers 5 writes them.
std::string with_finite_numbers(const std::string& text);

}  // namespace ringmaster
