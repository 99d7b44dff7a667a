/// Reads a YAML file into a Document: values with their lines. Every reader of a configuration starts from a
/// Document.
///
/// Rejects hostile text: size, depth, number of values (with aliases expanded) and length of a key are
/// limited, and what yaml-cpp would accept silently (duplicate keys, control characters, a second document)
/// is reported.
#pragma once

#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "engine/config/diagnostic.h"

namespace ringmaster {

/// The largest file that is read; configurations have a few KiB.
constexpr std::size_t kMaxConfigBytes = std::size_t{8} << 20;

struct Document {
    nlohmann::json values = nlohmann::json::object();
    std::map<std::string, int> lines;  ///< dotted path (list items by number) -> 1-based line; 0: from --set
    std::set<std::string> anchor_holders;  ///< top-level keys whose value is repeated in the file (&a, *a)
    std::set<std::string> foreign;         ///< top-level keys that come neither from the file nor from --set

    /// Returns the value at a dotted path; nullptr if it is absent or null.
    const nlohmann::json* find(std::string_view path) const;
    /// Returns the line of the path, or of its nearest parent in the file; 0 if there is none.
    int line(const std::string& path) const;
    std::vector<std::string> top_level_keys() const;  ///< the file's keys in its order, then those of --set
};

/// Reads `text`. Returns false if it is not a YAML mapping; `diagnostics` then has the reason and line.
bool read_document(std::string_view text, Document& document, Diagnostics& diagnostics);

/// Reads one value as YAML would ("0.1", "[1, 2]", "no"), with the same checks.
bool read_value(std::string_view text, nlohmann::json& value, Diagnostics& diagnostics);

/// Reads a plain scalar by the rules of YAML 1.1, which axolotl follows (yes and no are booleans), with one
/// exception: 1e-5 is a number, although YAML 1.1 requires a dot. A number with leading zeros stays text,
/// because readers disagree on its base.
nlohmann::json scalar_value(const std::string& text);

/// Sets a dotted path as --set does: list items by number; the number after the last item appends an item.
/// `text` is read as YAML. Reports a wrong path or value as a diagnostic.
void set_path(Document& document, const std::string& path, const std::string& text, Diagnostics& diagnostics);

/// Replaces a top-level value from a source other than the file and --set; `line` as in Document::lines.
void put(Document& document, const std::string& key, const nlohmann::json& value, int line);

/// Returns untrusted text with a ? for every byte that is a control character or not UTF-8.
std::string printable(std::string_view text);

/// Sorts by line, diagnostics without a line last; equal ones keep their order.
void sort_by_line(Diagnostics& diagnostics);

}  // namespace ringmaster
