/// Reads typed values from a Document. A missing value gives nullopt; a wrong one gives nullopt and a
/// diagnostic that says what the file has, what is allowed, and the nearest value that works.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "engine/config/diagnostic.h"
#include "engine/config/document.h"
#include "engine/config/words.h"

namespace ringmaster {

struct WholeRange {
    int64_t least = 0;
    int64_t most = std::numeric_limits<int64_t>::max();
};

struct NumberRange {
    double least = 0;
    double most = std::numeric_limits<double>::max();
    bool open_below = false;  ///< the value `least` itself is not allowed
    bool open_above = false;
};
constexpr NumberRange kPositive{.least = 0, .open_below = true};
constexpr int64_t kMostRanks = 1'000'000;  ///< the largest size of a mesh that a file may ask for

class KeyReader {
  public:
    KeyReader(const Document& document, Diagnostics& diagnostics)
        : m_document(document), m_diagnostics(diagnostics) {}

    const nlohmann::json* find(const std::string& path) const { return m_document.find(path); }
    bool has(const std::string& path) const { return find(path) != nullptr; }

    std::optional<int64_t> whole(const std::string& path, WholeRange range = {1});
    std::optional<double> number(const std::string& path, NumberRange range = {});
    std::optional<bool> flag(const std::string& path);
    std::optional<std::string> text(const std::string& path);
    /// Returns one of `words`; an unquoted no counts as the word "no".
    std::optional<std::string> word(const std::string& path, const std::vector<std::string>& words);

    template <class Enum>
    std::optional<Enum> choice(const std::string& path,
                               const std::vector<std::string>& words = words_of<Enum>()) {
        const auto chosen = word(path, words);
        return chosen ? from_word<Enum>(*chosen) : std::nullopt;
    }

    /// These functions take the text from a record of resources/findings.
    void error(const Form& form, const std::string& path, FindingValues parameters = {},
               std::vector<Fix> fixes = {}) {
        say(Severity::Error, form, path, std::move(parameters), std::move(fixes));
    }
    void warn(const Form& form, const std::string& path, FindingValues parameters = {},
              std::vector<Fix> fixes = {}) {
        say(Severity::Warning, form, path, std::move(parameters), std::move(fixes));
    }
    void inform(const Form& form, const std::string& path, FindingValues parameters = {},
                std::vector<Fix> fixes = {}) {
        say(Severity::Info, form, path, std::move(parameters), std::move(fixes));
    }
    /// Reports a missing key at the line of `near`, which makes the key necessary.
    void missing(const Form& form, const std::string& path, const std::string& near,
                 FindingValues parameters = {}, std::vector<Fix> fixes = {});
    /// Returns a fix that renames the key and keeps its value, line and place.
    Fix renaming(const std::string& path, const std::string& name) const;

    const Document& document() const { return m_document; }

  private:
    void say(Severity severity, const Form& form, const std::string& path, FindingValues parameters,
             std::vector<Fix> fixes);
    std::optional<double> finite(const std::string& path, const char* form);
    void refuse_type(const char* form, const std::string& path, const nlohmann::json& value,
                     FindingValues parameters = {});

    const Document& m_document;
    Diagnostics& m_diagnostics;
};

/// Sets `field` if the file gives a value; otherwise keeps the default.
template <class Field, class Value>
void take(Field& field, const std::optional<Value>& value) {
    if (value) field = *value;
}

/// Returns a value as a user would write it: "fast", 0.5, a list.
std::string shown(const nlohmann::json& value);
std::string shown(double value);

/// Returns a value as one line of YAML: full, 0.5, "yes", [1, 2].
std::string one_line_of(const nlohmann::json& value);

/// Returns words such as "a, b, c".
std::string listed(const std::vector<std::string>& words);

/// Accepts true and false, quoted or not, and 0 and 1; returns nullopt for anything else.
std::optional<bool> as_flag(const nlohmann::json& value);

}  // namespace ringmaster
