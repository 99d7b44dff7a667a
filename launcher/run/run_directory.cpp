#include "launcher/run/run_directory.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <nlohmann/json.hpp>

#include "engine/config/keys.h"
#include "engine/control_characters.h"
#include "engine/error.h"
#include "engine/files/checkpoints.h"
#include "engine/words/spelling.h"
#include "launcher/base/files.h"
#include "launcher/base/format.h"
#include "launcher/base/places.h"
#include "launcher/run/recorded_run.h"
#include "launcher/run/start_record.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr size_t kLongestName = 100;
constexpr size_t kLongestStem = 80;  // leaves room for the date and "-2"
constexpr int64_t kTailBytes = 256 << 10;

/// Returns the name itself for number 1, then the name with -2, -3, …
std::string numbered(const std::string& name, int number) {
    return number == 1 ? name : name + "-" + std::to_string(number);
}

bool is_run_directory(const fs::path& dir) {
    std::error_code problem;
    return fs::is_regular_file(dir / "run.json", problem) &&
           fs::is_regular_file(dir / "config.yaml", problem);
}

std::vector<std::string> run_names(const fs::path& runs_dir) {
    std::vector<std::string> names;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(runs_dir, none)) {
        const std::string name = entry.path().filename().string();
        if (!name.starts_with(".") && is_run_directory(entry.path())) names.push_back(name);
    }
    return names;
}

std::optional<int64_t> total_steps_of(const RunDirectory& run) {
    try {
        const nlohmann::json plan = read_json_file(run.plan());
        return plan.at("batch").at("total_steps").get<int64_t>();
    } catch (const std::exception&) {
        return std::nullopt;  // the plan does not exist yet or has no such number
    }
}

}  // namespace

bool is_cut_short(RunPhase state, bool is_done, std::optional<int64_t> step,
                  std::optional<int64_t> total_steps) {
    return state == RunPhase::Completed && !is_done && step.value_or(0) < total_steps.value_or(0);
}

std::string cut_short_text(int64_t step) {
    return "Its events end at step " + format_count(step) + ", before the last.";
}

void check_run_name(const std::string& name) {
    std::string problem;
    if (name.empty()) problem = "is empty";
    if (name.starts_with(".")) problem = "begins with a dot";
    if (name.find('/') != std::string::npos) problem = "holds a slash";
    if (has_controls(name)) problem = "holds a control character";
    if (name.size() > kLongestName)
        problem =
            "has " + std::to_string(name.size()) + " bytes, " + std::to_string(kLongestName) + " at most";
    if (problem.empty()) return;
    const std::string shown = without_controls(name.substr(0, kLongestName), '?');
    throw Error(Failure::Usage, Code("RUN-NAME"), "the run's name '" + shown + "' " + problem, "--name",
                "a name is one folder's name, such as " + suggest_run_name("llama.yaml"));
}

std::string suggest_run_name(const std::string& config_file) {
    std::string stem = without_controls(fs::path(config_file).stem().string(), '-');
    stem.erase(0, stem.find_first_not_of('.'));
    size_t length = std::min(stem.size(), kLongestStem);
    while (length > 0 && length < stem.size() && (static_cast<unsigned char>(stem[length]) & 0xC0) == 0x80)
        --length;  // cut only between UTF-8 characters
    stem.resize(length);
    char date[16];
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    std::strftime(date, sizeof date, "%Y-%m-%d", localtime_r(&now, &parts));
    return (stem.empty() ? "run" : stem) + "-" + date;
}

RunDirectory create_run_directory(const fs::path& runs_dir, const std::string& name) {
    check_run_name(name);
    make_folder(runs_dir);
    for (int number = 1;; ++number) {
        const fs::path dir = fs::canonical(runs_dir) / numbered(name, number);
        if (::mkdir(dir.c_str(), 0755) == 0) return {dir};
        if (errno != EEXIST)
            throw Error(Failure::Refused, Code("FILE-WRITE"),
                        std::string("cannot be made: ") + std::strerror(errno), dir.string());
    }
}

fs::path next_run_directory(const fs::path& runs_dir, const std::string& name) {
    check_run_name(name);
    std::error_code problem;
    for (int number = 1;; ++number) {
        const fs::path dir = runs_dir / numbered(name, number);
        if (!fs::exists(fs::symlink_status(dir, problem))) return dir;
    }
}

