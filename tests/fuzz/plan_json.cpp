// Fuzzes a run's plan.json: each plan that is read is written again without loss.
#include "engine/plan/resolve/plan_json.h"
#include "engine/error.h"
#include "engine/plan/plan.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    static const fuzz::InputFile file;
    file.hold(data, size);
    try {
        const nlohmann::json written = plan_to_json(read_plan(file.path()));
        fuzz::require(plan_to_json(plan_from_json(written)) == written);
    } catch (const Error&) {
        return 0;
    }
    return 0;
}
