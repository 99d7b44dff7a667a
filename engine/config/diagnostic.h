/// What a configuration got wrong or should know, as a value: a person gets all of them at once.
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

/// What a finding's sentences are made with, by name. A name ends with its unit: needed_bytes, waited_s.
using FindingValues = std::map<std::string, FindingValue>;

struct Edit {
    std::string key;      ///< dotted; list items by number
    std::string value{};  ///< one line of YAML
    bool remove = false;  ///< takes the key out instead
    bool operator==(const Edit&) const = default;
};

/// Something that can be done about a finding: edits of the file, all together, or a command.
struct Fix {
    std::vector<Edit> edits{};
    std::string command{};
    std::string effect{};        ///< what else changes with it; names the code of a finding that may come
    FindingValues parameters{};  ///< of `effect`
    bool operator==(const Fix&) const = default;
};

struct Diagnostic {
    Severity severity = Severity::Error;
    std::string code;     ///< stable once released, documented in the app's help: "CP-DIVISOR"
    std::string key;      ///< dotted path in the YAML, e.g. "datasets.0.path"; empty where no key is to blame
    int line = 0;         ///< 1-based line of the key in the file; 0 where it stands in none
    std::string message;  ///< what and why, with the numbers; English
    std::string hint;     ///< the nearest thing that works; may be empty; English
    std::string form{};   ///< which of its code's sentences this is, where it has several
    FindingValues parameters{};
    std::vector<Fix> fixes{};  ///< the best first
};

using Diagnostics = std::vector<Diagnostic>;

/// Names a record of resources/findings, and which of its sentences: Form("CFG-RANGE", "below").
struct Form {
    explicit Form(const char* code_, const char* name_ = "") : code(code_), name(name_) {}
    const char* code;
    const char* name;
};

/// A finding whose sentences, and those fixes that its record spells out, come from the record.
Diagnostic finding(Severity severity, const Form& form, const std::string& key, int line,
                   FindingValues parameters, std::vector<Fix> fixes = {});

bool has_error(const Diagnostics& diagnostics);
/// As in plan.json and in every command's --json.
nlohmann::json diagnostic_to_json(const Diagnostic& diagnostic);
Diagnostic diagnostic_from_json(const nlohmann::json& values);  ///< throws Error(Refused)
nlohmann::json parameters_to_json(const FindingValues& parameters);
const char* to_string(Severity severity);                ///< "error", "warning", "info"
Severity severity_from_string(const std::string& text);  ///< throws Error(Refused) on a stranger

}  // namespace ringmaster
