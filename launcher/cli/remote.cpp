#include "launcher/cli/remote.h"

#include <ctime>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/cli/interrupts.h"
#include "launcher/cli/live.h"
#include "launcher/cli/person.h"
#include "launcher/cli/plan_text.h"
#include "launcher/cli/slurm.h"
#include "launcher/follower.h"
#include "launcher/format.h"
#include "launcher/nodes/remote_run.h"
#include "launcher/resume.h"

namespace ringmaster {

namespace {

std::vector<std::unique_ptr<SshSession>> sessions_of(std::vector<Node>& nodes) {
    std::vector<std::unique_ptr<SshSession>> sessions;
    for (Node& node : nodes) sessions.push_back(std::move(node.session));
    return sessions;
}

Request request_for(const Arguments& arguments, const Machine& machine, int nodes) {
    Request request = request_of(arguments);
    request.nodes = nodes;
    if (!request.ranks && machine.gpus.empty() && nodes > 2) request.ranks = nodes;
    return request;
}

void print_remote_commands(const RemoteRun& remote, const RunDirectory& run, const Plan& plan,
                           const Session& session) {
    const std::vector<StartCommand> commands = agent_commands(remote, 1, "none");
    const std::string torchrun =
        "torchrun --no-python --nnodes " + std::to_string(remote.nodes.size()) + " --nproc-per-node " +
        std::to_string(plan.ranks / static_cast<int>(remote.nodes.size())) + " --node-rank N --master-addr " +
        remote.nodes[0].address + " -- ringmaster-engine --run DIR";
    if (session.json) {
        nlohmann::json nodes = nlohmann::json::array();
        for (size_t i = 0; i < commands.size(); ++i) {
            nodes.push_back(
                {{"host", remote.nodes[i].target},
                 {"agent", {{"environment", nlohmann::json::object()}, {"argv", commands[i].arguments}}},
                 {"ranks", nlohmann::json::array()}});
        }
        print_json({{"dir", run.dir.string()}, {"nodes", nodes}, {"torchrun", torchrun}});
        return;
    }
    std::string text = "run directory: " + run.dir.string() + " (mirrors that of the nodes)\n";
    for (size_t i = 0; i < commands.size(); ++i) {
        text += "\n" + printable(remote.nodes[i].target) + ":\n  " + printable(shell_line(commands[i])) +
                (i == 0 ? "" : " --meet ADDRESS:PORT:PORT") + "\n";
    }
    print(text + "\nthe same, without agents:\n  " + torchrun + "\n");
}

/// Nobody else says so in run.json.
void say_not_started(const RunDirectory& run, RunPhase phase, const std::string& reason) {
    RunState state = read_run_state(run.dir);
    state.state = phase;
    state.reason = reason;
    state.ended = state.updated = static_cast<double>(std::time(nullptr));
    state.writer = this_process();
    write_run_state(run.dir, state);
}

void saying_why(const RunDirectory& run, const std::function<void()>& work) {
    try {
        work();
    } catch (const Cancelled&) {
        say_not_started(run, RunPhase::Stopped, "interrupted before it started");
        throw;
    } catch (const Error& problem) {
        say_not_started(run, RunPhase::Failed, problem.text());
        throw;
    }
}

void place_and_start(std::vector<Node>& nodes, const RemoteRun& remote, const RunDirectory& run, int attempt,
                     const std::string& resume, const Session& session, const Interrupts& interrupts) {
    ProgressPrinter printer(session, interrupts);
    std::mutex turn;  // every node has a thread
    Progress progress = printer.progress();
    progress.step = [&turn, step = progress.step](const ProgressStep& now) {
        const std::lock_guard lock(turn);
        step(now);
    };
    place_run_or_say(nodes, remote, run, session, progress);
    saying_why(run, [&] { start_remote(nodes, remote, attempt, resume); });
}

/// The state as it was before this start is not taken for its end.
void mark_running(const RunDirectory& run, int attempt, int ranks) {
    RunState state = read_run_state(run.dir);
    state.state = RunPhase::Running;
    state.reason.clear();
    state.attempt = attempt;
    state.ranks = ranks;
    state.started = state.updated = static_cast<double>(std::time(nullptr));
    state.ended = 0;
    state.writer = {};
    state.nodes.clear();
    write_run_state(run.dir, state);
}

int follow_remote(const Arguments& arguments, RunFollower& follower, std::vector<Node>& nodes,
                  const Session& session, const Interrupts& interrupts) {
    if (arguments.has("--detach")) return 0;
    const RunMirror mirror(follower.run(), sessions_of(nodes));
    return follow_to_end(follower, CtrlC::StopsRun, session, interrupts);
}

}  // namespace

std::vector<Node> connect_to(const std::vector<std::string>& names, bool trust, const Session& session,
                             const Interrupts& interrupts) {
    ProgressPrinter printer(session, interrupts);
    printer.progress().report({"connecting to " + format_count(static_cast<int64_t>(names.size())) +
                                   (names.size() == 1 ? " node" : " nodes"),
                               0, 0});
    return connect_nodes(parse_targets(names), person_at_terminal(trust),
                         needs_of(session.places.engine().string(), RINGMASTER_TORCH_VERSION));
}

void place_run_or_say(std::vector<Node>& nodes, const RemoteRun& remote, const RunDirectory& run,
                      const Session& session, const Progress& progress) {
    saying_why(run, [&] { place_run(nodes, remote, run, session.places, progress); });
}

int launch_on_nodes(const Arguments& arguments, const Session& session, const RunOptions& options) {
    const Interrupts interrupts;
    std::vector<Node> nodes =
        connect_to(arguments.all("--node"), arguments.has("--trust-on-first-use"), session, interrupts);
    const Machine machine = machine_of(nodes);
    const Proposal proposal =
        propose(request_for(arguments, machine, static_cast<int>(nodes.size())), machine, session.places);
    require_launchable(proposal);
    check_output_dir(proposal.reading.config.output_dir, options.overwrite);
    if (arguments.has("--dry-run")) {
        const RunDirectory run{next_run_directory(options.runs_dir, options.name)};
        print_remote_commands(lay_out(nodes, run, proposal.plan, session.places), run, proposal.plan,
                              session);
        return 0;
    }
    if (!session.json) print(plan_summary(proposal.plan, session.out));
    ProgressPrinter printer(session, interrupts);
    const PreparedRun prepared = prepare_run(proposal, options, machine, session.places, printer.progress());
    printer.clear();
    const RemoteRun remote = lay_out(nodes, prepared.run, prepared.plan, session.places);
    place_and_start(nodes, remote, prepared.run, 1, "none", session, interrupts);
    mark_running(prepared.run, 1, prepared.plan.ranks);
    if (session.json) {
        print_run_line(prepared.run);
    } else {
        print("run directory: " + prepared.run.dir.string() + "\n");
    }
    RunFollower follower = terminal_follower(prepared.run);
    return follow_remote(arguments, follower, nodes, session, interrupts);
}

int resume_on_nodes(const Arguments& arguments, const Session& session, const RunDirectory& run) {
    if (arguments.has("--ranks"))
        throw Error(Failure::Usage, "a run on other machines goes on with the ranks that it had", "--ranks",
                    "launch it anew with other --ranks");
    const Interrupts interrupts;
    const RemoteRun remote = read_remote_run(run);
    std::vector<std::string> names;
    for (const RemoteNode& node : remote.nodes) names.push_back(node.target);
    std::vector<Node> nodes = connect_to(names, false, session, interrupts);
    ResumeOptions options;
    options.checkpoint = arguments.whole("--checkpoint", 0);
    for (const std::string& setting : arguments.all("--set")) options.set.push_back(parse_set(setting));
    ProgressPrinter printer(session, interrupts);
    fetch_checkpoint(*nodes[0].session, remote, run, options.checkpoint, printer.progress());
    const ResumedRun resumed =
        prepare_resume(run, options, machine_of(nodes), session.places, printer.progress());
    printer.clear();
    RunFollower follower = terminal_follower(run);
    while (!follower.poll().empty()) {  // what the earlier attempts said is not told again
    }
    place_and_start(nodes, remote, run, resumed.attempt,
                    resumed.from_step ? std::to_string(*resumed.from_step) : "none", session, interrupts);
    mark_running(run, resumed.attempt, resumed.plan.ranks);
    tell_resumed(run, resumed, session);
    return follow_remote(arguments, follower, nodes, session, interrupts);
}

std::unique_ptr<RunMirror> mirror_of(const RunDirectory& run) {
    if (!is_remote(run) || is_over(read_run_state(run.dir).state)) return nullptr;
    const RemoteRun remote = read_remote_run(run);
    std::vector<std::unique_ptr<SshSession>> sessions(remote.nodes.size());
    const SshPerson person = one_at_a_time(person_at_terminal(false));
    for_each_at_once(sessions.size(), [&](size_t i) {
        try {
            sessions[i] =
                std::make_unique<SshSession>(ssh_settings(parse_target(remote.nodes[i].target)), person);
        } catch (const Error& problem) {
            complain("ringmaster: " + printable(problem.text()) + "\n");
        }
    });
    return std::make_unique<RunMirror>(run, std::move(sessions));
}

bool stop_anywhere(const RunDirectory& run, StopHow how) {
    if (is_slurm(run)) return stop_on_slurm(run, how);
    if (!is_remote(run)) return request_stop(run, how);
    if (is_over(read_run_state(run.dir).state)) return false;
    const RemoteRun remote = read_remote_run(run);
    SshSession first(ssh_settings(parse_target(remote.nodes[0].target)), person_at_terminal(false));
    return request_remote_stop(first, remote, how);
}

}  // namespace ringmaster
