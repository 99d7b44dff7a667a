#include "launcher/anywhere/adopt.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/config/document.h"
#include "engine/config/keys.h"
#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/plan/plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "engine/words/spelling.h"
#include "launcher/base/files.h"
#include "launcher/nodes/remote_run.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

/// Returns the only run found, or else the only one that is not over.
const RunThere& choose(const RunsThere& found, const std::string& name) {
    if (found.runs.empty()) {
        const std::string near = nearest_word(name, found.names);
        std::string all;
        for (const std::string& there : found.names) all += (all.empty() ? "" : ", ") + there;
        throw Error(Failure::Usage, Code("RUN-MISSING"), "there is no run '" + name + "' on " + found.host,
                    {},
                    !near.empty() ? "did you mean " + near + "?"
                    : all.empty() ? nothing_there_text(found)
                                  : "there are " + all);
    }
    if (found.runs.size() == 1) return found.runs.front();
    const auto open = [](const RunThere& one) { return !is_over(one.run.state.state); };
    if (std::count_if(found.runs.begin(), found.runs.end(), open) == 1)
        return *std::find_if(found.runs.begin(), found.runs.end(), open);
    std::string all;
    for (const RunThere& one : found.runs)
        all += (all.empty() ? "" : ", ") + one.handle() + " (" + to_string(one.run.state.state) + ")";
    throw Error(Failure::Usage, Code("RUN-MISSING"),
                "several runs of that name are on " + found.host + ": " + all, name,
                "name one of them so, with what stands before the slash");
}

constexpr int64_t kMostPlanBytes = 16 << 20;

/// Adds the other nodes that the user named. Each node itself reports where it keeps the run.
void add_others(RemoteRun& remote, const RunThere& first, const std::vector<std::string>& nodes,
                const SshPerson& person) {
    if (nodes.size() == 1) return;
    if (nodes.size() != remote.nodes.size())
        throw Error(Failure::Usage, Code("ARGUMENT-CONFLICT"),
                    "the run is on " + std::to_string(remote.nodes.size()) + " nodes", "--node",
                    "name one of them, or all in their order");
    if (first.node != 0)
        throw Error(Failure::Usage, Code("RUN-ELSEWHERE"),
                    "is node " + std::to_string(first.node) + " of the run, and named first", nodes.front(),
                    "name all of its nodes in their order");
    for (size_t i = 1; i < nodes.size(); ++i) {
        SshSession session(ssh_settings(parse_target(nodes[i])), person);
        const RunsThere found = runs_there_called(session, first.id, first.run.name);
        if (found.runs.empty() || !found.runs.front().remote || found.runs.front().node != i)
            throw Error(Failure::Usage, Code("RUN-ELSEWHERE"),
                        "is not node " + std::to_string(i) + " of the run " + first.run.name, nodes[i],
                        "name all of its nodes in their order");
        remote.nodes[i] = found.runs.front().followed_at(nodes[i], nodes[i]).nodes[i];
    }
}

/// Returns the run's identity: a random part of its folder's path, which all its nodes share.
std::string identity_of(const RemoteRun& remote) {
    const fs::path dir = remote.nodes[remote.lead()].run_dir;
    return dir.parent_path().filename().string() + "/" + dir.filename().string();
}

/// Adds newly named nodes to `here`. Returns false if `there` is a different run, or differs from `here` in a
/// node's target, run directory or ranks.
bool join(RemoteRun& here, const RemoteRun& there) {
    if (identity_of(here) != identity_of(there) || here.nodes.size() != there.nodes.size()) return false;
    for (size_t i = 0; i < here.nodes.size(); ++i) {
        const RemoteNode &known = here.nodes[i], &told = there.nodes[i];
        if (!told.is_named()) continue;
        const bool is_same =
            known.is_named() ? known.target == told.target && known.run_dir == told.run_dir : here.adopted;
        if (!is_same || known.first_rank != told.first_rank || known.ranks != told.ranks) return false;
    }
    for (size_t i = 0; i < here.nodes.size(); ++i) {
        if (there.nodes[i].is_named() && here.adopted) here.nodes[i] = there.nodes[i];
    }
    return true;
}

/// Returns the remote run here that is the same as `remote`, after adding newly named nodes to it.
std::optional<RunDirectory> find_here(const fs::path& runs_dir, const RemoteRun& remote) {
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(runs_dir, none)) {
        const RunDirectory run{entry.path()};
        try {
            RemoteRun here = read_remote_run(run);
            if (!join(here, remote)) continue;
            if (here.adopted) write_remote_run(run, here);
            return run;
        } catch (const Error&) {
            continue;  // a run on this machine, or a damaged one
        }
    }
    return std::nullopt;
}

