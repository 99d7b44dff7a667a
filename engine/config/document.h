/// A YAML file as values, each with its line: what every reader of a configuration starts from.
///
/// Hostile text is refused, not survived by luck: size, depth, number of values (aliases expanded) and length
/// of a key are bounded, and what yaml-cpp would take silently (duplicate keys, control characters, a second
/// document) is said.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/diagnostic.h"

namespace ringmaster {

/// Largest file that is read: configurations have a few KiB.
constexpr std::size_t kMaxConfigBytes = std::size_t{8} << 20;

struct Document {
    nlohmann::json values = nlohmann::json::object();
    std::map<std::string, int> lines;  ///< dotted path (list items by number) -> 1-based line; 0: from --set
    std::set<std::string>
        anchor_holders;             ///< top-level keys whose value another place of the file repeats (&a, *a)
    std::set<std::string> foreign;  ///< top-level keys that neither the file nor --set holds

    /// The value at a dotted path; nullptr where there is none or it is null.
    const nlohmann::json* find(std::string_view path) const;
    int line(const std::string& path)
        const;  ///< of the path, or of its nearest parent that stands in the file; else 0
    std::vector<std::string> top_level_keys() const;  ///< of the file, in its order, then those of --set
};

/// Reads `text`. Returns false where it is no YAML mapping; `diagnostics` then says why, and where.
bool read_document(std::string_view text, Document& document, Diagnostics& diagnostics);

/// One value as YAML would read it ("0.1", "[1, 2]", "no"). The same checks.
bool read_value(std::string_view text, nlohmann::json& value, Diagnostics& diagnostics);

/// A plain scalar by YAML 1.1's rules, which axolotl's reader follows (yes and no are booleans), with one
/// repair: 1e-5 is a number although YAML 1.1 wants a dot in it. A number with leading zeros stays text:
/// readers disagree on its base.
nlohmann::json scalar_value(const std::string& text);

/// Sets a dotted path as --set does: list items by number, the number after the last appends. `text` is read
/// as YAML. What is wrong with path or value becomes a diagnostic.
void set_path(Document& document, const std::string& path, const std::string& text, Diagnostics& diagnostics);

/// Replaces a top-level value from another source than the file and --set; `line` as in Document::lines.
void put(Document& document, const std::string& key, const nlohmann::json& value, int line);

/// Text from outside with a ? for every byte that is not UTF-8 or is a control character.
std::string printable(std::string_view text);

/// By line, those without one last; what was said first stays first.
void sort_by_line(Diagnostics& diagnostics);

}  // namespace ringmaster
