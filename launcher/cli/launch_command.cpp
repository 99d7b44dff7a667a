// prepare, launch and resume: the commands that start a run.
#include <algorithm>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/anywhere/restart.h"
#include "launcher/backends/preview.h"
#include "launcher/base/format.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/destination.h"
#include "launcher/cli/failure.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/person.h"
#include "launcher/cli/plan_text.h"
#include "launcher/cli/restarts.h"
#include "launcher/slurm/slurm_run.h"

namespace ringmaster {

namespace {

std::vector<OptionSpec> launch_options() {
    std::vector<OptionSpec> options = request_options();
    const std::vector<OptionSpec> more = {
        runs_dir_option(),
        {"--name", "NAME", "the run's name (default: the file's name and date); -2 is added if it is taken"},
        {"--overwrite", "", "write into an output_dir that holds files of other programs"},
        {"--detach", "", "return as soon as the run has been started"},
        {"--dry-run", "", "print the exact commands and start nothing"},
        {"--no-preflight", "",
         "skip preflight, which proves on the run's first rows that the mesh computes what one rank would"},
        {"--restarts", "N",
         "restart a failed run automatically, up to N times (0), from its newest whole "
         "checkpoint;\non "
         "one machine its agent does so, on several this command while it follows the run"},
        {"--shrink", "", "let a restart leave out missing nodes, without asking"},
        {"--alert-webhook", "URL", "send the run's alerts to this address (help alerts); empty: to none"},
        {"--alert-command", "COMMAND", "run this program for each alert, without a shell; empty: none"}};
    options.insert(options.end(), more.begin(), more.end());
    std::ranges::move(destination_options(), std::back_inserter(options));
    return options;
}

/// Returns the run's alert settings: this user's settings, changed by the options.
AlertSettings alerts_of(const Arguments& arguments) {
    AlertSettings alerts = read_alert_settings(alert_settings_file());
    if (arguments.has("--alert-webhook")) {
        alerts.webhook = arguments.text("--alert-webhook");
        if (!alerts.webhook.empty()) check_webhook(alerts.webhook, "--alert-webhook");
    }
    if (arguments.has("--alert-command")) {
        alerts.command = split_command(arguments.text("--alert-command"));
        if (!alerts.command.empty()) check_alert_command(alerts.command, "--alert-command");
    }
    return alerts;
}

RunOptions run_options(const Arguments& arguments, const CommandContext& session) {
    RunOptions options;
    options.runs_dir = runs_dir_of(arguments, session);
    options.name = arguments.has("--name") ? arguments.text("--name") : suggest_run_name(arguments.operand());
    options.overwrite = arguments.has("--overwrite");
    options.alerts = alerts_of(arguments);
    options.made = [&session](const RunDirectory& run) { session.about(run); };
    check_run_name(options.name);
    return options;
}

/// The stream for text to the user. `prepare` uses stderr, because its stdout holds only the directory, for
/// use as "$(ringmaster prepare …)".
enum class UserStream { Stdout, Stderr };

void tell(const std::string& text, UserStream where) {
    if (where == UserStream::Stdout) {
        print(text);
    } else {
        complain(text);
    }
}

void show_plan(const Plan& plan, const CommandContext& session, UserStream where) {
    if (session.json) return;
    tell(plan_summary(plan, where == UserStream::Stdout ? session.out : session.err), where);
}

PreparedRun prepare(const Proposal& proposal, const RunOptions& options, const Machine& machine,
                    const CommandContext& session, const Interrupts& interrupts, UserStream where) {
    ProgressPrinter printer(session, interrupts);
    PreparedRun prepared = prepare_run(proposal, options, machine, session.places, printer.progress());
    printer.clear();
    if (!session.json) {
        const TokenizedRows& rows = prepared.rows;
        const std::string losses = describe_losses(rows);
        const std::string tokens = rows.data.tokens.empty()
                                       ? " rows to come from a folder"
                                       : " rows, " + format_count(rows.tokens_total) + " tokens";
        tell(format_count(rows.data.rows) + tokens +
                 (rows.data.eval_rows > 0 ? ", " + format_count(rows.data.eval_rows) + " rows for evaluation"
                                          : "") +
                 (rows.cached ? " (prepared before)" : "") + (losses.empty() ? "" : "\n" + losses) + "\n",
             where);
    }
    return prepared;
}

/// Plans the run at its destination and checks that it can start. Makes nothing yet.
Proposal propose_at(const Arguments& arguments, const RunBackend& at, const CommandContext& session) {
    const Proposal proposal = at.propose(request_of(arguments), session.places);
    check_output_dir(proposal.reading.config.output_dir, arguments.has("--overwrite"));
    at.require_startable(proposal.plan, session.places);
    return proposal;
}

void print_preview(const LaunchPreview& preview, const CommandContext& session) {
    if (session.json) {
        nlohmann::json line = preview_to_json(preview);
        line["type"] = "preview";
        print_line(line);
    } else {
        print(printable(preview_text(preview)));
    }
}

void tell_submitted(const RunDirectory& run, const Started& started, const CommandContext& session) {
    if (session.json || !started.job) return;
    const JobId& job = *started.job;
    print("submitted as Slurm job " + job.number + (job.cluster.empty() ? "" : " of " + job.cluster) +
          "; the script is " + printable((run.dir / kSubmitScript).string()) + "\n");
}

/// Follows the run and, if this program is to restart it, its next attempts.
int follow(const Arguments& arguments, RunHistory& history, std::unique_ptr<RunBackend> at,
           const CommandContext& session, const Interrupts& interrupts) {
    if (arguments.has("--detach")) return 0;
    RestartLimits limits = restart_limits_of(history.run());
    limits.may_shrink = limits.may_shrink || arguments.has("--shrink");
    return report_end(history, follow_restarting(history, std::move(at), limits, session, interrupts),
                      session);
}

int run_launch(const Arguments& arguments, const CommandContext& session) {
    refuse_contradictions(arguments);
    const RunOptions options = run_options(arguments, session);
    const Destination to = destination_of(arguments);
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    std::atomic<bool> placing = false;
    const SshPerson person = person_at_terminal(arguments.has("--trust-on-first-use"), interrupts, placing);
    std::unique_ptr<RunBackend> at =
        unless_interrupted(interrupts, [&] { return reach(to, session.places, person, printer.progress()); });
    placing = true;
    printer.clear();
    const Proposal proposal = propose_at(arguments, *at, session);
    if (arguments.has("--dry-run")) {
        print_preview(at->preview(proposal, options, session.places), session);
        return 0;
    }
    show_plan(proposal.plan, session, UserStream::Stdout);
    const std::string script = at->try_start(proposal, options, session.places);
    if (!session.json && !script.empty()) print("\n" + printable(script) + "\n");
    const auto [run, plan, rows] =
        prepare(proposal, options, at->machine(), session, interrupts, UserStream::Stdout);
    at->place(run, plan, session.places, printer.progress());
    printer.clear();
    const Started started = at->start(run, plan, session.places);
    if (session.json) {
        print_run_line(run);
    } else {
        print("run directory: " + run.dir.string() + "\n");
    }
    tell_submitted(run, started, session);
    if (!session.json && !arguments.has("--detach")) print("\n");
    RunHistory history = terminal_history(run);
    return follow(arguments, history, std::move(at), session, interrupts);
}

int run_prepare(const Arguments& arguments, const CommandContext& session) {
    refuse_contradictions(arguments);
    if (arguments.has("--node"))
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "a run directory is prepared on this machine; `launch` takes it to others", "--node");
    const RunOptions options = run_options(arguments, session);
    const auto at = backend_for(destination_of(arguments));
    const Interrupts interrupts;
    const Machine machine = this_machine();
    const Proposal proposal = propose(at->complete(request_of(arguments), machine), machine, session.places);
    require_launchable(proposal);
    show_plan(proposal.plan, session, UserStream::Stderr);
    const PreparedRun prepared = prepare(proposal, options, machine, session, interrupts, UserStream::Stderr);
    at->write_script(prepared.run, prepared.plan, session.places);
    if (session.json) {
        print_run_line(prepared.run);
    } else {
        print(prepared.run.dir.string() + "\n");
    }
    return 0;
}

ResumeOptions resume_options(const Arguments& arguments) {
    ResumeOptions options;
    options.checkpoint = arguments.whole("--checkpoint", 0);
    if (const auto ranks = arguments.whole("--ranks", 1)) options.ranks = static_cast<int>(*ranks);
    for (const std::string& setting : arguments.all("--set")) options.set.push_back(parse_set(setting));
    return options;
}

int run_resume(const Arguments& arguments, const CommandContext& session) {
    const RunDirectory run = run_here_or_there(arguments, session);
    const ResumeOptions options = resume_options(arguments);
    const bool as_it_was = !options.checkpoint && !options.ranks && options.set.empty();
    if (as_it_was && is_completed(run)) {
        if (session.json) print_run_line(run);
        complain(run.name() + " is already completed: the model is in its output_dir\n");
        return 0;
    }
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    const bool may_agree = arguments.has("--shrink") || (session.out.is_tty && !session.json);
    std::atomic<bool> placing = false;
    const SshPerson person = person_at_terminal(arguments.has("--trust-on-first-use"), interrupts, placing);
    PreparedResume resume = unless_interrupted(interrupts, [&] {
        return prepare_restart(
            run, options, parse_slurm_options(arguments.all("--slurm")),
            may_agree ? agree_at_terminal(arguments.has("--shrink"), session, printer) : AgreeToShrink(),
            session.places, person, printer.progress());
    });
    placing = true;
    printer.clear();
    if (resume.resumed.replanned) show_plan(resume.resumed.plan, session, UserStream::Stdout);
    RunHistory history = terminal_history(run);
    while (!history.poll().empty()) {  // skip what the earlier attempts reported
    }
    history.take_alerts();
    resume.at->place(run, resume.resumed.plan, session.places, printer.progress());
    printer.clear();
    const Started started = resume.at->start_resumed(run, resume.resumed, session.places);
    tell_resumed(run, resume.resumed, session);
    tell_submitted(run, started, session);
    return follow(arguments, history, std::move(resume.at), session, interrupts);
}

constexpr const char* kEndings =
    "Ctrl-C finishes the step, saves and stops (exit status 0 once it is saved); a second one stops now. "
    "SIGTERM saves and\n"
    "stops. Closing the terminal leaves the run alive: `ringmaster watch` finds it again.\n"
    "exit status: 0 completed, or stopped by request; 1 refused or failed; 2 missing file, malformed YAML, "
    "unusable arguments;\n"
    "3 the engine could not be started; 130 interrupted before the run had started";

}  // namespace

Command prepare_command() {
    return {{"prepare", "CONFIG", true,
             "Plans, tokenizes and makes a run directory that can be started; prints its path.",
             launch_options(), ""},
            run_prepare};
}

Command launch_command() {
    return {{"launch", "CONFIG", true, "Prepares a run, starts it on this machine and shows it live.",
             launch_options(), kEndings},
            run_launch,
            true};
}

Command resume_command() {
    CommandSpec spec{
        "resume", "RUN",
        true,     "Continues a run that was stopped or has failed, from its newest whole checkpoint.",
        {},       kEndings};
    spec.options = {{"--checkpoint", "STEP", "continue from this step's checkpoint; later ones are renamed"},
                    {"--ranks", "N", "continue on another number of ranks; the run is planned again"},
                    {"--set", "key=value", "change a key; the run is planned again", true},
                    {"--slurm", "key=value", "change an option of sbatch, for a run in Slurm", true},
                    {"--shrink", "", "leave out missing nodes, without asking"},
                    run_node_option(),
                    trust_option(),
                    {"--detach", "", "return as soon as the run has been started"},
                    runs_dir_option(),
                    json_option()};
    return {std::move(spec), run_resume, true};
}

}  // namespace ringmaster
