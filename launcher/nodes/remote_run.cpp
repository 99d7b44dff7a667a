#include "launcher/nodes/remote_run.h"

#include <QCryptographicHash>
#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <thread>
#include <utility>

#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/events/event_log.h"
#include "engine/events/limits.h"
#include "engine/files/checkpoints.h"
#include "engine/json_problem.h"
#include "launcher/base/bounded_file.h"
#include "launcher/base/engine_files.h"
#include "launcher/base/files.h"
#include "launcher/base/secrets.h"
#include "launcher/history/sample_file.h"
#include "launcher/nodes/from_node.h"
#include "launcher/nodes/samples_there.h"
#include "launcher/nodes/stage.h"
#include "launcher/nodes/trackers.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr auto kStartPatience = std::chrono::seconds(60);
constexpr auto kStatePatience = std::chrono::seconds(20);
constexpr auto kLeftoverPatience = std::chrono::seconds(20);  ///< longer than an agent takes to end its ranks
constexpr auto kPoll = std::chrono::milliseconds(500);
constexpr auto kCalibrationPoll = std::chrono::milliseconds(100);
/// Claims that more bytes are here than any file has, so that the follower sends nothing of the file
constexpr const char* kNothing = "=9000000000000000000";

std::string random_hex(int digits) {
    std::random_device source;
    std::string text;
    for (int i = 0; i < digits; ++i) text += "0123456789abcdef"[source() % 16];
    return text;
}

std::string short_hash(const std::string& text) {
    const auto bytes = QByteArray::fromRawData(text.data(), static_cast<qsizetype>(text.size()));
    return QCryptographicHash::hash(bytes, QCryptographicHash::Sha256).toHex().left(16).toStdString();
}

constexpr const char* kRemoteFile = "remote.json";
constexpr int64_t kMostRemoteBytes = 4 << 20;

fs::path remote_file(const RunDirectory& run) {
    return run.dir / kRemoteFile;
}

std::string text_of(const RemoteRun& remote) {
    Json nodes = Json::array();
    for (const RemoteNode& node : remote.nodes) {
        nodes.push_back({{"target", node.target},
                         {"run_dir", node.run_dir},
                         {"agent", node.agent},
                         {"address", node.address},
                         {"first_rank", node.first_rank},
                         {"ranks", node.ranks}});
        if (!node.called.empty()) nodes.back()["called"] = node.called;
    }
    return Json{{"ranks", remote.ranks}, {"adopted", remote.adopted}, {"nodes", std::move(nodes)}}.dump(2) +
           "\n";
}

/// Returns the engine, its agent, and the CUDA part if there is one.
std::vector<fs::path> programs(const Places& places) {
    std::vector<fs::path> files = {engine_file(places), places.agent()};
    if (const fs::path cuda = cuda_file(places); !cuda.empty()) files.push_back(cuda);
    return files;
}

std::string programs_key(const Places& places) {
    std::string key;
    for (const fs::path& file : programs(places)) key += content_hash(file, {});
    return key;
}

/// Returns the folder of the programs on a node; it also holds the link to that node's LibTorch.
std::string programs_dir(const Node& node, const std::string& programs_key) {
    const std::string key = programs_key + node.facts.libtorch;
    return node.facts.data_dir + "/programs/" + short_hash(key) + "/bin";
}

std::vector<StagedFile> program_files(const Places& places, const std::string& bin) {
    std::vector<StagedFile> files;
    for (const fs::path& file : programs(places))
        files.push_back({file, bin + "/" + file.filename().string(), true});
    return files;
}

void link_libtorch(Node& node, const std::string& bin) {
    script_output(*node.session,
                  "ln -sfn " + shell_quoted(node.facts.libtorch) + " " + shell_quoted(bin + "/libtorch"),
                  "LibTorch cannot be linked");
}

RemoteNode node_of_run(const Node& node, const RunDirectory& run, const std::string& id,
                       const std::string& programs_key, int first_rank, int ranks) {
    RemoteNode there;
    there.target = node.name();
    there.run_dir = node.facts.data_dir + "/runs/" + id + "/" + run.name();
    there.agent = programs_dir(node, programs_key) + "/ringmaster-agent";
    there.address = node.facts.address;
    there.first_rank = first_rank;
    there.ranks = ranks;
    return there;
}

