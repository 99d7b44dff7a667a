#include "launcher/run/local_node.h"

#include <signal.h>

#include <QFile>
#include <QProcess>
#include <algorithm>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "launcher/base/files.h"
#include "launcher/machine/gpu_age.h"

namespace ringmaster {

namespace fs = std::filesystem;
using namespace std::chrono_literals;

namespace {

constexpr auto kStartPatience = 30s;
constexpr auto kPoll = 20ms;
constexpr size_t kShownLog = 2000;

std::vector<std::string> agent_arguments(const RunDirectory& run, const Attempt& attempt,
                                         const Places& places) {
    std::vector<std::string> arguments = {places.agent().string(),
                                          "--run",
                                          run.dir.string(),
                                          "--ranks",
                                          std::to_string(attempt.ranks),
                                          "--attempt",
                                          std::to_string(attempt.number),
                                          "--resume",
                                          attempt.resume};
    if (attempt.restarts > 0)
        arguments.insert(arguments.end(), {"--restarts", std::to_string(attempt.restarts)});
    return arguments;
}

std::string end_of_log(const fs::path& file, int64_t from) {
    try {
        std::string text = read_file(file).substr(static_cast<size_t>(from));
        return text.size() > kShownLog ? text.substr(text.size() - kShownLog) : text;
    } catch (const std::exception&) {
        return "";
    }
}

int64_t size_of(const fs::path& file) {
    std::error_code none;
    const auto size = fs::file_size(file, none);
    return none ? 0 : static_cast<int64_t>(size);
}

/// Returns true if run.json belongs to this attempt and its agent has taken it over.
bool is_taken_over(const RunDirectory& run, int attempt) {
    const RunState state = read_run_state(run.dir);
    return state.attempt == attempt && (state.writer.pid != 0 || is_over(state.state));
}

qint64 start_detached(const std::vector<std::string>& arguments, const RunDirectory& run) {
    QStringList list;
    for (size_t i = 1; i < arguments.size(); ++i) list << QString::fromStdString(arguments[i]);
    const QString log = QFile::decodeName(run.agent_log().c_str());
    QProcess agent;
    agent.setProgram(QString::fromStdString(arguments[0]));
    agent.setArguments(list);
    agent.setWorkingDirectory(QFile::decodeName(run.dir.c_str()));
    agent.setStandardInputFile(QProcess::nullDevice());
    agent.setStandardOutputFile(log, QIODevice::Append);
    agent.setStandardErrorFile(log, QIODevice::Append);
    qint64 pid = 0;
    if (!agent.startDetached(&pid)) {
        throw Error(Failure::Unreachable, Code("PROGRAM-START"),
                    "cannot be started: " + agent.errorString().toStdString(), arguments[0]);
    }
    return pid;
}

void send(const ProcessId& process, int signal) {
    if (is_alive(process)) ::kill(static_cast<pid_t>(process.pid), signal);
}

/// Returns false under torchrun or srun: there rank 0 writes run.json itself and takes the agent's place.
bool has_agent(const NodeState& node) {
    return node.ranks.empty() || node.ranks.front().process.pid != node.agent.pid;
}

}  // namespace

NodeCommands local_commands(const RunDirectory& run, const Attempt& attempt, const Places& places,
                            int cores) {
    NodeCommands node;
    node.host = this_host();
    node.agent.arguments = agent_arguments(run, attempt, places);
    const int ranks = attempt.ranks;
    for (int rank = 0; rank < ranks; ++rank) {
        const std::string r = std::to_string(rank), n = std::to_string(ranks);
        StartCommand command;
        command.environment = {{"RANK", r},
                               {"WORLD_SIZE", n},
                               {"LOCAL_RANK", r},
                               {"LOCAL_WORLD_SIZE", n},
                               {"GROUP_RANK", "0"},
                               {"NODE_RANK", "0"},
                               {"MASTER_ADDR", "127.0.0.1"},
                               {"TORCHELASTIC_RUN_ID", run.name()},
                               {"TORCHELASTIC_RESTART_COUNT", "0"},
                               {"RINGMASTER_ATTEMPT", std::to_string(attempt.number)},
                               {"OMP_NUM_THREADS", std::to_string(std::max(1, cores / ranks))}};
        command.arguments = {places.engine().string(), "--run", run.dir.string(), "--resume", attempt.resume};
        node.ranks.push_back(std::move(command));
    }
    return node;
}

std::string torchrun_command(const RunDirectory& run, int ranks, const Places& places) {
    return shell_line({{},
                       {"torchrun", "--no-python", "--nproc-per-node", std::to_string(ranks), "--",
                        places.engine().string(), "--run", run.dir.string()}});
}

std::string shell_quoted(const std::string& text) {
    constexpr std::string_view kPlain =
        "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
    if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
    std::string quoted = "'";
    for (char c : text) quoted += c == '\'' ? std::string("'\\''") : std::string(1, c);
    return quoted + "'";
}

std::string shell_line(const StartCommand& command) {
    std::string line;
    for (const auto& [name, value] : command.environment) line += name + "=" + shell_quoted(value) + " ";
    for (const std::string& argument : command.arguments) line += shell_quoted(argument) + " ";
    if (!line.empty()) line.pop_back();
    return line;
}

nlohmann::json commands_to_json(const NodeCommands& node) {
    auto to_json = [](const StartCommand& command) {
        nlohmann::json environment = nlohmann::json::object();
        for (const auto& [name, value] : command.environment) environment[name] = value;
        return nlohmann::json{{"environment", std::move(environment)}, {"argv", command.arguments}};
    };
    nlohmann::json ranks = nlohmann::json::array();
    for (const StartCommand& rank : node.ranks) ranks.push_back(to_json(rank));
    return {{"host", node.host},
            {"agent", to_json(node.agent)},
            {"ranks", std::move(ranks)},
            {"nccl", nccl_settings_to_json(node.nccl)}};
}

void require_startable(const Plan& plan, const Machine& machine, const Places& places) {
    if (plan.nodes > 1) {
        throw Error(Failure::Usage, Code("NODE-COUNT"),
                    std::to_string(plan.nodes) + " nodes are asked for, and this machine is one", "--nodes",
                    "name the machines (--node), submit it to Slurm, or let `ringmaster prepare` make a run "
                    "directory that torchrun or srun can start on several");
    }
    for (const fs::path& program : {places.agent(), places.engine()}) {
        if (!fs::exists(program))
            throw Error(Failure::Unreachable, Code("PROGRAM-MISSING"), "is missing", program.string(),
                        "build or install Ringmaster again");
    }
    const auto gpus = static_cast<int>(machine.gpus.size());
    if (plan.device == Device::Cuda && plan.ranks > gpus) {
        throw Error(Failure::Unreachable, Code("ENGINE-DEVICE"),
                    std::to_string(plan.ranks) + " ranks on cuda, and " + std::to_string(gpus) +
                        " GPUs are seen here",
                    "--ranks",
                    gpus > 0 ? "--ranks " + std::to_string(gpus) + ", or --device cpu" : "--device cpu");
    }
    if (plan.device != Device::Cuda) return;
    if (const auto old = old_gpu_finding(machine.gpus, static_cast<size_t>(plan.ranks), Severity::Error))
        throw Error(Failure::Unreachable, Code("GPU-OLD"), old->message, {}, old->hint);
}

void start_agent(const RunDirectory& run, const Attempt& attempt, const Places& places) {
    const int64_t log_size = size_of(run.agent_log());
    const qint64 pid = start_detached(agent_arguments(run, attempt, places), run);
    const auto end = std::chrono::steady_clock::now() + kStartPatience;
    while (!is_taken_over(run, attempt.number)) {
        const bool gone = !find_process(pid);
        if (gone && is_taken_over(run, attempt.number)) return;  // the agent ended in between
        if (gone || std::chrono::steady_clock::now() > end) {
            const std::string said = end_of_log(run.agent_log(), log_size);
            throw Error(Failure::Unreachable, Code("PROGRAM-START"),
                        (gone ? std::string("the agent ended before it took the run over")
                              : "the agent did not take the run over in " +
                                    std::to_string(kStartPatience.count()) + " s") +
                            (said.empty() ? std::string() : ":\n" + said),
                        run.agent_log().string());
        }
        std::this_thread::sleep_for(kPoll);
    }
}

bool request_stop(const RunDirectory& run, StopHow how) {
    RunState state = read_run_state(run.dir);
    if (is_over(state.state)) return false;
    if (state.is_of_slurm())
        throw Error(Failure::Refused, Code("RUN-ELSEWHERE"), "is a job of Slurm", state.name,
                    "`ringmaster stop " + run.name() + "` in a terminal stops it");
    if (state.nodes.empty()) {
        if (state.writer.pid != 0) {
            throw Error(Failure::Refused, Code("RUN-NOT-STARTED"),
                        "is still being prepared by process " + std::to_string(state.writer.pid), state.name,
                        "interrupt it where it was started");
        }
        throw Error(Failure::Refused, Code("RUN-NOT-STARTED"), "has not been started", state.name,
                    "`ringmaster runs --delete " + run.name() + "` removes it");
    }
    const NodeState& node = state.nodes.front();
    if (node.agent.host != this_host()) {
        throw Error(Failure::Unreachable, Code("RUN-ELSEWHERE"), "runs on host " + node.agent.host,
                    state.name, "stop it there");
    }
    if (how == StopHow::FinishAndSave) {
        send(node.agent, SIGTERM);
    } else if (has_agent(node)) {
        send(node.agent, SIGUSR1);
    } else {
        send(node.agent, SIGKILL);
        state.state = RunPhase::Stopped;
        give_reason(state, {{"stopped-now-unsaved"}});
        state.ended = state.updated = static_cast<double>(std::time(nullptr));
        write_run_state(run.dir, state);
    }
    return true;
}

}  // namespace ringmaster
