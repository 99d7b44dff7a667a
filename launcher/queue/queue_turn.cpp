#include "launcher/queue/queue_turn.h"

#include <algorithm>
#include <set>

#include "engine/error.h"
#include "engine/plan/plan.h"
#include "engine/plan/resolve/plan_json.h"

namespace ringmaster {

namespace {

bool needs_gpus(const RunDirectory& run) {
    try {
        return read_plan(run.plan().string()).device == Device::Cuda;
    } catch (const Error&) {
        return false;
    }
}

/// Counts the devices that are taken at each place, by active runs and by earlier runs that wait there.
class Devices {
  public:
    explicit Devices(const Queue& queue) : queue_(queue) {}

    void take(const RunDirectory& run, const QueuePlace& place) {
        if (place.partition) {
            ++jobs_[*place.partition];
        } else if (place.hosts.empty()) {
            ++here_;
            gpus_here_ = gpus_here_ || needs_gpus(run);
        } else {
            hosts_.insert(place.hosts.begin(), place.hosts.end());
        }
    }

    /// Lets no later run of the queue start at the place.
    void reserve(const QueuePlace& place) {
        if (place.partition) {
            reserved_.insert(*place.partition);
        } else if (place.hosts.empty()) {
            is_here_reserved_ = true;
        } else {
            hosts_.insert(place.hosts.begin(), place.hosts.end());
        }
    }

    bool are_free(const RunDirectory& run, const QueuePlace& place) {
        if (place.partition) {
            const auto slots = queue_.partition_slots.find(*place.partition);
            return !reserved_.contains(*place.partition) &&
                   (slots == queue_.partition_slots.end() || jobs_[*place.partition] < slots->second);
        }
        if (place.hosts.empty())
            return !is_here_reserved_ && here_ < queue_.slots &&
                   (here_ == 0 || !(gpus_here_ || needs_gpus(run)));
        return std::none_of(place.hosts.begin(), place.hosts.end(),
                            [&](const std::string& host) { return hosts_.contains(host); });
    }

  private:
    const Queue& queue_;
    int here_ = 0;
    bool gpus_here_ = false, is_here_reserved_ = false;
    std::map<std::string, int> jobs_;
    std::set<std::string> reserved_, hosts_;
};

}  // namespace

Turn turn_of(const Queue& queue, const std::function<bool(const RunDirectory&)>& is_postponed) {
    struct Candidate {
        RunDirectory run;
        QueueState state;
        QueuePlace place;
    };
    Turn turn;
    Devices devices(queue);
    std::vector<Candidate> candidates;
    turn.is_done = true;
    for (const QueuedRun& one : queue.runs) {
        const QueueState state = queue_state(one.run);
        if (state == QueueState::Over) continue;
        turn.is_done = false;
        const QueuePlace place = queue_place(one.run);
        if (state != QueueState::Active) {
            candidates.push_back({one.run, state, place});
            continue;
        }
        devices.take(one.run, place);
        if (place.is_asked()) turn.active_elsewhere.push_back(one.run);
    }
    for (const Candidate& one : candidates) {
        if (!(is_postponed && is_postponed(one.run)) && devices.are_free(one.run, one.place)) {
            turn.next = one.run;
            turn.state = one.state;
            break;
        }
        devices.reserve(one.place);
    }
    return turn;
}

}  // namespace ringmaster