bool is_of_model(const fs::path& file, bool with_weights) {
    const std::string end = file.extension().string();
    if (end == ".safetensors") return with_weights;
    return end == ".json" || end == ".txt" || end == ".model" || end == ".jinja";
}

/// Returns the files of a model or tokenizer folder with their targets below `to`. Weights are included only
/// if `with_weights` is set.
std::vector<StagedFile> folder_files(const std::string& folder, const std::string& to, bool with_weights) {
    std::vector<StagedFile> files;
    for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
        if (entry.is_regular_file() && is_of_model(entry.path(), with_weights))
            files.push_back({entry.path(), to + "/" + entry.path().filename().string(), false});
    }
    return files;
}

/// Returns plan.json with the paths of a node's files, and adds the files to send to `files`.
std::string plan_there(const RunDirectory& run, const Node& node, const RemoteNode& there,
                       const std::set<std::string>& secrets, std::vector<StagedFile>& files) {
    Json plan = read_json_file(run.plan());
    mask_secrets(plan, secrets, {"model_dir", "tokenizer", "lora_model_dir", "tokens", "eval_tokens"});
    const std::string data = node.facts.data_dir;
    Json& config = plan.at("config");
    std::error_code none;
    for (const char* key : {"model_dir", "tokenizer", "lora_model_dir"}) {
        const std::string folder = config.value(key, "");
        if (!fs::path(folder).is_absolute() || !fs::is_directory(folder, none)) continue;
        const std::string to = data + "/models/" + short_hash(folder);
        const bool of_base = std::string(key) == "model_dir" && !config.value("reinit_weights", false);
        const bool with_weights = of_base || std::string(key) == "lora_model_dir";
        const std::vector<StagedFile> of_folder = folder_files(folder, to, with_weights);
        files.insert(files.end(), of_folder.begin(), of_folder.end());
        config[key] = to;
    }
    config["output_dir"] = there.run_dir + "/output";
    for (const char* key : {"tokens", "eval_tokens"}) {
        const std::string file = plan.at("data").value(key, "");
        if (file.empty()) continue;
        const std::string to =
            data + "/tokens/" + short_hash(file) + "/" + fs::path(file).filename().string();
        files.push_back({file, to, false});
        plan.at("data")[key] = to;
    }
    return plan.dump(2) + "\n";
}

void add_checkpoints(const RunDirectory& run, const RemoteNode& there, std::vector<StagedFile>& files) {
    for (const int64_t step : complete_checkpoints(run)) {
        const fs::path folder = run.checkpoints() / checkpoint_name(step);
        for (const fs::directory_entry& entry : fs::directory_iterator(folder)) {
            if (!entry.is_regular_file() || entry.path().extension() == ".part") continue;
            const fs::path name = entry.path().lexically_relative(run.dir);
            files.push_back({entry.path(), there.run_dir + "/" + name.string(), false});
        }
    }
}

std::string start_script(const RemoteNode& node, const StartCommand& command) {
    return "cd " + shell_quoted(node.run_dir) + " && mkdir -p events logs || exit 1\n" + shell_line(command) +
           " </dev/null &\n";
}

/// Starts an agent and returns its output. Throws Error(Unreachable) with the agent's error message.
std::string start_one(Node& node, const RemoteNode& there, const StartCommand& command) {
    const ScriptResult result = run_script(*node.session, start_script(there, command), kStartPatience);
    if (result.errors.find("ringmaster-agent:") != std::string::npos || result.status != 0)
        throw Error(Failure::Unreachable, Code("NODE-AGENT"), "its agent did not start: " + result.errors,
                    node.name());
    return result.out;
}

int count_in(const Json& json, const char* key, int least, int most) {
    const Json& value = json.at(key);
    if (!value.is_number_integer() || value.get<double>() < least || value.get<double>() > most)
        throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                    std::string("is damaged: ") + key + " is outside " + std::to_string(least) + " to " +
                        std::to_string(most));
    return value.get<int>();
}

std::string text_in(const Json& json, const char* key) {
    const std::string text = json.at(key);
    if (text_of_node(text, limits::kName) != text)
        throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                    std::string("is damaged: ") + key + " is no name");
    return text;
}

