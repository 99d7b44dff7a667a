#include "launcher/run/recorded_run.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "launcher/base/bounded_file.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

std::set<int> ranks_with_events(const RunDirectory& run) {
    std::set<int> ranks;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(run.events(), none)) {
        const std::string name = entry.path().filename().string();
        int rank = -1;
        const size_t digits = name.find_first_of("0123456789");
        if (digits == std::string::npos) continue;
        std::from_chars(name.data() + digits, name.data() + name.size(), rank);
        if (rank >= 0 && name == event_file_name(rank)) ranks.insert(rank);
    }
    return ranks;
}

using Other = std::function<void(const EventLine&)>;
using Place = std::pair<int64_t, int>;  // step, rank

/// Returns the first `most` events after `after`, in the order of step and rank.
template <class E>
std::map<Place, Timed<E>> next_events(const RunDirectory& run, const std::vector<int>& ranks,
                                      const std::optional<Place>& after, size_t most, const Other& other) {
    std::map<Place, Timed<E>> held;
    for (const int rank : ranks) {
        EventReader reader(run.events() / event_file_name(rank));
        for (auto lines = reader.poll(); !lines.empty(); lines = reader.poll()) {
            for (const EventLine& line : lines) {
                const auto* event = std::get_if<E>(&line.event);
                if (event == nullptr && other && !after) other(line);
                if (event == nullptr) continue;
                const Place place{event->step, rank};
                if (after && place <= *after) continue;
                if (held.size() == most && place > held.rbegin()->first) continue;
                held.insert_or_assign(place, Timed<E>{line.t, *event});
                if (held.size() > most) held.erase(std::prev(held.end()));
            }
        }
    }
    return held;
}

template <class E, class Visit>
void for_each_event(const RunDirectory& run, const std::vector<int>& ranks, size_t most, const Visit& visit,
                    const Other& other = {}) {
    std::optional<Place> last;
    for (bool more = true; more;) {
        const auto held = next_events<E>(run, ranks, last, most, other);
        for (const auto& [place, event] : held) visit(place.second, event);
        more = held.size() == most;
        if (more) last = held.rbegin()->first;
    }
}

std::vector<StepEvent> steps_of(const std::vector<EventLine>& events) {
    std::vector<StepEvent> steps;
    for (const EventLine& line : events) {
        if (const auto* step = std::get_if<StepEvent>(&line.event)) steps.push_back(*step);
    }
    return steps;
}

}  // namespace

bool completes_run(const Event& event) {
    const auto* done = std::get_if<DoneEvent>(&event);
    return done != nullptr && done->state == to_string(RunPhase::Completed);
}

void take_event(RunSummary& summary, const Event& event) {
    summary.is_done = completes_run(event);
    if (const auto* step = std::get_if<StepEvent>(&event)) {
        summary.step = step->step;
        summary.loss = step->loss;
    }
}

std::vector<EventLine> events_in(const fs::path& file, int64_t offset, int64_t bytes) {
    std::vector<EventLine> events;
    const std::string part = read_part(file, offset, bytes).value_or("");
    size_t begin = offset > 0 ? part.find('\n') + 1 : 0;  // npos + 1 is 0, if the part has no newline
    for (size_t end; (end = part.find('\n', begin)) != std::string::npos; begin = end + 1) {
        if (auto event = parse_event(std::string_view(part).substr(begin, end - begin)))
            events.push_back(std::move(*event));
    }
    return events;
}

std::vector<StepEvent> steps_in(const fs::path& file, int64_t offset, int64_t bytes) {
    return steps_of(events_in(file, offset, bytes));
}

std::vector<EventLine> last_events(const RunDirectory& run, int rank, int64_t bytes) {
    const fs::path file = run.events() / event_file_name(rank);
    return events_in(file, std::max<int64_t>(0, stamp_of(file).bytes - bytes), bytes);
}

std::vector<StepEvent> last_steps(const RunDirectory& run, int rank, int64_t bytes) {
    return steps_of(last_events(run, rank, bytes));
}

std::vector<int> recorded_ranks(const RunDirectory& run) {
    const std::set<int> ranks = ranks_with_events(run);
    if (ranks.empty())
        throw Error(Failure::Refused, Code("RUN-NOT-STARTED"), "has no events yet: nothing to export",
                    run.name());
    return {ranks.begin(), ranks.end()};
}

void for_each_step(const RunDirectory& run, const std::vector<int>& ranks,
                   const std::function<void(int, const Timed<StepEvent>&)>& visit, size_t most_held,
                   const Other& other) {
    for_each_event<StepEvent>(run, ranks, most_held, visit, other);
}

void for_each_evaluation(const RunDirectory& run, int rank,
                         const std::function<void(const Timed<EvalEvent>&)>& visit, size_t most_held) {
    for_each_event<EvalEvent>(run, {rank}, most_held,
                              [&](int, const Timed<EvalEvent>& evaluation) { visit(evaluation); });
}

}  // namespace ringmaster
