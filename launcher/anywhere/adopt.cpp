#include "launcher/anywhere/adopt.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>

#include "engine/config/keys.h"
#include "engine/error.h"
#include "launcher/files.h"
#include "launcher/nodes/remote_run.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::ordered_json;

namespace {

/// Says "address ADDRESS", "name NAME" for each run that is there, and "run STATE NODE DIR" for each of this
/// name, NODE being what the machine is to the run. `id` is * for any.
constexpr const char* kFind = R"sh(
runs=${XDG_DATA_HOME:-$HOME/.local/share}/ringmaster/runs
set -- $SSH_CONNECTION
echo "address $3"
for dir in "$runs"/*/*; do [ -f "$dir/plan.json" ] && echo "name ${dir##*/}"; done
for dir in "$runs"/$id/"$name"; do
    [ -f "$dir/plan.json" ] || continue
    node=0 file=$dir/run.json
    if [ ! -f "$file" ]; then
        for file in "$dir"/node-*/run.json; do :; done
        node=${file%/run.json} node=${node##*/node-}
    fi
    [ -f "$dir/submit.sbatch" ] && state=slurm || state=$(sed -n 's/^ *"state": "\([a-z]*\)".*/\1/p' "$file" 2>/dev/null | head -n 1)
    echo "run ${state:-unknown} $node $dir"
done
)sh";

struct Candidate {
    std::string state, dir;
    int node = 0;

    std::string id() const { return fs::path(dir).parent_path().filename().string(); }
    bool is_open() const { return state != "completed" && state != "failed" && state != "stopped"; }
};

struct Found {
    std::string address;             ///< at which the machine was reached
    std::vector<std::string> names;  ///< of all runs there
    std::vector<Candidate> runs;     ///< of the name
};

Found find_there(SshSession& session, const std::string& id, const std::string& name) {
    const std::string script =
        (id.empty() ? "id='*'" : "id=" + shell_quoted(id)) + "\nname=" + shell_quoted(name) + "\n" + kFind;
    std::istringstream lines(script_output(session, script, "its runs cannot be looked at"));
    Found found;
    for (std::string line; std::getline(lines, line);) {
        std::istringstream words(line);
        std::string kind;
        words >> kind;
        if (kind == "address") words >> found.address;
        if (kind == "name") found.names.push_back(line.substr(5));
        if (kind != "run") continue;
        Candidate& run = found.runs.emplace_back();
        words >> run.state >> run.node;
        std::getline(words >> std::ws, run.dir);
    }
    return found;
}

/// The only one, or the only one that is not over.
Candidate choose(const Found& found, const std::string& name, const std::string& host) {
    if (found.runs.empty()) {
        const std::string near = nearest_word(name, found.names);
        std::string all;
        for (const std::string& there : found.names) all += (all.empty() ? "" : ", ") + there;
        throw Error(Failure::Usage, "there is no run '" + name + "' on " + host, {},
                    !near.empty() ? "did you mean " + near + "?"
                    : all.empty() ? "none at all is there"
                                  : "there are " + all);
    }
    if (found.runs.size() == 1) return found.runs.front();
    const auto open = [](const Candidate& run) { return run.is_open(); };
    if (std::count_if(found.runs.begin(), found.runs.end(), open) == 1)
        return *std::find_if(found.runs.begin(), found.runs.end(), open);
    std::string all;
    for (const Candidate& run : found.runs)
        all += (all.empty() ? "" : ", ") + run.id() + "/" + name + " (" + run.state + ")";
    throw Error(Failure::Usage, "several runs of that name are on " + host + ": " + all, name,
                "name one of them so, with what stands before the slash");
}

/// Which of the run's nodes the machine is that was asked.
size_t place_of(const RemoteRun& remote, const Found& found, const Candidate& run) {
    std::vector<size_t> same;
    for (size_t i = 0; i < remote.nodes.size(); ++i) {
        if (remote.nodes[i].address == found.address) same.push_back(i);
    }
    const size_t by_files = std::min(static_cast<size_t>(std::max(0, run.node)), remote.nodes.size() - 1);
    return same.size() == 1 ? same.front() : by_files;
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

Adopted adopt_run(const std::string& name_or_id, const std::vector<std::string>& nodes,
                  const fs::path& runs_dir, const SshPerson& person) {
    const size_t slash = name_or_id.find('/');
    const std::string id = slash == std::string::npos ? "" : name_or_id.substr(0, slash);
    const std::string name = slash == std::string::npos ? name_or_id : name_or_id.substr(slash + 1);
    check_run_name(name);
    if (slash != std::string::npos) check_run_name(id);
    const std::vector<SshTarget> targets = parse_targets(nodes);
    SshSession session(ssh_settings(targets.front()), person);
    const Found found = find_there(session, id, name);
    const Candidate chosen = choose(found, name, session.host());
    if (chosen.state == "slurm")
        throw Error(Failure::Refused, "is a job of Slurm", name,
                    "on " + session.host() + ": `ringmaster watch " + chosen.dir + "`");
    RemoteRun remote =
        parse_remote_run(script_output(session, "cat " + shell_quoted(chosen.dir + "/remote.json"),
                                       "is of a Ringmaster that did not say where a run is"),
                         session.host());
    remote.adopted = true;
    const size_t asked = place_of(remote, found, chosen);
    name_nodes(remote, nodes, asked);
    std::optional<RunState> there;
    if (asked == 0) there = remote_state(session, remote);
    Adopted adopted;
    if (const auto here = find_here(runs_dir, remote)) {
        adopted.run = *here;
        if (read_remote_run(*here).adopted) write_remote_run(*here, remote);
        const RunState known = read_run_state(here->dir);
        const bool is_news = there && (!is_over(there->state) || there->attempt > known.attempt);
        if (is_over(known.state) && is_news) write_open_state(*here, there);
        return adopted;
    }
    adopted.run = make_here(runs_dir, name, remote, session, chosen.dir);
    adopted.is_new = true;
    write_open_state(adopted.run, there);
    return adopted;
}

}  // namespace ringmaster
