#include "engine/events/run_state.h"

#include <array>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/files/durable.h"

namespace ringmaster {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

/// In the order of RunPhase.
constexpr std::array<const char*, 7> kPhases = {"queued",    "preparing", "running", "stopping",
                                                "completed", "failed",    "stopped"};

RunPhase phase_of(const std::string& word) {
    for (size_t i = 0; i < kPhases.size(); ++i) {
        if (word == kPhases[i]) return static_cast<RunPhase>(i);
    }
    throw Error(Failure::Refused, "\"" + word + "\" is no state of a run");
}

Json json_of(const ProcessId& process) {
    return {{"host", process.host},
            {"pid", process.pid},
            {"start_time", process.start_time},
            {"boot_id", process.boot_id}};
}

int64_t integer_at(const Json& json, const char* key) {
    return json.at(key).get_ref<const int64_t&>();
}

int count_at(const Json& json, const char* key) {
    return static_cast<int>(integer_at(json, key));
}

ProcessId process_of(const Json& json) {
    return {json.at("host"), integer_at(json, "pid"), integer_at(json, "start_time"), json.at("boot_id")};
}

Json json_of(const NodeState& node) {
    Json ranks = Json::array();
    for (const RankProcess& rank : node.ranks) {
        Json entry{{"rank", rank.rank}};
        entry.update(json_of(rank.process));
        ranks.push_back(std::move(entry));
    }
    return {{"host", node.host}, {"agent", json_of(node.agent)}, {"ranks", std::move(ranks)}};
}

NodeState node_of(const Json& json) {
    NodeState node{json.at("host"), process_of(json.at("agent")), {}};
    for (const Json& rank : json.at("ranks"))
        node.ranks.push_back({count_at(rank, "rank"), process_of(rank)});
    return node;
}

Json json_of(const RunState& state) {
    Json nodes = Json::array();
    for (const NodeState& node : state.nodes) nodes.push_back(json_of(node));
    return {{"name", state.name},       {"state", to_string(state.state)},
            {"reason", state.reason},   {"attempt", state.attempt},
            {"ranks", state.ranks},     {"created", state.created},
            {"started", state.started}, {"ended", state.ended},
            {"updated", state.updated}, {"writer", json_of(state.writer)},
            {"nodes", std::move(nodes)}};
}

RunState state_of(const Json& json) {
    RunState state;
    state.name = json.at("name");
    state.state = phase_of(json.at("state"));
    state.reason = json.at("reason");
    state.attempt = count_at(json, "attempt");
    state.ranks = count_at(json, "ranks");
    state.created = json.at("created");
    state.started = json.at("started");
    state.ended = json.at("ended");
    state.updated = json.at("updated");
    state.writer = process_of(json.at("writer"));
    for (const Json& node : json.at("nodes")) state.nodes.push_back(node_of(node));
    return state;
}

RunState as_written(const fs::path& file) {
    std::error_code unknown;
    if (!fs::exists(file, unknown)) throw Error(Failure::Usage, "there is no run here", file.string());
    std::ifstream in;
    if (fs::is_regular_file(file, unknown)) in.open(file);
    const std::string text{std::istreambuf_iterator<char>(in), {}};
    if (!in.is_open()) throw Error(Failure::Refused, "cannot be read", file.string());
    return parse_run_state(text, file.string());
}

bool is_abandoned(const RunState& state) {
    return !is_over(state.state) && state.writer.pid != 0 && !is_alive(state.writer);
}

}  // namespace

const char* to_string(RunPhase phase) {
    return kPhases.at(static_cast<size_t>(phase));
}

bool is_over(RunPhase phase) {
    return phase == RunPhase::Completed || phase == RunPhase::Failed || phase == RunPhase::Stopped;
}

std::string run_state_text(const RunState& state) {
    return json_of(state).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunState parse_run_state(const std::string& text, const std::string& where) {
    try {
        return state_of(Json::parse(text));
    } catch (const nlohmann::json::exception& problem) {
        throw Error(Failure::Refused, std::string("is damaged: ") + problem.what(), where);
    } catch (const Error& problem) {
        throw Error(Failure::Refused, std::string("is damaged: ") + problem.what(), where);
    }
}

void write_run_state(const fs::path& run_dir, const RunState& state) {
    write_file_durably(run_dir / "run.json", run_state_text(state));
}

RunState read_run_state(const fs::path& run_dir) {
    const fs::path file = run_dir / "run.json";
    RunState state = as_written(file);
    if (!is_abandoned(state)) return state;
    state =
        as_written(file);  // its writer may have written the end between our reading and our asking for it
    if (!is_abandoned(state)) return state;
    const ProcessId now = this_process();
    state.reason = "its supervisor (pid " + std::to_string(state.writer.pid) + " on host " +
                   state.writer.host + ") is gone" +
                   (state.writer.boot_id == now.boot_id ? "" : ": the machine was restarted");
    state.state = RunPhase::Failed;
    state.ended = state.updated;
    return state;
}

}  // namespace ringmaster