/// Parses a node of remote.json. Throws Error, Json::exception.
RemoteNode node_from(const Json& json, const RemoteRun& remote) {
    RemoteNode node{text_in(json, "target"),
                    text_in(json, "run_dir"),
                    text_in(json, "agent"),
                    text_in(json, "address"),
                    0,
                    0};
    node.first_rank = count_in(json, "first_rank", 0, remote.ranks - 1);
    node.ranks = count_in(json, "ranks", 1, remote.ranks);
    if (json.contains("called")) node.called = text_in(json, "called");
    if (!remote.adopted || node.is_named()) parse_target(node.target);
    return node;
}

/// Returns " --node gpu1 --node HOST": one option per node, with HOST for an unknown name.
std::string naming(const RemoteRun& remote) {
    std::string words;
    for (const RemoteNode& node : remote.nodes)
        words += " --node " + (node.is_named() ? node.target : !node.called.empty() ? node.called : "HOST");
    return words;
}

void stop_now(Node& node, const RemoteNode& there) {
    run_script(*node.session, shell_line({{}, {there.agent, "--stop", there.run_dir, "--now"}}));
}

}  // namespace

bool is_remote(const RunDirectory& run) {
    std::error_code none;
    return fs::exists(remote_file(run), none);
}

RemoteRun read_remote_run(const RunDirectory& run) {
    const std::string file = remote_file(run).string();
    return parse_remote_run(read_bounded(file, kMostRemoteBytes), file);
}

void write_remote_run(const RunDirectory& run, const RemoteRun& remote) {
    write_file(remote_file(run), text_of(remote));
}

RemoteRun parse_remote_run(const std::string& text, const std::string& where) {
    try {
        const Json json = parse_bounded_json(text, where, {kMostRemoteBytes, 8, 1 << 17});
        RemoteRun remote;
        remote.ranks = count_in(json, "ranks", 1, limits::kRanks);
        remote.adopted = json.value("adopted", false);
        int next = 0;
        for (const Json& node : json.at("nodes")) {
            remote.nodes.push_back(node_from(node, remote));
            if (std::exchange(next, next + remote.nodes.back().ranks) != remote.nodes.back().first_rank)
                throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                            "is damaged: its nodes do not share its ranks", where);
        }
        if (remote.nodes.empty() || next != remote.ranks)
            throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                        "is damaged: its nodes do not share its ranks", where);
        return remote;
    } catch (const Json::exception& problem) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged: " + json_problem(problem), where);
    } catch (const Error& problem) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), problem.what(), where);
    }
}

size_t RemoteRun::lead() const {
    const auto named =
        std::find_if(nodes.begin(), nodes.end(), [](const RemoteNode& one) { return one.is_named(); });
    return named == nodes.end() ? 0 : static_cast<size_t>(named - nodes.begin());
}

bool RemoteRun::all_named() const {
    return std::all_of(nodes.begin(), nodes.end(), [](const RemoteNode& one) { return one.is_named(); });
}

void RemoteRun::require_named(size_t index, const std::string& command, const std::string& run_name) const {
    if (nodes[index].is_named()) return;
    throw Error(Failure::Usage, Code("RUN-ELSEWHERE"),
                "needs node " + std::to_string(index) + " of the run, which nobody has named", "--node",
                "`ringmaster " + command + " " + run_name + naming(*this) + "` names all in their order");
}

std::string RemoteRun::not_contacted_text(const std::string& run_name) const {
    std::string text;
    for (size_t i = 0; i < nodes.size(); ++i) {
        if (nodes[i].is_named()) continue;
        text += "node " + std::to_string(i) + " of " + std::to_string(nodes.size()) +
                (nodes[i].called.empty() ? "" : ", which its launcher calls " + nodes[i].called + ",") +
                " is not contacted: nobody has named it here\n";
    }
    if (text.empty()) return text;
    return text + "  `ringmaster watch " + run_name + naming(*this) + "` names all in their order\n";
}

RunState state_here(RunState told, const RemoteRun& remote, const RunDirectory& run) {
    const RunState here = read_run_state(run.dir);
    const std::string& lead = remote.nodes[remote.lead()].target;
    const auto rename = [&](ProcessId& process, const std::string& name) {
        if (!here.is_of_slurm() || process.host != kSlurmJob) process.host = name;
    };
    told.name = here.name;
    told.ranks = std::min(told.ranks, remote.ranks);
    rename(told.writer, lead);
    for (NodeState& node : told.nodes) {
        const int rank = node.ranks.empty() ? 0 : node.ranks.front().rank;
        std::string name = lead;
        for (const RemoteNode& known : remote.nodes) {
            if (rank >= known.first_rank && rank < known.first_rank + known.ranks)
                name = known.is_named() ? known.target : known.called;
        }
        node.host = name;
        rename(node.agent, name);
        for (RankProcess& one : node.ranks) rename(one.process, name);
    }
    return told;
}

