// Fuzzes the reader of configurations with all keys, and the planner, which plans the accepted configurations
// for eight GPUs.
#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "engine/plan/resolve/plan_json.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    const std::string_view text = fuzz::text_of(data, size);
    const ConfigReading reading = read_config_text(text, "/nonexistent/config.yaml");
    fuzz::require(reading.readable || has_error(reading.diagnostics));
    for (const Diagnostic& diagnostic : reading.diagnostics)
        fuzz::require(!diagnostic.code.empty() && !diagnostic.message.empty() && diagnostic.line >= 0);

    PlanRequest request;
    request.ranks = 8;
    request.device = Device::Cuda;
    request.device_memory_bytes = int64_t{80} << 30;
    const Plan plan = make_plan(reading, request);
    fuzz::require(!plan_to_json(plan).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace).empty());
    return 0;
}
