#include "launcher/queue/queue_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/events/file_lock.h"
#include "launcher/files.h"
#include "launcher/slurm/slurm_run.h"
#include "launcher/start_record.h"

namespace ringmaster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

constexpr const char* kAbandoned = "RUN-ABANDONED";  ///< code of a run whose agent is gone

json to_json(const Queue& queue) {
    json runs = json::array();
    for (const QueuedRun& one : queue.runs)
        runs.push_back({{"dir", one.run.dir.string()}, {"resumes", one.resumes}, {"set", one.set}});
    json file = {{"slots", queue.slots}, {"runs", std::move(runs)}};
    if (!queue.partition_slots.empty()) file["partitions"] = queue.partition_slots;
    return file;
}

Queue from_json(const json& text) {
    Queue queue;
    queue.slots = std::clamp(text.at("slots").get<int>(), 1, kMostSlots);
    for (const auto& [partition, slots] :
         text.value("partitions", json::object()).get<std::map<std::string, int>>())
        queue.partition_slots[partition] = std::clamp(slots, 1, kMostSlots);
    for (const json& one : text.at("runs")) {
        queue.runs.push_back({{one.at("dir").get<std::string>()},
                              one.at("resumes").get<int>(),
                              one.at("set").get<std::map<std::string, std::string>>()});
    }
    return queue;
}

/// Returns the state of a run on other machines or in Slurm, from what the last look at it recorded here.
QueueState state_elsewhere(const RunDirectory& run, const RunState& state) {
    const bool is_submitted = is_slurm(run) && !read_slurm_record(run).job.number.empty();
    if (state.state == RunPhase::Queued && !is_submitted) return QueueState::Waiting;
    if (backend_of(run)->is_pending(run)) return QueueState::Active;
    return state.code == kAbandoned && !is_slurm(run) ? QueueState::CutOff : QueueState::Over;
}

}  // namespace

QueueState queue_state(const RunDirectory& run) {
    try {
        const RunState state = read_run_state(run.dir);
        if (is_remote(run) || is_slurm(run)) return state_elsewhere(run, state);
        if (is_active(state)) return QueueState::Active;
        if (state.state == RunPhase::Queued) return QueueState::Waiting;
        const RunState written = parse_run_state(read_file(run.state()), run.state().string());
        return is_over(written.state) ? QueueState::Over : QueueState::CutOff;
    } catch (const Error&) {
        return QueueState::Over;
    }
}

QueuePlace queue_place(const Destination& to) {
    QueuePlace place;
    for (const std::string& node : to.nodes) {
        SshTarget target = parse_target(node);
        target.user.clear();
        place.hosts.push_back(target.text());
    }
    if (!to.slurm) return place;
    const std::string login = place.hosts.empty() ? "" : place.hosts.front() + ":";
    return {{}, login + to.slurm->value("partition").value_or("")};
}

QueuePlace queue_place(const RunDirectory& run) {
    try {
        return queue_place(destination_of(run));
    } catch (const Error&) {
        return {};
    }
}

fs::path queue_folder(const Places& places) {
    return places.runs_dir.parent_path();
}

Queue read_queue(const fs::path& folder) {
    const fs::path file = folder / "queue.json";
    std::error_code none;
    if (!fs::exists(file, none)) return {};
    try {
        return from_json(read_json_file(file));
    } catch (const json::exception&) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is not a queue of runs", file.string(),
                    "remove the file; the runs themselves stay, and can be added again");
    }
}

void change_queue(const fs::path& folder, const std::function<void(Queue&)>& change) {
    make_folder(folder);
    const FileLock alone(folder / "queue.lock");
    Queue queue = read_queue(folder);
    change(queue);
    write_file(folder / "queue.json", to_json(queue).dump(2) + "\n");
}

}  // namespace ringmaster
