#include "launcher/backends/runs_there.h"

#include <algorithm>
#include <sstream>
#include <tuple>
#include <utility>

#include "engine/error.h"
#include "engine/events/event.h"
#include "engine/events/limits.h"
#include "launcher/nodes/from_node.h"
#include "launcher/run/recorded_run.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostNames = 10'000;
constexpr size_t kMostRuns = 1000;
constexpr size_t kMostAsked = 64;  ///< maximum number of active runs whose agents are asked
constexpr int64_t kMostNodes = 8191;

/// Script that prints these lines:
///
///     ringmaster         if Ringmaster's data folder exists
///     address ADDRESS    the address at which the machine was reached
///     data FOLDER        the data folder
///     own                for each run that was started on the machine itself
///     name NAME          for each run that was launched by SSH
///
/// Then, for each run that was asked for:
///
///     run NODE DIR       the machine's index among the run's nodes, and the run directory
///     slurm              if the run has a submit.sbatch
///     state LINE         for each line of run.json
///     remote LINE        for each line of remote.json
///     total N            the number of steps in the plan
///     event EVENT        for each of the last step and done events
///
/// The last line is "end".
constexpr const char* kLook = R"sh(
ours=${XDG_DATA_HOME:-$HOME/.local/share}/ringmaster
runs=$ours/runs
here=$(printf %s "$SSH_CONNECTION" | cut -d ' ' -f 3)
[ -d "$ours" ] && echo "ringmaster"
echo "address $here"
echo "data $ours"
for dir in "$runs"/*; do [ -f "$dir/plan.json" ] && echo "own"; done
for dir in "$runs"/*/*; do [ -f "$dir/plan.json" ] && echo "name ${dir##*/}"; done
if [ "$all" ]; then set -- "$runs"/*/*; else set -- "$runs"/$id/"$name"; fi
for dir in "$@"; do
    [ -f "$dir/plan.json" ] || continue
    node=0 file=$dir/run.json
    if [ ! -f "$file" ]; then
        for file in "$dir"/node-*/run.json; do :; done
        node=${file%/run.json} node=${node##*/node-}
    fi
    case $node in *[!0-9]*|'') node=0 ;; esac
    echo "run $node $dir"
    [ -f "$dir/submit.sbatch" ] && echo "slurm"
    sed 's/^/state /' "$file" 2>/dev/null && echo
    sed 's/^/remote /' "$dir/remote.json" 2>/dev/null && echo
    sed -n 's/^ *"total_steps": *\([0-9][0-9]*\).*/total \1/p' "$dir/plan.json" | head -n 1
    for events in "$dir"/events/rank-*.jsonl; do break; done
    tail -n 64 "$events" 2>/dev/null | grep -E '"type":"(step|done)"' | tail -n 4 | sed 's/^/event /'
done
echo end
)sh";

/// Holds what the script printed about one run.
struct ListedRun {
    RunThere run;
    std::string state, remote;
};

/// Returns the folder name of a node's programs, the only part of the agent's path that is trusted.
std::string programs_in(const std::string& agent) {
    constexpr std::string_view kAfter = "/bin/ringmaster-agent";
    constexpr size_t kDigits = 16;
    const std::string_view path(agent);
    if (!path.ends_with(kAfter)) return {};
    const std::string_view folder = path.substr(0, path.size() - kAfter.size());
    const std::string_view key = folder.substr(folder.rfind('/') + 1);
    const bool is_key =
        key.size() == kDigits && key.find_first_not_of("0123456789abcdef") == std::string_view::npos;
    return is_key ? std::string(key) : "";
}

/// Keeps the nodes and ranks that were reported; derives paths from the data folder of the machine asked.
RemoteRun remote_there(RemoteRun told, const RunThere& run, const RunsThere& there) {
    told.adopted = true;
    for (size_t i = 0; i < told.nodes.size(); ++i) {
        RemoteNode& node = told.nodes[i];
        const std::string programs = programs_in(node.agent);
        node.called = std::exchange(node.target, {});
        node.run_dir = node.agent = {};
        if (i != run.node || programs.empty() || there.data_dir.empty()) continue;
        node.run_dir = there.data_dir + "/runs/" + run.id + "/" + run.run.name;
        node.agent = there.data_dir + "/programs/" + programs + "/bin/ringmaster-agent";
    }
    return told;
}

/// Returns the index of the machine asked among the run's nodes.
size_t place_of(const RemoteRun& remote, const std::string& address, size_t told) {
    std::vector<size_t> same;
    for (size_t i = 0; i < remote.nodes.size(); ++i) {
        if (remote.nodes[i].address == address) same.push_back(i);
    }
    return same.size() == 1 ? same.front() : std::min(told, remote.nodes.size() - 1);
}

bool is_run_name(const std::string& name) {
    try {
        check_run_name(name);
        return true;
    } catch (const Error&) {
        return false;
    }
}

