#include "engine/config/diagnostic.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/bare_texts.h"
#include "engine/config/document.h"
#include "engine/config/finding_record.h"
#include "engine/config/key_reader.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

using nlohmann::json;

json edit_to_json(const Edit& edit) {
    if (edit.remove) return {{"key", edit.key}, {"remove", true}};
    json value;
    Diagnostics problems;
    if (!read_value(edit.value, value, problems)) value = edit.value;
    return {{"key", edit.key}, {"value", std::move(value)}};
}

json fix_to_json(const Fix& fix) {
    json edits = json::array();
    for (const Edit& edit : fix.edits) edits.push_back(edit_to_json(edit));
    return {{"edits", std::move(edits)},
            {"command", fix.command.empty() ? json() : json(fix.command)},
            {"effect", fix.effect},
            {"parameters", parameters_to_json(fix.parameters)}};
}

Edit edit_from_json(const json& values) {
    if (values.value("remove", false)) return {values.at("key"), "", true};
    return {values.at("key"), one_line_of(values.at("value"))};
}

FindingValue finding_value(const json& value) {
    if (value.is_boolean()) return value.get<bool>();
    if (value.is_number_integer()) return value.get<int64_t>();
    if (value.is_number()) return value.get<double>();
    if (!value.is_array()) return value.get<std::string>();
    if (!value.empty() && value[0].is_number()) return value.get<std::vector<int64_t>>();
    return value.get<std::vector<std::string>>();
}

FindingValues parameters_from_json(const json& values) {
    FindingValues parameters;
    for (const auto& [name, value] : values.items()) parameters[name] = finding_value(value);
    return parameters;
}

Fix fix_from_json(const json& values) {
    Fix fix;
    for (const json& edit : values.at("edits")) fix.edits.push_back(edit_from_json(edit));
    if (values.at("command").is_string()) fix.command = values["command"];
    fix.effect = values.at("effect");
    if (values.contains("parameters")) fix.parameters = parameters_from_json(values["parameters"]);
    return fix;
}

}  // namespace

Diagnostic finding(Severity severity, const Form& form, const std::string& key, int line,
                   FindingValues parameters, std::vector<Fix> fixes) {
    Diagnostic said{severity, form.code, key, line, "", "", form.name, std::move(parameters), {}};
    const std::vector<Fix> recorded = fixes_of_record(said);
    said.fixes = std::move(fixes);
    said.fixes.insert(said.fixes.end(), recorded.begin(), recorded.end());
    for (Fix& fix : said.fixes) fix.effect = effect_in("en", said, fix);
    said.message = message_in("en", said);
    said.hint = hint_in("en", said);
    if (bare_texts) {
        said.message = said.code;
        if (!said.hint.empty()) said.hint = said.code;
    }
    return said;
}

bool has_error(const Diagnostics& diagnostics) {
    return std::any_of(diagnostics.begin(), diagnostics.end(),
                       [](const Diagnostic& d) { return d.severity == Severity::Error; });
}

json parameters_to_json(const FindingValues& parameters) {
    json values = json::object();
    for (const auto& [name, value] : parameters)
        std::visit([&, &name = name](const auto& is) { values[name] = is; }, value);
    return values;
}

json diagnostic_to_json(const Diagnostic& diagnostic) {
    json fixes = json::array();
    for (const Fix& fix : diagnostic.fixes) fixes.push_back(fix_to_json(fix));
    json parameters = parameters_to_json(diagnostic.parameters);
    if (!diagnostic.form.empty()) parameters["form"] = diagnostic.form;
    return {{"severity", to_string(diagnostic.severity)},
            {"code", diagnostic.code},
            {"key", diagnostic.key},
            {"line", diagnostic.line},
            {"message", diagnostic.message},
            {"hint", diagnostic.hint},
            {"parameters", std::move(parameters)},
            {"fixes", std::move(fixes)}};
}

Diagnostic diagnostic_from_json(const json& values) {
    try {
        Diagnostic read{severity_from_string(values.at("severity")),
                        values.at("code"),
                        values.at("key"),
                        values.at("line"),
                        values.at("message"),
                        values.at("hint")};
        json parameters = values.value("parameters", json::object());  // absent in older plans
        read.form = parameters.value("form", "");
        parameters.erase("form");
        read.parameters = parameters_from_json(parameters);
        for (const json& fix : values.value("fixes", json::array())) read.fixes.push_back(fix_from_json(fix));
        return read;
    } catch (const json::exception&) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "a diagnostic is damaged", "diagnostics");
    }
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
