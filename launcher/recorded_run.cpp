#include "launcher/recorded_run.h"

#include <charconv>
#include <set>

#include "engine/error.h"
#include "engine/events/event_log.h"

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

}  // namespace

RecordedRun read_recorded_run(const RunDirectory& run) {
    RecordedRun recorded;
    for (int rank : ranks_with_events(run)) {
        RecordedRank& record = recorded.ranks.emplace_back();
        record.rank = rank;
        EventReader reader(run.events() / event_file_name(rank));
        for (auto lines = reader.poll(); !lines.empty(); lines = reader.poll()) {
            for (const EventLine& line : lines) {
                if (const auto* step = std::get_if<StepEvent>(&line.event))
                    record.steps[step->step] = {line.t, *step};
                if (const auto* eval = std::get_if<EvalEvent>(&line.event))
                    recorded.evaluations[eval->step] = {line.t, *eval};
            }
        }
    }
    if (recorded.ranks.empty())
        throw Error(Failure::Refused, Code("RUN-NOT-STARTED"), "has no events yet: nothing to export", run.name());
    return recorded;
}

}  // namespace ringmaster