std::vector<std::string> record_files(const RemoteNode& node, size_t index) {
    std::vector<std::string> files = {(index == 0 ? "" : "node-" + std::to_string(index) + "/") +
                                      "agent.log"};
    for (int rank = node.first_rank; rank < node.first_rank + node.ranks; ++rank) {
        files.push_back("events/" + event_file_name(rank));
        files.push_back("logs/" + log_file_name(rank));
    }
    if (node.first_rank == 0) files.emplace_back(kSamplesFile);
    return files;
}

std::optional<RunState> remote_state(SshSession& first, const RemoteRun& remote) {
    return node_state(first, remote.nodes.front(), 0);
}

std::optional<RunState> node_state(SshSession& session, const RemoteNode& node, size_t index) {
    const StartCommand command{
        {},
        {node.agent, "--follow", node.run_dir, "--node", std::to_string(index), "--first-rank", "0",
         "--ranks", "0", "--have", record_files(node, index).front() + kNothing}};
    RemoteScript script(session, "exec " + shell_line(command));
    script.end_of_input();
    FollowFrames frames({});
    std::string came;
    bool said_something = false;
    const auto end = std::chrono::steady_clock::now() + kStatePatience;
    while (std::chrono::steady_clock::now() < end) {
        const bool more = script.read(came, kPoll);
        said_something = said_something || !came.empty();
        frames.take(std::exchange(came, {}));
        while (const std::optional<FollowFrame> frame = frames.next()) {
            if (frame->kind == FollowFrame::Kind::State) return parse_run_state(frame->bytes, node.target);
            return std::nullopt;  // if there is a state, it comes first
        }
        if (!more && !said_something) return std::nullopt;  // the run does not exist there
        if (!more) break;
    }
    throw Error(Failure::Unreachable, Code("NODE-AGENT"), "does not say how its run is: " + script.errors(),
                node.target);
}

Machine machine_of(const std::vector<Node>& nodes) {
    Machine machine;
    machine.host = nodes.front().name();
    machine.cores = nodes.front().facts.cores;
    machine.ram_bytes = nodes.front().facts.memory_bytes;
    for (const Node& node : nodes) {
        machine.cores = std::min(machine.cores, node.facts.cores);
        machine.ram_bytes = std::min(machine.ram_bytes, node.facts.memory_bytes);
        for (const NodeGpu& gpu : node.facts.gpus)
            machine.gpus.push_back({gpu.index, node.name() + "/" + std::to_string(gpu.index), gpu.name,
                                    gpu.memory_bytes, gpu.capability});
    }
    return machine;
}

RemoteRun lay_out_at_login(const Node& login, const RunDirectory& run, int ranks, const Places& places) {
    return {ranks, {node_of_run(login, run, random_hex(12), programs_key(places), 0, ranks)}};
}

RemoteRun lay_out(const std::vector<Node>& nodes, const RunDirectory& run, const Plan& plan,
                  const Places& places) {
    const int count = static_cast<int>(nodes.size());
    if (plan.ranks % count != 0) {
        throw Error(Failure::Usage, Code("NODE-COUNT"),
                    std::to_string(plan.ranks) + " ranks cannot be spread evenly over " +
                        std::to_string(count) + " nodes",
                    "--ranks", "--ranks " + std::to_string((plan.ranks / count + 1) * count));
    }
    RemoteRun remote{plan.ranks, {}};
    const std::string id = random_hex(12);
    const std::string key = programs_key(places);
    for (const Node& node : nodes) {
        const NodeFinding driver = what_driver_lacks(node.facts);
        if (plan.device == Device::Cuda && !driver.code.empty()) throw NodeError(driver, node.name());
        const NodeFinding gpus = what_gpus_lack(node.facts, static_cast<size_t>(plan.ranks / count));
        if (plan.device == Device::Cuda && !gpus.code.empty()) throw NodeError(gpus, node.name());
        if (plan.device == Device::Cuda && static_cast<int>(node.facts.gpus.size()) < plan.ranks / count) {
            throw Error(Failure::Unreachable, Code("ENGINE-DEVICE"),
                        "has " + std::to_string(node.facts.gpus.size()) + " GPUs, and gets " +
                            std::to_string(plan.ranks / count) + " ranks",
                        node.name(), "fewer --ranks, or --device cpu");
        }
        const int ranks = plan.ranks / count;
        const int first_rank = static_cast<int>(remote.nodes.size()) * ranks;
        remote.nodes.push_back(node_of_run(node, run, id, key, first_rank, ranks));
    }
    return remote;
}

