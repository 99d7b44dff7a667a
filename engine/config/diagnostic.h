/// What a configuration got wrong or should know, as a value: a person gets all of them at once.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

namespace ringmaster {

enum class Severity { Info, Warning, Error };

struct Diagnostic {
    Severity severity = Severity::Error;
    std::string code;     ///< stable once released, documented in the app's help: "CP-DIVISOR"
    std::string key;      ///< dotted path in the YAML, e.g. "datasets.0.path"; empty where no key is to blame
    int line = 0;         ///< 1-based line of the key in the file; 0 where it stands in none
    std::string message;  ///< what and why, with the numbers
    std::string hint;     ///< the nearest thing that works; may be empty
};

using Diagnostics = std::vector<Diagnostic>;

bool has_error(const Diagnostics& diagnostics);
/// As in plan.json and in every command's --json. Its `parameters` and `fixes` are empty as yet.
nlohmann::json diagnostic_to_json(const Diagnostic& diagnostic);
const char* to_string(Severity severity);                ///< "error", "warning", "info"
Severity severity_from_string(const std::string& text);  ///< throws Error(Refused) on a stranger

}  // namespace ringmaster
