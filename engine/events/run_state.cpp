#include "engine/events/run_state.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <utility>

#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/events/limits.h"
#include "engine/events/process_json.h"
#include "engine/files/durable.h"
#include "engine/json_problem.h"

namespace ringmaster {

using Json = nlohmann::ordered_json;
namespace fs = std::filesystem;

namespace {

/// Lists the names in the order of RunPhase.
constexpr std::array<const char*, 7> kPhases = {"queued",    "preparing", "running", "stopping",
                                                "completed", "failed",    "stopped"};

RunPhase phase_of(const std::string& word) {
    for (size_t i = 0; i < kPhases.size(); ++i) {
        if (word == kPhases[i]) return static_cast<RunPhase>(i);
    }
    throw Error(Failure::Refused, Code("FILE-DAMAGED"), "\"" + word + "\" is no state of a run");
}

constexpr int64_t kMostPid = std::numeric_limits<int>::max();
constexpr int64_t kMostJob = std::numeric_limits<uint32_t>::max();  ///< largest number of a Slurm job
constexpr int kMostAttempts = 1'000'000;

[[noreturn]] void refuse(const char* key, const std::string& why) {
    throw Error(Failure::Refused, Code("FILE-DAMAGED"), std::string(key) + " " + why);
}

/// Returns a whole number from `least` to `most`. Throws if it is outside or missing.
int64_t integer_at(const nlohmann::json& json, const char* key, int64_t least, int64_t most) {
    const nlohmann::json& value = json.at(key);
    if (!value.is_number_integer()) refuse(key, "is no whole number");
    const bool fits = !value.is_number_unsigned() || std::in_range<int64_t>(value.get<uint64_t>());
    const int64_t number = fits ? value.get<int64_t>() : most;
    if (!fits || number < least || number > most)
        refuse(key, "is outside " + std::to_string(least) + " to " + std::to_string(most));
    return number;
}

int count_at(const nlohmann::json& json, const char* key, int most) {
    return static_cast<int>(integer_at(json, key, 0, most));
}

double time_at(const nlohmann::json& json, const char* key) {
    const double seconds = json.at(key);
    if (!(std::abs(seconds) <= limits::kSeconds)) refuse(key, "is no time");
    return seconds;
}

std::string name_at(const nlohmann::json& json, const char* key) {
    std::string name = json.at(key);
    if (name.size() > limits::kName)
        refuse(key, "is longer than " + std::to_string(limits::kName) + " bytes");
    return name;
}

ProcessId process_of(const nlohmann::json& json) {
    const std::string host = name_at(json, "host");
    const int64_t most = host == kSlurmJob ? kMostJob : kMostPid;
    return {host, integer_at(json, "pid", 0, most),
            integer_at(json, "start_time", 0, std::numeric_limits<int64_t>::max()), name_at(json, "boot_id")};
}

Json json_of(const NodeState& node) {
    Json ranks = Json::array();
    for (const RankProcess& rank : node.ranks) {
        Json entry{{"rank", rank.rank}};
        entry.update(to_json(rank.process));
        ranks.push_back(std::move(entry));
    }
    return {{"host", node.host}, {"agent", to_json(node.agent)}, {"ranks", std::move(ranks)}};
}

NodeState node_of(const nlohmann::json& json) {
    NodeState node{name_at(json, "host"), process_of(json.at("agent")), {}};
    for (const nlohmann::json& rank : json.at("ranks"))
        node.ranks.push_back({count_at(rank, "rank", limits::kRanks - 1), process_of(rank)});
    return node;
}

constexpr std::size_t kMostCode = 64;  ///< longest code, in bytes

/// Returns the code of a failure; other states have none.
std::string code_of(const RunState& state) {
    if (state.state != RunPhase::Failed) return "";
    return state.code.empty() ? "RUN-FAILED" : state.code;
}

Json json_of(const Reason& why) {
    Json parts = Json::array();
    for (const ReasonPart& part : why) {
        Json entry = Json::array({part.code});
        for (const std::string& value : part.with) entry.push_back(value);
        parts.push_back(std::move(entry));
    }
    return parts;
}

/// Returns the parts; none if they are longer than a reason may be. Files of older versions have none.
Reason why_of(const nlohmann::json& json) {
    Reason why;
    size_t bytes = 0;
    for (const nlohmann::json& entry : json.value("why", nlohmann::json::array())) {
        const auto words = entry.get<std::vector<std::string>>();
        for (const std::string& word : words) bytes += word.size();
        if (!words.empty()) why.push_back({words[0], {words.begin() + 1, words.end()}});
    }
    return bytes <= limits::kReason ? why : Reason();
}

Json json_of(const RunState& state) {
    Json nodes = Json::array();
    for (const NodeState& node : state.nodes) nodes.push_back(json_of(node));
    return {{"name", state.name},
            {"state", to_string(state.state)},
            {"reason", state.reason},
            {"why", json_of(state.why)},
            {"code", code_of(state)},
            {"failed_rank", state.state == RunPhase::Failed ? state.failed_rank : -1},
            {"attempt", state.attempt},
            {"ranks", state.ranks},
            {"created", state.created},
            {"started", state.started},
            {"ended", state.ended},
            {"updated", state.updated},
            {"writer", to_json(state.writer)},
            {"nodes", std::move(nodes)}};
}

/// Returns the rank that failed first; -1 for files of older versions, which do not record it.
int failed_rank_of(const nlohmann::json& json, int ranks) {
    if (!json.contains("failed_rank")) return -1;
    return static_cast<int>(integer_at(json, "failed_rank", -1, std::max(0, ranks - 1)));
}

RunState state_of(const nlohmann::json& json) {
    RunState state;
    state.name = name_at(json, "name");
    state.state = phase_of(name_at(json, "state"));
    state.reason = json.at("reason");
    state.why = why_of(json);
    limits::cut(state.reason, limits::kReason);
    state.attempt = count_at(json, "attempt", kMostAttempts);
    state.ranks = count_at(json, "ranks", limits::kRanks);
    state.created = time_at(json, "created");
    state.started = time_at(json, "started");
    state.ended = time_at(json, "ended");
    state.updated = time_at(json, "updated");
    state.writer = process_of(json.at("writer"));
    state.code = json.value("code", "").substr(0, kMostCode);
    state.code = code_of(state);
    state.failed_rank = failed_rank_of(json, state.ranks);
    for (const nlohmann::json& node : json.at("nodes")) state.nodes.push_back(node_of(node));
    return state;
}

RunState as_written(const fs::path& file) {
    std::error_code unknown;
    if (!fs::exists(file, unknown))
        throw Error(Failure::Usage, Code("RUN-MISSING"), "there is no run here", file.string());
    std::ifstream in;
    if (fs::is_regular_file(file, unknown)) in.open(file);
    if (!in.is_open()) throw Error(Failure::Refused, Code("FILE-MISSING"), "cannot be read", file.string());
    const std::streamoff size = in.seekg(0, std::ios::end).tellg();
    std::string text(static_cast<size_t>(std::clamp<std::streamoff>(size, 0, limits::kStateFile + 1)), '\0');
    in.seekg(0).read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(in.gcount()));
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

void give_reason(RunState& state, Reason why) {
    state.reason = english(why);
    state.why = std::move(why);
}

std::string run_state_text(const RunState& state) {
    return json_of(state).dump(2, ' ', false, Json::error_handler_t::replace) + "\n";
}

RunState parse_run_state(const std::string& text, const std::string& where) {
    const nlohmann::json json = parse_bounded_json(text, where, {limits::kStateFile, 8, 1 << 17});
    try {
        return state_of(json);
    } catch (const nlohmann::json::exception& problem) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged: " + json_problem(problem), where);
    } catch (const Error& problem) {  // a member has an invalid value
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), std::string("is damaged: ") + problem.what(),
                    where);
    }
}

void write_run_state(const fs::path& run_dir, const RunState& state) {
    write_file_durably(run_dir / "run.json", run_state_text(state));
}

RunState read_run_state(const fs::path& run_dir) {
    const fs::path file = run_dir / "run.json";
    RunState state = as_written(file);
    if (!is_abandoned(state)) return state;
    state = as_written(file);  // the writer may have ended the run between the first reading and the check
    if (!is_abandoned(state)) return state;
    const ProcessId now = this_process();
    Reason why{{"supervisor-gone", {std::to_string(state.writer.pid), state.writer.host}}};
    if (state.writer.boot_id != now.boot_id) why.push_back({"machine-restarted"});
    give_reason(state, std::move(why));
    state.state = RunPhase::Failed;
    state.code = "RUN-ABANDONED";
    state.ended = state.updated;
    return state;
}

}  // namespace ringmaster
