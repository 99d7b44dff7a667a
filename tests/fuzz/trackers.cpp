// Fuzzes an agent's report of its trackers: at most 16 are accepted, each with short printable texts and a
// sender.
#include "engine/config/document.h"
#include "launcher/run/tracking.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    const TrackerStates states = parse_tracker_states(std::string(fuzz::text_of(data, size)));
    fuzz::require(states.size() <= 16);
    for (const auto& [name, state] : states) {
        fuzz::require(name.size() <= 1024 && state.problem.size() <= 1024);
        fuzz::require(printable(state.remedy) == state.remedy);
        for (const TrackerState& here : {TrackerState{}, TrackerState{"ready", true, "", ""}}) {
            const std::string sender = sender_of(state, here);
            fuzz::require(sender == "node" || sender == "launcher");
            fuzz::require(state.state != "ready" || here.state == "ready" || sender == "node");
        }
        fuzz::require(!tracker_finding(name, state).message.empty());
    }
    return 0;
}
