// Fuzzes the reader of accelerate's files: reads the input as an accelerate file for a configuration, and as
// a configuration itself.
#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/make_plan.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    static const fuzz::InputFile file;
    file.hold(data, size);
    ReadOptions options;
    options.accelerate_file = file.path();
    const std::string config =
        "base_model: NousResearch/Llama-3.2-1B\ndatasets: [{path: a/b, type: alpaca}]\noutput_dir: out\n"
        "sequence_len: 8192\nlearning_rate: 1e-4\ncontext_parallel_size: 2\n";
    const ConfigReading beside = read_config_text(config, "/nonexistent/config.yaml", options);
    fuzz::require(beside.readable || has_error(beside.diagnostics));

    const std::string_view text = fuzz::text_of(data, size);
    const ConfigReading alone = read_config_text(text, "/nonexistent/accelerate.yaml");
    fuzz::require(alone.readable || has_error(alone.diagnostics));
    PlanRequest request;
    request.device_memory_bytes = int64_t{80} << 30;
    make_plan(beside, request);
    make_plan(alone, request);
    return 0;
}
