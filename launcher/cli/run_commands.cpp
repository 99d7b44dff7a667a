// watch, stop and runs: the commands for existing runs.
#include <chrono>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/backends/run_follower.h"
#include "launcher/backends/runs_there.h"
#include "launcher/base/format.h"
#include "launcher/cli/commands.h"
#include "launcher/cli/failure.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/person.h"
#include "launcher/cli/run_list.h"
#include "launcher/history/figures.h"
#include "launcher/run/local_node.h"
#include "launcher/run/tracking.h"

namespace ringmaster {

namespace {

using Clock = std::chrono::steady_clock;
constexpr auto kSavePatience = std::chrono::minutes(10);
constexpr auto kNowPatience = std::chrono::minutes(1);

/// Opens the run's follower; reports nodes that cannot be reached now, which it retries.
std::unique_ptr<RunFollower> follower_at_terminal(const RunDirectory& run) {
    return follower_of(run, person_at_terminal(false), [](const std::string& problem) {
        complain("ringmaster: " + printable(problem) + "\n");
    });
}

int run_watch(const Arguments& arguments, const CommandContext& session) {
    const RunDirectory run = run_here_or_there(arguments, session);
    const Interrupts interrupts;
    if (session.json) print_run_line(run);
    const auto follower = follower_at_terminal(run);
    if (follower == nullptr) track_from_here(run, session.places);
    RunHistory history = terminal_history(run);
    const int status = follow_to_end(history, CtrlC::Leaves, session, interrupts, follower.get());
    return report_end(history, status, session);
}

/// Waits until the run is over, `patience` runs out or the user interrupts. Returns the run's state.
RunState wait_for_end(const RunDirectory& run, Clock::duration patience, ProgressPrinter& printer,
                      const Interrupts& interrupts) {
    const auto end = Clock::now() + patience;
    RunHistory history(run, 1);
    while (true) {
        history.poll();
        const Headline now = headline(history, std::nullopt);
        if (is_over(history.state().state) || Clock::now() > end || interrupts.wants_end() ||
            interrupts.hung_up())
            return history.state();
        printer.progress().report(
            {"stopping", {format_count(now.step), now.phase ? ", " + now.phase->name : ""}});
        interrupts.wait(kPollMs);
    }
}

int run_stop(const Arguments& arguments, const CommandContext& session) {
    const RunDirectory run = run_here_or_there(arguments, session);
    const StopHow how = arguments.has("--now") ? StopHow::Now : StopHow::FinishAndSave;
    const Interrupts interrupts;
    ProgressPrinter printer(session, interrupts);
    const std::atomic<bool> placing = false;
    const bool asked = unless_interrupted(interrupts, [&] {
        return backend_of(run)->stop(run, how, person_at_terminal(false, interrupts, placing));
    });
    const auto follower = follower_at_terminal(run);
    const RunState state =
        wait_for_end(run, how == StopHow::Now ? kNowPatience : kSavePatience, printer, interrupts);
    printer.clear();
    if (session.json && is_over(state.state)) {
        print_json({{"name", run.name()},
                    {"dir", run.dir.string()},
                    {"state", to_string(state.state)},
                    {"reason", state.reason}});
    } else if (is_over(state.state)) {
        print((asked ? "" : "it was over already: ") + ending_text(run, session.out));
    }
    if (is_over(state.state)) return asked && state.state == RunPhase::Failed ? 1 : 0;
    if (interrupts.wants_end()) throw Cancelled();
    throw Error(Failure::Refused, Code("RUN-ACTIVE"),
                "was asked to stop and is not over yet: it is " + std::string(to_string(state.state)),
                run.name(),
                "`ringmaster stop --now " + run.name() + "` does not wait for the step and saves nothing");
}

std::string runs_table(const std::vector<RunThere>& runs, const Terminal& terminal) {
    RunList list({}, {"started"});
    for (const RunThere& one : runs) list.add(one.run, {}, {format_time(one.run.state.started)});
    return list.text(terminal);
}

/// Asks Slurm how open jobs ended. Returns false if no state can have changed.
bool settle(const std::vector<RunThere>& runs) {
    std::vector<RunDirectory> directories;
    for (const RunThere& one : runs) directories.push_back({one.run.dir});
    try {
        return settle_open_runs(directories);
    } catch (const Error& problem) {
        complain("ringmaster: " + printable(problem.text()) + "\n");
        return true;
    }
}

int run_runs(const Arguments& arguments, const CommandContext& session) {
    if (arguments.has("--node") && (arguments.has("--delete") || arguments.has("--runs-dir")))
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "lists what is on another machine and takes no other option", "--node");
    if (arguments.has("--trust-on-first-use") && !arguments.has("--node"))
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "is about the machine of --node, and none is named", "--trust-on-first-use");
    Places places = session.places;
    places.runs_dir = runs_dir_of(arguments, session);
    if (arguments.has("--delete")) {
        const RunDirectory run = find_run(arguments.text("--delete"), places.runs_dir);
        backend_of(run)->settle(run, person_at_terminal(false));
        delete_run(run);
        if (session.json) {
            print_json({{"deleted", run.dir.string()}});
        } else {
            print("deleted " + run.dir.string() + "\n");
        }
        return 0;
    }
    const SshPerson person = person_at_terminal(arguments.has("--trust-on-first-use"));
    Destination asked;
    if (arguments.has("--node")) asked.nodes = {arguments.text("--node")};
    const std::unique_ptr<RunBackend> place = backend_for(asked);
    RunsThere found = place->list(places, person);
    if (!arguments.has("--node") && settle(found.runs)) found = place->list(places, person);
    if (session.json) {
        nlohmann::json list = nlohmann::json::array();
        for (const RunThere& one : found.runs) {
            list.push_back(summary_to_json(one.run));
            if (!one.id.empty()) list.back()["id"] = one.id;
        }
        print_json(list);
    } else if (!found.runs.empty()) {
        print(runs_table(found.runs, session.out));
    } else if (arguments.has("--node")) {
        print(printable(found.host) + ": " + nothing_there_text(found) + "\n");
    } else {
        print("no runs in " + places.runs_dir.string() + "\n");
    }
    return 0;
}

}  // namespace

Command watch_command() {
    return {
        {"watch",
         "RUN",
         true,
         "Shows a run live, whoever started it; RUN is a run directory or its name.",
         {run_node_option(), trust_option(), runs_dir_option(), json_option()},
         "Watching starts and stops nothing; any number of people may watch a run.\n"
         "exit status: 0 it completed or was stopped, 1 it failed, 130 left with Ctrl-C (the run continues)"},
        run_watch,
        true};
}

Command stop_command() {
    return {{"stop",
             "RUN",
             true,
             "Lets a run finish its step, save a checkpoint and stop; waits for that.",
             {{"--now", "", "stop at once, without saving"},
              run_node_option(),
              trust_option(),
              runs_dir_option(),
              json_option()},
             ""},
            run_stop};
}

Command runs_command() {
    return {{"runs",
             "",
             false,
             "Lists the runs, newest first.",
             {{"--delete", "RUN", "delete a run that is over, with its checkpoints"},
              {"--node", "HOST",
               "[user@]host[:port]: list the runs launched there over SSH, from any machine; `watch RUN "
               "--node HOST`\nfollows one"},
              trust_option(),
              runs_dir_option(),
              json_option()},
             ""},
            run_runs};
}

}  // namespace ringmaster