std::vector<StartCommand> agent_commands(const RemoteRun& remote, int attempt, const std::string& resume,
                                         int restarts) {
    std::vector<StartCommand> commands;
    for (size_t i = 0; i < remote.nodes.size(); ++i) {
        const RemoteNode& node = remote.nodes[i];
        StartCommand command;
        command.arguments = {node.agent,
                             "--run",
                             node.run_dir,
                             "--ranks",
                             std::to_string(node.ranks),
                             "--attempt",
                             std::to_string(attempt),
                             "--resume",
                             resume};
        if (remote.nodes.size() == 1 && restarts > 0)
            command.arguments.insert(command.arguments.end(), {"--restarts", std::to_string(restarts)});
        if (remote.nodes.size() > 1) {
            for (const std::string& word :
                 {std::string("--nodes"), std::to_string(remote.nodes.size()), std::string("--node"),
                  std::to_string(i), std::string("--first-rank"), std::to_string(node.first_rank),
                  std::string("--world-size"), std::to_string(remote.ranks)})
                command.arguments.push_back(word);
            if (i == 0) command.arguments.insert(command.arguments.end(), {"--listen", node.address});
        }
        commands.push_back(std::move(command));
    }
    return commands;
}

std::string bring_programs(Node& node, const Places& places, const Progress& progress) {
    const std::string bin = programs_dir(node, programs_key(places));
    stage_files(node, program_files(places, bin), progress);
    link_libtorch(node, bin);
    return bin;
}

Calibration calibrate_there(Node& node, const Machine& machine, const Calibrated& what, const Places& places,
                            const Progress& progress) {
    StartCommand command{{}, calibration_arguments(machine, what)};
    const std::string bin = bring_programs(node, places, progress);
    command.arguments.insert(command.arguments.begin(), bin + "/ringmaster-engine");
    RemoteScript script(*node.session, "exec " + shell_line(command) + " </dev/null");
    CalibrationLines lines(progress);
    std::string pending;
    const auto take_lines = [&] {
        for (size_t end; (end = pending.find('\n')) != std::string::npos;) {
            lines.take(pending.substr(0, end));
            pending.erase(0, end + 1);
        }
    };
    while (script.read(pending, kCalibrationPoll)) {
        progress.stop_if_cancelled();
        take_lines();
    }
    take_lines();
    if (script.status() != 0)
        throw Error(Failure::Unreachable, Code("PROGRAM-FAILED"),
                    "its engine could not measure: " + script.errors(), node.name());
    return lines.result(machine, what.cuda);
}

namespace {

/// Rejects a run that needs reward functions or a folder of rollouts, because the Python environment for them
/// is not sent to the nodes.
void refuse_sampling(const RunDirectory& run) {
    std::error_code none;
    if (!fs::exists(run.dir / "sampling.json", none)) return;
    const Json asked = Json::parse(read_file(run.dir / "sampling.json"), nullptr, false);
    if (asked.is_object() && asked.contains("rollout_command"))
        throw Error(Failure::Refused, Code("ROLLOUT-FOLDER"),
                    "the Python environment that reads the files is not sent to other machines",
                    "trl.rollout_folder", "start the run on this machine, or with Slurm on a shared disk");
    throw Error(Failure::Refused, Code("REWARD-FUNCTION"),
                "the reward functions and their Python environment are not sent to other machines",
                "trl.reward_funcs", "start the run on this machine, or with Slurm on a shared disk");
}

}  // namespace