/// Marks the run as open, so that a mirror follows it and records its end.
void write_open_state(const RunDirectory& run, std::optional<RunState> there) {
    RunState state = there.value_or(RunState());
    state.name = run.name();
    state.ranks = read_remote_run(run).ranks;
    if (is_over(state.state) || !there) state.state = RunPhase::Running;
    state.reason.clear();
    state.ended = 0;
    state.writer = {};
    state.nodes.clear();
    write_run_state(run.dir, state);
}

/// Parses the run's plan. Throws Error(Refused) if it is damaged or made for another number of ranks.
Plan plan_there(const std::string& text, const RemoteRun& remote, const std::string& host) {
    const std::string where = host + ": plan.json";
    try {
        Plan plan = plan_from_json(parse_bounded_json(text, where, {kMostPlanBytes, 32, 1 << 18}));
        if (plan.ranks != remote.ranks)
            throw Error(Failure::Refused, Code("RUN-ELSEWHERE"),
                        "is for " + std::to_string(plan.ranks) + " ranks, and the run has " +
                            std::to_string(remote.ranks));
        return plan;
    } catch (const Error& problem) {
        throw Error(Failure::Refused, Code("RUN-ELSEWHERE"), problem.what(), where,
                    "is the same version of Ringmaster on both machines?");
    }
}

RunDirectory make_here(const fs::path& runs_dir, const std::string& name, const RemoteRun& remote,
                       SshSession& session, const std::string& dir_there) {
    const auto read = [&](const char* file, int64_t most) {
        const std::string text = script_output(
            session, "head -c " + std::to_string(most + 1) + " " + shell_quoted(dir_there + "/" + file),
            std::string(file) + " cannot be read");
        if (static_cast<int64_t>(text.size()) > most)
            throw Error(Failure::Refused, Code("RUN-ELSEWHERE"), "is too long to be one",
                        session.host() + ": " + file);
        return text;
    };
    const std::string config = read("config.yaml", kMaxConfigBytes);
    Plan plan = plan_there(read("plan.json", kMostPlanBytes), remote, session.host());
    const RunDirectory run = create_run_directory(runs_dir, name);
    plan.config.output_dir = (run.dir / "output").string();
    write_file(run.config(), config);
    write_plan(run.plan().string(), plan);
    write_remote_run(run, remote);
    return run;
}

}  // namespace

Adopted adopt_run(const std::string& name, const std::vector<std::string>& nodes, const fs::path& runs_dir,
                  const SshPerson& person) {
    const std::vector<SshTarget> targets = parse_targets(nodes);
    check_run_name(name.substr(name.find('/') + 1));  // check before asking for a password
    const SshPerson one = one_at_a_time(person);
    SshSession session(ssh_settings(targets.front()), one);
    return adopt_run(session, name, nodes, runs_dir, one);
}

Adopted adopt_run(SshSession& session, const std::string& name_or_id, const std::vector<std::string>& nodes,
                  const fs::path& runs_dir, const SshPerson& person) {
    const size_t slash = name_or_id.find('/');
    const std::string id = slash == std::string::npos ? "" : name_or_id.substr(0, slash);
    const std::string name = slash == std::string::npos ? name_or_id : name_or_id.substr(slash + 1);
    check_run_name(name);
    if (slash != std::string::npos) check_run_name(id);
    const RunsThere found = runs_there_called(session, id, name);
    const RunThere& chosen = choose(found, name);
    RemoteRun remote = chosen.followed_at(nodes.front(), session.host());
    add_others(remote, chosen, nodes, person);
    Adopted adopted;
    adopted.asked = chosen.node;
    const RemoteNode& asked = remote.nodes[adopted.asked];
    std::optional<RunState> there;
    if (adopted.asked == remote.lead()) there = node_state(session, asked, adopted.asked);
    if (const auto here = find_here(runs_dir, remote)) {
        adopted.run = *here;
        const RunState known = read_run_state(here->dir);
        const bool is_news = there && read_remote_run(*here).lead() == adopted.asked &&
                             (!is_over(there->state) || there->attempt > known.attempt);
        if (is_over(known.state) && is_news) write_open_state(*here, there);
        return adopted;
    }
    adopted.run = make_here(runs_dir, name, remote, session, asked.run_dir);
    adopted.is_new = true;
    write_open_state(adopted.run, there);
    return adopted;
}

}  // namespace ringmaster
