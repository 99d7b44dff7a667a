// Fuzzes the lines in which an authenticated agent reports its node and how its ranks ended. Each line that
// is accepted is written again without loss.
#include "launcher/agent/agent_lines.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    const std::string_view text = fuzz::text_of(data, size);
    if (const auto ends = rank_ends_from_line(text)) {
        const std::string written = rank_ends_to_line(*ends);
        const auto again = rank_ends_from_line(written);
        fuzz::require(again && rank_ends_to_line(*again) == written);
    }
    if (const auto node = node_from_line(text)) {
        const std::string written = node_to_line(*node);
        const auto again = node_from_line(written);
        fuzz::require(again && node_to_line(*again) == written);
    }
    return 0;
}
