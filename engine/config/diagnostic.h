/// Describes a problem or note about a configuration as a value, so that a user gets all of them at once.
#pragma once

#include <cstdint>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <variant>
#include <vector>

namespace ringmaster {

enum class Severity { Info, Warning, Error };

using FindingValue =
    std::variant<bool, int64_t, double, std::string, std::vector<int64_t>, std::vector<std::string>>;

/// Named parameters of a finding's sentences. A name ends with its unit: needed_bytes, host_bytes.
using FindingValues = std::map<std::string, FindingValue>;

struct Edit {
    std::string key;      ///< dotted; list items by number
    std::string value{};  ///< one line of YAML
    bool remove = false;  ///< true: removes the key instead of setting it
    bool operator==(const Edit&) const = default;
};

/// A way to act on a finding: edits of the file, applied together, or a command.
struct Fix {
    std::vector<Edit> edits{};
    std::string command{};
    std::string effect{};  ///< the fix's other effects; names the code of a finding that the fix leads to
    FindingValues parameters{};  ///< parameters of `effect`
    bool operator==(const Fix&) const = default;
};

struct Diagnostic {
    Severity severity = Severity::Error;
    std::string code;     ///< stable once released, documented in the app's help: "CP-DIVISOR"
    std::string key;      ///< dotted path in the YAML, e.g. "datasets.0.path"; empty if no key is at fault
    int line = 0;         ///< 1-based line of the key in the file; 0 if the key has no line
    std::string message;  ///< the problem and its reason, with the numbers, in English
    std::string hint;     ///< the nearest thing that works, in English; may be empty
    std::string form{};   ///< variant of the sentence, if the code has several
    FindingValues parameters{};
    std::vector<Fix> fixes{};  ///< the best fix first
};

using Diagnostics = std::vector<Diagnostic>;

/// Names a record of resources/findings and a variant of its sentence: Form("CFG-RANGE", "below").
struct Form {
    explicit Form(const char* code_, const char* name_ = "") : code(code_), name(name_) {}
    const char* code;
    const char* name;
};

/// Returns a finding with the sentences of its record, and with the fixes that the record spells out.
Diagnostic finding(Severity severity, const Form& form, const std::string& key, int line,
                   FindingValues parameters, std::vector<Fix> fixes = {});

bool has_error(const Diagnostics& diagnostics);
/// Returns the form used in plan.json and in every command's --json.
nlohmann::json diagnostic_to_json(const Diagnostic& diagnostic);
Diagnostic diagnostic_from_json(const nlohmann::json& values);  ///< throws Error(Refused)
nlohmann::json parameters_to_json(const FindingValues& parameters);
const char* to_string(Severity severity);                ///< "error", "warning", "info"
Severity severity_from_string(const std::string& text);  ///< throws Error(Refused) on an unknown word

}  // namespace ringmaster
