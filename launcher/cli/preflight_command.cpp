// preflight: checks on real rows that training on the mesh gives the same result as on one rank; leaves no
// files.
#include <QTemporaryDir>
#include <algorithm>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/base/format.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/plan_text.h"
#include "launcher/run/local_node.h"
#include "launcher/run/prepare.h"

namespace ringmaster {

namespace {

/// Waits until no process of the run is left. Returns its last state; throws Cancelled if the user ended it.
RunState wait_for_end(const RunDirectory& run, const Interrupts& interrupts) {
    bool asked = false;
    while (true) {
        const RunState state = read_run_state(run.dir);
        if (is_over(state.state) && !living_process(state)) {
            if (asked) throw Cancelled();
            return state;
        }
        if (interrupts.wants_end() && !asked) {
            asked = true;
            request_stop(run, StopHow::Now);
        }
        interrupts.wait(kPollMs);
    }
}

nlohmann::json read_report(const RunDirectory& run) {
    std::ifstream file(run.preflight());
    return nlohmann::json::parse(file, nullptr, false);
}

double worst(const nlohmann::json& errors) {
    double found = 0;
    for (const nlohmann::json& entry : errors)
        found = std::max(found, entry.at("relative_error").get<double>());
    return found;
}

std::string report_text(const nlohmann::json& report, const TextStyle& ink) {
    const bool ok = report.at("ok");
    const std::string unproved = report.value("unproved", "");
    if (!unproved.empty()) return ink.bold("nothing is proved") + ": " + printable(unproved) + "\n";
    std::string text = ok ? ink.bold(ink.green("passed")) : ink.bold(ink.red("failed"));
    text += " in " + format_duration(report.at("seconds")) + " on " + format_count(report.at("rows")) +
            " rows of up to " + format_count(report.at("tokens")) + " tokens\n";
    const auto line = [&](const std::string& name, const std::string& value) {
        text += "  " + name + std::string(30 - std::min<size_t>(30, name.size()), ' ') + value + "\n";
    };
    const double bound = report.at("bound");
    const auto loss = [&](const char* which) {
        const nlohmann::json& value = report.at("loss").at(which);
        return value.is_number() ? format_number(value, 8) : "not finite";
    };
    line("loss on one rank", loss("reference"));
    line("loss on the mesh", loss("mesh"));
    if (!report.at("gradients").empty()) {
        line("largest error of a gradient", format_number(worst(report.at("gradients")), 2) +
                                                " of its norm (bound " + format_number(bound, 2) + ")");
        if (report.contains("float32"))
            line("of the same in float32", format_number(report.at("float32").at("worst"), 2) + " (bound " +
                                               format_number(report.at("float32").at("bound"), 2) + ")");
        line("of queries, keys and values", format_number(worst(report.at("attention")), 2));
        line("other documents", report.at("leak") ? ink.red("a change of one reaches them")
                                                  : "unchanged to the last bit when one is changed");
    }
    if (!ok) text += ink.red(printable(report.at("failure").get<std::string>())) + "\n";
    return text;
}

int run_preflight(const Arguments& arguments, const CommandContext& session) {
    const Interrupts interrupts;
    const auto at = reach({}, session.places, {}, {});
    Request request = request_of(arguments);
    request.preflight = Preflight::Only;
    const Proposal proposal = at->propose(request, session.places);
    at->require_startable(proposal.plan, session.places);
    if (!session.json) print(plan_summary(proposal.plan, session.out));

    const QTemporaryDir folder;
    if (!folder.isValid())
        throw Error(Failure::Refused, Code("FILE-WRITE"), folder.errorString().toStdString(),
                    "the folder for temporary files");
    RunOptions options;
    options.runs_dir = folder.path().toStdString();
    options.name = "preflight";
    options.overwrite = true;  // output_dir stays untouched
    ProgressPrinter printer(session, interrupts);
    const PreparedRun prepared =
        prepare_run(proposal, options, at->machine(), session.places, printer.progress());
    printer.clear();
    at->start(prepared.run, prepared.plan, session.places);
    const RunState state = wait_for_end(prepared.run, interrupts);
    nlohmann::json report = read_report(prepared.run);
    if (!report.is_object()) throw Error(Failure::Refused, Code(state.code), state.reason);
    if (session.json) {
        report["type"] = "preflight";
        print_line(report);
    } else {
        print(report_text(report, session.out.ink));
    }
    return report.at("ok").get<bool>() ? 0 : 1;
}

}  // namespace

Command preflight_command() {
    return {{"preflight", "CONFIG", true,
             "Proves on some of the run's next rows that the mesh trains what one rank would: loss, every "
             "tensor's gradient, the weights of each rank, no leak between documents.",
             request_options(),
             "exit status: 0 proved; 1 not proved, or the configuration cannot be launched; 2 missing file, "
             "malformed "
             "YAML; 3 the engine could\nnot be started; 130 interrupted"},
            run_preflight,
            true};
}

}  // namespace ringmaster
