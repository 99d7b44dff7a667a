// Fuzzes a model's config.json: its parameters, and the plan of a run with it.
#include "engine/error.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    static const ConfigReading reading = read_config_text(
        "base_model: someone/model\ndatasets: [{path: a/b, type: alpaca}]\noutput_dir: out\nsequence_len: "
        "65536\n"
        "learning_rate: 1e-4\ncontext_parallel_size: 4\nbf16: true\nfsdp_config: {reshard_after_forward: "
        "true}\n",
        "/nonexistent/config.yaml");
    static const fuzz::InputFolder folder;
    folder.write("config.json", fuzz::text_of(data, size));
    PlanRequest request;
    request.ranks = 8;
    request.device_memory_bytes = int64_t{80} << 30;
    try {
        request.known_model = read_model_config(folder.path().string());
    } catch (const Error&) {
        return 0;
    }
    fuzz::require(parameter_count(*request.known_model) > 0);
    make_plan(reading, request);
    return 0;
}
