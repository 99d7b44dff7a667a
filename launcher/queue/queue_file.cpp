#include "launcher/queue/queue_file.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/events/file_lock.h"
#include "launcher/base/files.h"

namespace ringmaster {

namespace fs = std::filesystem;
using nlohmann::json;

namespace {

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

}  // namespace

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
