// Fuzzes run.json of a run directory or a node: each state that is read is written again without loss.
#include "engine/events/run_state.h"
#include "engine/error.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    try {
        const std::string text(fuzz::text_of(data, size));
        const std::string written = run_state_text(parse_run_state(text, "run.json"));
        fuzz::require(run_state_text(parse_run_state(written, "run.json")) == written);
    } catch (const Error&) {
        return 0;
    }
    return 0;
}