RunDirectory find_run(const std::string& name_or_path, const fs::path& runs_dir) {
    if (name_or_path.empty()) throw Error(Failure::Usage, Code("RUN-NAME"), "the run's name is empty", "RUN");
    std::error_code problem;
    if (name_or_path.find('/') == std::string::npos && is_run_directory(runs_dir / name_or_path)) {
        return {fs::canonical(runs_dir / name_or_path)};
    }
    const fs::path given = absolute_path(name_or_path);
    if (is_run_directory(given)) return {fs::canonical(given)};
    if (fs::is_directory(given, problem)) {
        throw Error(Failure::Usage, Code("RUN-MISSING"),
                    "is not a run directory: it has no run.json and config.yaml", given.string(),
                    "`ringmaster runs` lists the runs in " + runs_dir.string());
    }
    const std::vector<std::string> names = run_names(runs_dir);
    const std::string near = nearest_word(name_or_path, names);
    throw Error(
        Failure::Usage, Code("RUN-MISSING"),
        "there is no run '" + name_or_path + "', neither as a folder nor by name in " + runs_dir.string(), {},
        !near.empty() ? "did you mean " + near + "?" : "`ringmaster runs` lists those there are");
}

RunSummary read_summary(const RunDirectory& run) {
    RunSummary summary;
    summary.name = run.name();
    summary.dir = run.dir;
    try {
        summary.state = read_run_state(run.dir);
    } catch (const Error& problem) {
        summary.state.state = RunPhase::Failed;
        summary.state.reason = problem.text();
        summary.state.code = problem.code;
    }
    for (const EventLine& line : last_events(run, 0, kTailBytes)) take_event(summary, line.event);
    summary.total_steps = total_steps_of(run);
    return summary;
}

std::vector<RunSummary> list_runs(const fs::path& runs_dir) {
    std::vector<RunSummary> runs;
    for (const std::string& name : run_names(runs_dir))
        runs.push_back(read_summary({fs::canonical(runs_dir / name)}));
    std::sort(runs.begin(), runs.end(), [](const RunSummary& a, const RunSummary& b) {
        return std::pair(b.state.created, a.name) < std::pair(a.state.created, b.name);
    });
    return runs;
}

nlohmann::json summary_to_json(const RunSummary& run) {
    nlohmann::json json{{"name", run.name},
                        {"dir", run.dir.string()},
                        {"state", to_string(run.state.state)},
                        {"incomplete", run.is_cut_short()},
                        {"step", nullptr},
                        {"total_steps", nullptr},
                        {"loss", nullptr},
                        {"started", nullptr},
                        {"reason", run.state.reason}};
    if (run.step) json["step"] = *run.step;
    if (run.total_steps) json["total_steps"] = *run.total_steps;
    if (run.loss) json["loss"] = *run.loss;
    if (run.state.started > 0) json["started"] = run.state.started;
    return json;
}

std::optional<ProcessId> living_process(const RunState& state) {
    const std::string here = this_host();
    auto lives = [&](const ProcessId& process) {
        return process.pid != 0 && process.host == here && is_alive(process);
    };
    for (const NodeState& node : state.nodes) {
        if (lives(node.agent)) return node.agent;
        for (const RankProcess& rank : node.ranks) {
            if (lives(rank.process)) return rank.process;
        }
    }
    return std::nullopt;
}

void delete_run(const RunDirectory& run) {
    if (!is_run_directory(run.dir)) {
        throw Error(Failure::Refused, Code("RUN-MISSING"), "is not a run directory, and is left as it is",
                    run.dir.string());
    }
    RunState state;
    try {
        state = state_after_processes_end(run, {});
    } catch (const Error&) {
        state.state = RunPhase::Failed;  // run.json is damaged, but the folder is still a run's
    }
    if (is_active(state)) {
        const auto alive = living_process(state);
        throw Error(Failure::Refused, Code("RUN-ACTIVE"),
                    "the run is " + std::string(to_string(state.state)) +
                        (state.is_of_slurm()
                             ? " in Slurm"
                             : " (pid " + std::to_string(alive ? alive->pid : state.writer.pid) + ")"),
                    run.name(), "`ringmaster stop " + run.name() + "` first");
    }
    // The new name hides the folder before it is deleted.
    const fs::path aside = run.dir.parent_path() / (".deleted-" + run.name());
    std::error_code problem;
    fs::remove_all(aside, problem);
    fs::rename(run.dir, aside, problem);
    if (!problem) fs::remove_all(aside, problem);
    if (problem)
        throw Error(Failure::Refused, Code("FILE-WRITE"), "cannot be deleted: " + problem.message(),
                    run.dir.string());
}

std::vector<int64_t> complete_checkpoints(const RunDirectory& run) {
    return complete_checkpoints(run.checkpoints());
}

}  // namespace ringmaster
