// Fuzzes a rank's events, line by line: each event that is read is written again without loss.
#include "engine/events/event.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    std::string_view text(reinterpret_cast<const char*>(data), size);
    while (!text.empty()) {
        const size_t end = text.find('\n');
        const auto event = parse_event(text.substr(0, end));
        text = end == std::string_view::npos ? std::string_view() : text.substr(end + 1);
        if (!event) continue;
        const std::string written = to_json_line(*event);
        const auto again = parse_event(written);
        fuzz::require(again.has_value() && to_json_line(*again) == written);
    }
    return 0;
}
