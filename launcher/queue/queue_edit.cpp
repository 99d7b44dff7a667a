#include "launcher/queue/queue_edit.h"

#include <algorithm>
#include <set>

#include "engine/error.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

using Place = std::vector<QueuedRun>::iterator;

Place place_in(Queue& queue, const RunDirectory& run) {
    const auto found = std::find_if(queue.runs.begin(), queue.runs.end(),
                                    [&](const QueuedRun& one) { return one.run.dir == run.dir; });
    if (found != queue.runs.end()) return found;
    throw Error(Failure::Usage, Code("ARGUMENT-VALUE"), "is not in the queue", run.name(),
                "`ringmaster queue` lists what is");
}

}  // namespace

std::vector<std::pair<QueuedRun, RunSummary>> queued_runs(const Queue& queue) {
    std::vector<std::pair<QueuedRun, RunSummary>> all;
    std::map<fs::path, std::vector<RunSummary>> known;  // ordered by run directory
    for (const QueuedRun& one : queue.runs) {
        const fs::path runs_dir = one.run.dir.parent_path();
        if (!known.contains(runs_dir)) known[runs_dir] = list_runs(runs_dir);
        for (const RunSummary& run : known[runs_dir]) {
            if (run.dir == one.run.dir) all.emplace_back(one, run);
        }
    }
    return all;
}

std::vector<std::string> swept_keys(const Queue& queue) {
    std::set<std::string> keys;
    for (const QueuedRun& one : queue.runs) {
        for (const auto& [key, value] : one.set) keys.insert(key);
    }
    return {keys.begin(), keys.end()};
}

void remove_from_queue(const fs::path& folder, const RunDirectory& run) {
    change_queue(folder, [&](Queue& queue) {
        const Place place = place_in(queue, run);
        if (queue_state(run) == QueueState::Active)
            throw Error(Failure::Refused, Code("RUN-ACTIVE"), "has been started", run.name(),
                        "`ringmaster stop " + run.name() + "` stops it");
        queue.runs.erase(place);
    });
}

void move_in_queue(const fs::path& folder, const RunDirectory& run, int64_t place) {
    change_queue(folder, [&](Queue& queue) {
        const Place at = place_in(queue, run);
        const QueuedRun moved = *at;
        queue.runs.erase(at);
        queue.runs.insert(queue.runs.begin() + std::clamp<int64_t>(place, 0, std::ssize(queue.runs)), moved);
    });
}

}  // namespace ringmaster
