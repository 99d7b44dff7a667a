#include "launcher/cli/failure.h"

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <string_view>
#include <utility>

#include "engine/plan/plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/cli/plan_text.h"
#include "launcher/ssh/finding.h"

namespace ringmaster {

namespace {

using nlohmann::json;

/// Returns the name of the parameter for Error::where, chosen by the first word of the code.
std::string name_of_place(std::string_view code) {
    constexpr std::array<std::pair<std::string_view, const char*>, 15> kNames = {{
        {"ARGUMENT", "option"},
        {"NODE", "host"},
        {"RUN", "run"},
        {"RANK", "rank"},
        {"RANKS", "rank"},
        {"FILE", "file"},
        {"DISK", "file"},
        {"MODEL", "file"},
        {"DATA", "file"},
        {"OUTPUT", "file"},
        {"PROGRAM", "file"},
        {"SETUP", "file"},
        {"PLAN", "file"},
        {"PREFLIGHT", "file"},
        {"SLURM", "host"},
    }};
    const std::string_view word = code.substr(0, code.find('-'));
    for (const auto& [first, name] : kNames) {
        if (word == first) return name;
    }
    return "where";
}

json parameters_of(const Error& error) {
    json parameters = json::object();
    if (!error.where.empty()) parameters[name_of_place(error.code)] = error.where;
    if (const auto* node = dynamic_cast<const NodeError*>(&error)) {
        parameters["finding"] = node->finding.code;
        parameters["with"] = node->finding.with;
    }
    return parameters;
}

json dir_of(const CommandContext& session) {
    return session.run_dir == nullptr || session.run_dir->empty() ? json() : json(session.run_dir->string());
}

json line_of(const json& finding, int exit, const CommandContext& session) {
    return {{"type", "error"}, {"dir", dir_of(session)}, {"finding", finding}, {"exit", exit}};
}

void print_failure(const Error& error, int exit, const CommandContext& session) {
    const json finding = finding_of(error);
    if (session.streams) return print_line(line_of(finding, exit, session));
    print_json({{"ok", false},
                {"dir", dir_of(session)},
                {"error", {{"message", error.what()}, {"where", error.where}, {"hint", error.hint}}},
                {"diagnostics", json::array({finding})},
                {"exit", exit}});
}

}  // namespace

json finding_of(const Error& error) {
    const std::string message = (error.where.empty() ? "" : error.where + ": ") + error.what();
    json finding = diagnostic_to_json({Severity::Error, error.code, "", 0, message, error.hint});
    finding["parameters"] = parameters_of(error);
    return finding;
}

int report_failure(const Error& error, const CommandContext& session) {
    const int exit = static_cast<int>(error.failure);
    if (session.json) print_failure(error, exit, session);
    complain("ringmaster: " + printable(error.text()) + "\n");
    return exit;
}

int report_failure(const PlanRefused& refused, const CommandContext& session) {
    const int exit = static_cast<int>(refused.failure);
    if (session.json && session.streams) {
        json diagnostics = json::array();
        for (const Diagnostic& diagnostic : refused.plan.diagnostics)
            diagnostics.push_back(diagnostic_to_json(diagnostic));
        const auto error = std::find_if(diagnostics.begin(), diagnostics.end(),
                                        [](const json& one) { return one["severity"] == "error"; });
        json line = line_of(error == diagnostics.end() ? finding_of(refused) : *error, exit, session);
        line["diagnostics"] = std::move(diagnostics);
        print_line(line);
    } else if (session.json) {
        print_json(plan_to_json(refused.plan));
    }
    complain(diagnostics_text(refused.plan.diagnostics, session.err, Severity::Warning));
    return exit;
}

int report_interruption(const CommandContext& session) {
    if (session.json)
        print_failure(Error(Failure::Refused, Code("RUN-INTERRUPTED"), "interrupted"), kInterrupted, session);
    complain("ringmaster: interrupted\n");
    return kInterrupted;
}

int report_end(const RunHistory& history, int status, const CommandContext& session) {
    const RunState& state = history.state();
    if (!session.json || status == 0 || status == kInterrupted || state.state != RunPhase::Failed)
        return status;
    json finding = finding_of(Error(Failure::Refused, Code(state.code), state.reason));
    finding["parameters"]["run"] = history.run().name();
    if (state.failed_rank >= 0) finding["parameters"]["rank"] = state.failed_rank;
    json line = line_of(finding, status, session);
    line["dir"] = history.run().dir.string();
    print_line(line);
    return status;
}

}  // namespace ringmaster
