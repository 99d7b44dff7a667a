#include "launcher/anywhere/adopt.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/config/keys.h"
#include "engine/error.h"
#include "launcher/files.h"
#include "launcher/nodes/remote_run.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// The only one, or the only one that is not over.
const RunThere& choose(const RunsThere& found, const std::string& name) {
    if (found.runs.empty()) {
        const std::string near = nearest_word(name, found.names);
        std::string all;
        for (const std::string& there : found.names) all += (all.empty() ? "" : ", ") + there;
        throw Error(Failure::Usage, "there is no run '" + name + "' on " + found.host, {},
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
    throw Error(Failure::Usage, "several runs of that name are on " + found.host + ": " + all, name,
                "name one of them so, with what stands before the slash");
}

/// Which of the run's nodes the machine is that was asked.
size_t place_of(const RemoteRun& remote, const RunsThere& found, const RunThere& run) {
    std::vector<size_t> same;
    for (size_t i = 0; i < remote.nodes.size(); ++i) {
        if (remote.nodes[i].address == found.address) same.push_back(i);
    }
    return same.size() == 1 ? same.front() : std::min(run.node, remote.nodes.size() - 1);
}

void name_nodes(RemoteRun& remote, const std::vector<std::string>& nodes, size_t asked) {
    if (nodes.size() == 1) {
        remote.nodes[asked].target = nodes.front();
        return;
    }
    if (nodes.size() != remote.nodes.size())
        throw Error(Failure::Usage, "the run is on " + std::to_string(remote.nodes.size()) + " nodes",
                    "--node", "name one of them, or all in their order");
    for (size_t i = 0; i < nodes.size(); ++i) remote.nodes[i].target = nodes[i];
}

/// Of the same folder on node 0, whose path holds a random part.
std::optional<RunDirectory> find_here(const fs::path& runs_dir, const RemoteRun& remote) {
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(runs_dir, none)) {
        const RunDirectory run{entry.path()};
        try {
            if (is_remote(run) && read_remote_run(run).nodes[0].run_dir == remote.nodes[0].run_dir)
                return run;
        } catch (const Error&) {
            continue;  // a damaged one is not it
        }
    }
    return std::nullopt;
}

/// Open, so that a mirror follows it; the mirror writes how it ended.
void write_open_state(const RunDirectory& run, std::optional<RunState> there) {
    RunState state = there.value_or(RunState());
    state.name = run.name();
    if (is_over(state.state) || !there) state.state = RunPhase::Running;
    state.reason.clear();
    state.ended = 0;
    state.writer = {};
    state.nodes.clear();
    write_run_state(run.dir, state);
}

RunDirectory make_here(const fs::path& runs_dir, const std::string& name, const RemoteRun& remote,
                       SshSession& session, const std::string& dir_there) {
    const auto read = [&](const char* file) {
        return script_output(session, "cat " + shell_quoted(dir_there + "/" + file),
                             std::string(file) + " cannot be read");
    };
    const std::string config = read("config.yaml");
    Json plan = Json::parse(read("plan.json"));
    const RunDirectory run = create_run_directory(runs_dir, name);
    plan["config"]["output_dir"] = (run.dir / "output").string();
    write_file(run.config(), config);
    write_file(run.plan(), plan.dump(2) + "\n");
    write_remote_run(run, remote);
    return run;
}

}  // namespace

Adopted adopt_run(const std::string& name, const std::vector<std::string>& nodes, const fs::path& runs_dir,
                  const SshPerson& person) {
    const std::vector<SshTarget> targets = parse_targets(nodes);
    check_run_name(name.substr(name.find('/') + 1));  // before anybody is asked for a password
    SshSession session(ssh_settings(targets.front()), person);
    return adopt_run(session, name, nodes, runs_dir);
}

Adopted adopt_run(SshSession& session, const std::string& name_or_id, const std::vector<std::string>& nodes,
                  const fs::path& runs_dir) {
    const size_t slash = name_or_id.find('/');
    const std::string id = slash == std::string::npos ? "" : name_or_id.substr(0, slash);
    const std::string name = slash == std::string::npos ? name_or_id : name_or_id.substr(slash + 1);
    check_run_name(name);
    if (slash != std::string::npos) check_run_name(id);
    const RunsThere found = runs_there_called(session, id, name);
    const RunThere& chosen = choose(found, name);
    if (chosen.is_of_slurm)
        throw Error(Failure::Refused, "is a job of Slurm", name,
                    "on " + session.host() + ": `ringmaster watch " + chosen.run.dir.string() + "`");
    if (!chosen.remote)
        throw Error(Failure::Refused, "is of a Ringmaster that did not say where a run is", name);
    RemoteRun remote = *chosen.remote;
    remote.adopted = true;
    Adopted adopted;
    adopted.asked = place_of(remote, found, chosen);
    name_nodes(remote, nodes, adopted.asked);
    std::optional<RunState> there;
    if (adopted.asked == 0) there = remote_state(session, remote);
    if (const auto here = find_here(runs_dir, remote)) {
        adopted.run = *here;
        if (read_remote_run(*here).adopted) write_remote_run(*here, remote);
        const RunState known = read_run_state(here->dir);
        const bool is_news = there && (!is_over(there->state) || there->attempt > known.attempt);
        if (is_over(known.state) && is_news) write_open_state(*here, there);
        return adopted;
    }
    adopted.run = make_here(runs_dir, name, remote, session, chosen.run.dir.string());
    adopted.is_new = true;
    write_open_state(adopted.run, there);
    return adopted;
}

}  // namespace ringmaster
