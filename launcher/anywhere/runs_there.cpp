#include "launcher/anywhere/runs_there.h"

#include <algorithm>
#include <nlohmann/json.hpp>
#include <sstream>
#include <tuple>

#include "engine/error.h"
#include "engine/events/event.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

/// Says "ringmaster" where something of ours is, "address ADDRESS", "own" for each run of the machine itself
/// and "name NAME" for each that came over SSH. Of those that are asked for then "run NODE DIR", NODE being
/// what the machine is to the run, and its files: "slurm", "state" and "remote" before each line of run.json
/// and remote.json, "total N", "step" before the last event of a step. "end" is the last line.
constexpr const char* kLook = R"sh(
ours=${XDG_DATA_HOME:-$HOME/.local/share}/ringmaster
runs=$ours/runs
here=$(printf %s "$SSH_CONNECTION" | cut -d ' ' -f 3)
[ -d "$ours" ] && echo "ringmaster"
echo "address $here"
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
    tail -n 64 "$events" 2>/dev/null | grep '"type":"step"' | tail -n 1 | sed 's/^/step /'
done
echo end
)sh";

/// What one run's lines said.
struct Told {
    RunThere run;
    std::string state, remote;
};

void take_step(RunSummary& run, const std::string& line) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object()) return;
    if (const auto step = json.find("step"); step != json.end() && step->is_number_integer())
        run.step = step->get<int64_t>();
    if (const auto loss = json.find("loss"); loss != json.end() && loss->is_number())
        run.loss = loss->get<double>();
}

/// False where it is no run that could be followed: a folder whose name is none of a run.
bool finish(Told& told, const std::string& host) {
    RunThere& run = told.run;
    try {
        check_run_name(run.id);
        check_run_name(run.run.name);
    } catch (const Error&) {
        return false;
    }
    try {
        if (!told.remote.empty()) run.remote = parse_remote_run(told.remote, host);
    } catch (const Error&) {
        run.remote.reset();  // whoever wants to follow it hears why not
    }
    try {
        if (!told.state.empty()) run.run.state = parse_run_state(told.state, host);
    } catch (const Error& damaged) {
        run.run.state.state = RunPhase::Failed;
        run.run.state.reason = damaged.text();
    }
    return true;
}

std::vector<Told> told_runs(std::istream& lines, RunsThere& there) {
    std::vector<Told> runs;
    for (std::string line; std::getline(lines, line);) {
        const size_t space = line.find(' ');
        const std::string kind = line.substr(0, space);
        const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
        if (kind == "ringmaster") there.has_ringmaster = true;
        if (kind == "address") there.address = rest;
        if (kind == "own") ++there.own;
        if (kind == "name") there.names.push_back(rest);
        if (kind == "run") {
            Told& told = runs.emplace_back();
            told.run.node = static_cast<size_t>(std::max(0, std::atoi(rest.c_str())));
            told.run.run.dir = rest.substr(std::min(rest.size(), rest.find(' ') + 1));
            told.run.run.name = told.run.run.dir.filename().string();
            told.run.id = told.run.run.dir.parent_path().filename().string();
        }
        if (runs.empty()) continue;
        Told& last = runs.back();
        if (kind == "slurm") last.run.is_of_slurm = true;
        if (kind == "state") last.state += rest + "\n";
        if (kind == "remote") last.remote += rest + "\n";
        if (kind == "total") last.run.run.total_steps = std::atoll(rest.c_str());
        if (kind == "step") take_step(last.run.run, rest);
    }
    return runs;
}

RunsThere look(SshSession& session, const std::string& wanted) {
    const ScriptResult looked = run_script(session, wanted + kLook);
    if (!looked.out.ends_with("\nend\n"))
        throw Error(Failure::Unreachable, "its runs cannot be looked at: " + looked.errors, session.host());
    std::istringstream lines(looked.out);
    RunsThere there;
    there.host = session.host();
    for (Told& told : told_runs(lines, there)) {
        if (finish(told, there.host)) there.runs.push_back(std::move(told.run));
    }
    return there;
}

/// What last said that it is at work may have died without a word.
void ask_whether_alive(SshSession& session, RunThere& run) {
    if (is_over(run.run.state.state) || run.is_of_slurm || !run.remote ||
        run.node >= run.remote->nodes.size())
        return;
    if (const auto now = node_state(session, run.remote->nodes[run.node], run.node)) run.run.state = *now;
}

}  // namespace

RunsThere runs_there(SshSession& session) {
    RunsThere there = look(session, "all=1\n");
    for (RunThere& run : there.runs) ask_whether_alive(session, run);
    const auto rank = [](const RunThere& one) {
        const RunState& state = one.run.state;
        return std::make_tuple(is_over(state.state), -std::max(state.started, state.created));
    };
    std::stable_sort(there.runs.begin(), there.runs.end(),
                     [&](const RunThere& a, const RunThere& b) { return rank(a) < rank(b); });
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