/// Fills in the run from its lines. Returns false if the folder's name cannot be the name of a run.
bool finish(ListedRun& told, const RunsThere& there) {
    RunThere& run = told.run;
    const std::string& host = there.host;
    if (!is_run_name(run.id) || !is_run_name(run.run.name)) return false;
    try {
        if (!told.remote.empty()) {
            RemoteRun remote = parse_remote_run(told.remote, host);
            run.node = place_of(remote, there.address, run.node);
            run.remote = remote_there(std::move(remote), run, there);
        }
    } catch (const Error&) {
        run.remote.reset();  // adopting the run will report the reason
    }
    try {
        if (!told.state.empty()) run.run.state = parse_run_state(told.state, host);
    } catch (const Error& damaged) {
        run.run.state.state = RunPhase::Failed;
        run.run.state.reason = damaged.text();
        run.run.state.code = damaged.code;
    }
    return true;
}

std::vector<ListedRun> listed_runs(std::istream& lines, RunsThere& there) {
    std::vector<ListedRun> runs;
    for (std::string line; std::getline(lines, line);) {
        const size_t space = line.find(' ');
        const std::string kind = line.substr(0, space);
        const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
        if (kind == "ringmaster") there.has_ringmaster = true;
        if (kind == "address") there.address = text_of_node(rest);
        if (kind == "data" && is_node_path(rest)) there.data_dir = rest;
        if (kind == "own" && there.own < static_cast<int>(kMostNames)) ++there.own;
        if (kind == "name" && there.names.size() < kMostNames && is_run_name(rest))
            there.names.push_back(rest);
        if (kind == "run") {
            if (runs.size() == kMostRuns) break;
            const size_t blank = std::min(rest.size(), rest.find(' '));
            ListedRun& told = runs.emplace_back();
            told.run.node =
                static_cast<size_t>(number_of_node(rest.substr(0, blank), 0, kMostNodes).value_or(0));
            told.run.run.dir = text_of_node(rest.substr(std::min(rest.size(), blank + 1)));
            told.run.run.name = told.run.run.dir.filename().string();
            told.run.id = told.run.run.dir.parent_path().filename().string();
        }
        if (runs.empty()) continue;
        ListedRun& last = runs.back();
        if (kind == "slurm") last.run.is_of_slurm = true;
        if (kind == "state") last.state += rest + "\n";
        if (kind == "remote") last.remote += rest + "\n";
        if (kind == "total") last.run.run.total_steps = number_of_node(rest, 0, limits::kSteps);
        if (kind == "event") {
            if (const auto event = parse_event(rest)) take_event(last.run.run, event->event);
        }
    }
    return runs;
}

RunsThere look(SshSession& session, const std::string& wanted) {
    const ScriptResult looked = run_script(session, wanted + kLook);
    if (!looked.out.ends_with("\nend\n"))
        throw Error(Failure::Unreachable, Code("NODE-UNREACHABLE"),
                    "its runs cannot be looked at: " + looked.errors, session.host());
    return parse_runs_there(looked.out, session.host());
}

bool is_at_work(const RunThere& run) {
    return !is_over(run.run.state.state) && !run.is_of_slurm && run.remote &&
           !run.remote->nodes[run.node].agent.empty();
}

/// Updates the state of a run that was last recorded as active, but may have died since.
void ask_whether_alive(SshSession& session, RunThere& run) {
    if (const auto now = node_state(session, run.remote->nodes[run.node], run.node)) run.run.state = *now;
}

}  // namespace

RemoteRun RunThere::followed_at(const std::string& target, const std::string& host) const {
    if (is_of_slurm)
        throw Error(Failure::Refused, Code("RUN-ELSEWHERE"), "is a job of Slurm", run.name,
                    "on " + host + ": `ringmaster watch " + run.dir.string() + "`");
    if (!remote || remote->nodes[node].agent.empty())
        throw Error(Failure::Refused, Code("RUN-ELSEWHERE"),
                    "is of a Ringmaster that did not say where a run is", run.name);
    RemoteRun named = *remote;
    named.nodes[node].target = target;
    return named;
}

RunsThere runs_there(SshSession& session) {
    RunsThere there = look(session, "all=1\n");
    size_t asked = 0;
    for (RunThere& run : there.runs) {
        if (is_at_work(run) && ++asked <= kMostAsked) ask_whether_alive(session, run);
    }
    const auto rank = [](const RunThere& one) {
        const RunState& state = one.run.state;
        return std::make_tuple(is_over(state.state), -std::max(state.started, state.created));
    };
    std::stable_sort(there.runs.begin(), there.runs.end(),
                     [&](const RunThere& a, const RunThere& b) { return rank(a) < rank(b); });
    return there;
}

RunsThere parse_runs_there(const std::string& text, const std::string& host) {
    std::istringstream lines(text);
    RunsThere there;
    there.host = host;
    for (ListedRun& told : listed_runs(lines, there)) {
        if (finish(told, there)) there.runs.push_back(std::move(told.run));
    }
    return there;
}

RunsThere runs_there_called(SshSession& session, const std::string& id, const std::string& name) {
    return look(session, (id.empty() ? "id='*'" : "id=" + shell_quoted(id)) + "\nname=" + shell_quoted(name) +
                             "\nall=\n");
}

std::string nothing_there_text(const RunsThere& there) {
    if (!there.runs.empty()) return "";
    if (!there.has_ringmaster) return "nothing of Ringmaster is there";
    if (there.own > 0)
        return "no run was launched there over SSH; those that were started on the machine itself are "
               "watched "
               "there";
    return "no run is there";
}

}  // namespace ringmaster
