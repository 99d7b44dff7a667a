#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/error.h"
#include "engine/plan/resolve/plan_json.h"
#include "engine/plan/time/timeline.h"
#include "launcher/base/files.h"
#include "launcher/base/format.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/plan_text.h"
#include "launcher/machine/machine_figures.h"
#include "launcher/measure/measure.h"
#include "launcher/run/prepare.h"

namespace ringmaster {

namespace {

std::string off_by(double measured, double predicted) {
    return measured > 0 ? ", " + format_percent(predicted / measured - 1) + " off" : "";
}

std::string measured_text(const Measurement& m, const Plan& before) {
    return "measured over " + std::to_string(kMeasuredSteps) + " steps on " + format_count(m.ranks) +
           (m.ranks == 1 ? " rank" : " ranks") + ": " + format_bytes(static_cast<int64_t>(m.peak_bytes)) +
           " of tensors on the fullest (the formula said " +
           format_bytes(static_cast<int64_t>(m.predicted_bytes)) + off_by(m.peak_bytes, m.predicted_bytes) +
           "), " + format_duration(m.step_s) + " a step (" + format_duration(before.time->step_s) +
           " before it was measured)\n";
}

/// Measures the plan, stores the result and plans again with it.
void measure(Proposal& proposal, const Machine& machine, const CommandContext& session) {
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    const Measurement measured = measure_plan(proposal, machine, session.places, printer.progress());
    keep_measurement(session.places, machine, measured);
    printer.clear();
    complain(measured_text(measured, proposal.plan));
    proposal.plan = plan_request(proposal.request, proposal.reading, machine, session.places);
}

void write_timeline_file(const Proposal& proposal, const Machine& machine, const CommandContext& session,
                         const std::string& file) {
    if (file.empty()) throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "is empty", "--timeline");
    const Plan& plan = proposal.plan;
    if (!plan.ok() || !plan.time) {
        throw Error(Failure::Refused, Code("ARGUMENT-CONFLICT"),
                    plan.ok() ? "there is no time to draw: the model's shape is not known"
                              : "a plan with an error has no timeline",
                    "--timeline");
    }
    std::ostringstream trace;
    write_timeline(trace, plan_request_of(proposal.request, machine, session.places), plan);
    write_file(absolute_path(file), trace.str());
    complain("timeline of " + timeline_selection(plan) + " written to " + printable(file) +
             " (open it in Perfetto or chrome://tracing)\n");
}

int run_plan(const Arguments& arguments, const CommandContext& session) {
    const Machine machine = this_machine();
    Proposal proposal = propose(request_of(arguments), machine, session.places);
    if (arguments.has("--measure") && proposal.reading.readable) measure(proposal, machine, session);
    if (arguments.has("--timeline") && proposal.reading.readable)
        write_timeline_file(proposal, machine, session, arguments.text("--timeline"));
    if (session.json) {
        print_json(plan_to_json(proposal.plan));
    } else if (proposal.reading.readable) {
        print(plan_text(proposal.plan, session.out));
    } else {
        complain(diagnostics_text(proposal.plan.diagnostics, session.err, Severity::Error));
    }
    if (!proposal.reading.readable) return 2;
    return proposal.plan.ok() ? 0 : 1;
}

}  // namespace

Command plan_command() {
    CommandSpec spec{
        "plan",
        "CONFIG",
        true,
        "Shows what an axolotl (or accelerate) YAML means on a number of ranks: mesh, batch, memory, "
        "time, and every problem.",
        request_options(),
        "exit status: 0 no error; 1 the plan has an error, or could not be measured; 2 missing file "
        "or malformed YAML; 3 the engine could\nnot be started; 130 interrupted"};
    spec.options.push_back(
        {"--measure", "",
         "run three steps of the plan here, on rows of random tokens: their memory and time replace "
         "the\nestimate, and correct later estimates for other lengths and meshes. No model is "
         "saved"});
    spec.options.push_back(
        {"--timeline", "FILE", "write the simulated step as a Chrome trace (Perfetto, chrome://tracing)"});
    return {std::move(spec), run_plan};
}

}  // namespace ringmaster
