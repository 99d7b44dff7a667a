// Fuzzes the parser of samples.jsonl lines: every parsed field stays within its limit.
#include "engine/events/limits.h"
#include "launcher/history/sample_file.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    const auto line = parse_sample(fuzz::text_of(data, size));
    if (!line) return 0;
    fuzz::require(line->step >= 0 && line->step <= limits::kSteps);
    fuzz::require(line->prompt >= 0 && line->prompt < SampleFile::kMostPrompts);
    fuzz::require(line->sample.prompt.size() <= SampleFile::kMostPrompt);
    fuzz::require(line->sample.text.size() <= SampleFile::kMostText);
    return 0;
}
