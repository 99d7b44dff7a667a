#include "engine/config/diagnostic.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/error.h"

namespace ringmaster {

bool has_error(const Diagnostics& diagnostics) {
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [](const Diagnostic& d) { return d.severity == Severity::Error; });
}

nlohmann::json diagnostic_to_json(const Diagnostic& diagnostic) {
    return {{"severity", to_string(diagnostic.severity)},
            {"code", diagnostic.code},
            {"key", diagnostic.key},
            {"line", diagnostic.line},
            {"message", diagnostic.message},
            {"hint", diagnostic.hint},
            {"parameters", nlohmann::json::object()},
            {"fixes", nlohmann::json::array()}};
}

const char* to_string(Severity severity) {
    switch (severity) {
        case Severity::Info:
            return "info";
        case Severity::Warning:
            return "warning";
        case Severity::Error:
            break;
    }
    return "error";
}

Severity severity_from_string(const std::string& text) {
    for (Severity severity : {Severity::Info, Severity::Warning, Severity::Error}) {
        if (text == to_string(severity)) return severity;
    }
    throw Error(Failure::Refused, Code("FILE-DAMAGED"), "'" + text + "' is not a severity", "diagnostics");
}

}  // namespace ringmaster