void place_run(std::vector<Node>& nodes, const RemoteRun& remote, const RunDirectory& run,
               const Places& places, const Progress& progress) {
    if (!remote.adopted) refuse_sampling(run);
    const std::string token = random_hex(32);
    const std::string config = read_file(run.config());
    std::set<std::string> secrets = secrets_of_document(config);
    secrets.merge(secrets_of_environment());
    for_each_at_once(nodes.size(), [&](size_t i) {
        Node& node = nodes[i];
        const RemoteNode& there = remote.nodes[i];
        const std::string bin = fs::path(there.agent).parent_path().string();
        std::vector<StagedFile> files;
        add_checkpoints(run, there, files);
        if (!remote.adopted) {
            const std::vector<StagedFile> programs = program_files(places, bin);
            files.insert(files.end(), programs.begin(), programs.end());
            const std::string plan_text = plan_there(run, node, there, secrets, files);
            const std::string samples_text = samples_there(run, there, files);
            stage_files(node, files, progress);
            link_libtorch(node, bin);
            write_remote_file(*node.session, there.run_dir + "/plan.json", plan_text);
            write_remote_file(*node.session, there.run_dir + "/config.yaml",
                              without_secrets(config, secrets));
            write_remote_file(*node.session, there.run_dir + "/" + kRemoteFile, text_of(remote));
            place_samples(node, there, run, samples_text);
            if (i == 0) place_trackers(node, there, run, places, progress);
        } else if (!files.empty()) {
            stage_files(node, files, progress);
        }
        write_remote_file(*node.session, there.run_dir + "/token", token + "\n");
    });
    write_remote_run(run, remote);
}

void bring_records(std::vector<Node>& nodes, const RemoteRun& remote, const RemoteRun& before,
                   const RunDirectory& run) {
    std::map<std::string, std::string> wrote;  // file → target of the node that wrote it
    for (size_t i = 0; i < before.nodes.size(); ++i) {
        for (const std::string& file : record_files(before.nodes[i], i)) wrote[file] = before.nodes[i].target;
    }
    for_each_at_once(nodes.size(), [&](size_t i) {
        for (const std::string& file : record_files(remote.nodes[i], i)) {
            std::error_code none;
            const auto writer = wrote.find(file);
            const bool is_there = writer != wrote.end() && writer->second == remote.nodes[i].target;
            if (is_there || !fs::exists(run.dir / file, none)) continue;
            write_remote_file(*nodes[i].session, remote.nodes[i].run_dir + "/" + file,
                              read_file(run.dir / file));
        }
    });
}

void start_remote(std::vector<Node>& nodes, const RemoteRun& remote, int attempt, const std::string& resume,
                  int restarts) {
    std::vector<StartCommand> commands = agent_commands(remote, attempt, resume, restarts);
    const std::string said = start_one(nodes[0], remote.nodes[0], commands[0]);
    if (nodes.size() == 1) return;
    try {
        const std::string meeting = parse_meeting(said);
        if (meeting.empty())
            throw Error(Failure::Unreachable, Code("NODE-AGENT"),
                        "its agent did not say where the others meet it", nodes[0].name());
        for_each_at_once(nodes.size() - 1, [&](size_t i) {
            commands[i + 1].arguments.insert(commands[i + 1].arguments.end(), {"--meet", meeting});
            start_one(nodes[i + 1], remote.nodes[i + 1], commands[i + 1]);
        });
    } catch (const Error&) {
        stop_now(nodes[0], remote.nodes[0]);
        throw;
    }
}

void end_leftovers(Node& node, const RemoteNode& there, size_t index) {
    const std::string own = there.run_dir + (index == 0 ? "" : "/node-" + std::to_string(index));
    const std::string line = shell_line({{}, {there.agent, "--stop", own, "--now"}});
    const auto end = std::chrono::steady_clock::now() + kLeftoverPatience;
    while (std::chrono::steady_clock::now() < end) {
        const ScriptResult asked = run_script(*node.session, line);
        if (asked.status != 0 || asked.out.find("over") != std::string::npos) return;  // over or not started
        std::this_thread::sleep_for(kPoll);
    }
}

bool request_remote_stop(SshSession& first, const RemoteRun& remote, StopHow how) {
    StartCommand command{{}, {remote.nodes[0].agent, "--stop", remote.nodes[0].run_dir}};
    if (how == StopHow::Now) command.arguments.emplace_back("--now");
    return script_output(first, shell_line(command), "its run cannot be stopped").find("over") ==
           std::string::npos;
}

}  // namespace ringmaster
