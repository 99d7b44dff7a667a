// Fuzzes a rank's events and log: the record built from them fits into the line that the rank's agent sends.
#include "launcher/agent/rank_record.h"

#include "launcher/agent/agent_lines.h"
#include "tests/fuzz/input_file.h"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
    using namespace ringmaster;
    const std::string_view text = fuzz::text_of(data, size);
    RankEnd end;
    for (std::string_view rest = text; !rest.empty();) {
        const size_t at = rest.find('\n');
        if (const auto event = parse_event(rest.substr(0, at))) note_event(end.record, *event);
        rest = at == std::string_view::npos ? std::string_view() : rest.substr(at + 1);
    }
    end.record.last_log_lines = last_log_lines(text);
    fuzz::require(end.record.last_log_lines.size() <= 5);
    const std::string line = rank_ends_to_line({end});
    fuzz::require(line.size() < (64 << 10));
    const auto read = rank_ends_from_line(line);
    fuzz::require(read && read->size() == 1);
    return 0;
}
