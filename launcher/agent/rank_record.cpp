#include "launcher/agent/rank_record.h"

#include <fcntl.h>

#include <algorithm>
#include <cstdio>
#include <ctime>
#include <fstream>

#include "engine/control_characters.h"
#include "engine/events/event_log.h"
#include "launcher/agent/descriptor.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

fs::path events_of(const fs::path& run_dir, int rank) {
    return run_dir / "events" / event_file_name(rank);
}
fs::path log_of(const fs::path& run_dir, int rank) {
    return run_dir / "logs" / log_file_name(rank);
}

int64_t size_of(const fs::path& file) {
    std::error_code unknown;
    if (!fs::is_regular_file(file, unknown)) return 0;
    const auto size = fs::file_size(file, unknown);
    return unknown ? 0 : static_cast<int64_t>(size);
}

/// Returns a line without control characters, which a terminal could obey; cuts long lines.
std::string printable(std::string line) {
    constexpr size_t kLongest = 300;
    if (line.size() > kLongest) line = line.substr(0, kLongest) + "…";
    return without_controls(std::move(line));
}

/// Returns the end of a log, from offset `from` on.
std::string end_of_file(const fs::path& file, int64_t from) {
    constexpr int64_t kEnough = 64 << 10;
    const int64_t size = size_of(file);
    from = std::max(from, size - kEnough);
    if (size <= from) return {};
    std::string text(static_cast<size_t>(size - from), '\0');
    std::ifstream in(file);
    in.seekg(from);
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(in.gcount()));
    return text;
}

}  // namespace

RankOffsets offsets_now(const fs::path& run_dir, int rank) {
    return {size_of(events_of(run_dir, rank)), size_of(log_of(run_dir, rank))};
}

void append_to_log(const fs::path& run_dir, int rank, const std::string& text) {
    char time[16];
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    std::strftime(time, sizeof time, "%H:%M:%S", localtime_r(&now, &parts));
    const Descriptor log(::open(log_of(run_dir, rank).c_str(), O_WRONLY | O_APPEND | O_CLOEXEC));
    if (log.get() >= 0) ::dprintf(log.get(), "%s agent: %s\n", time, text.c_str());
}

void note_event(RankRecord& record, const EventLine& line) {
    // Trackers write their warnings into rank 0's file too, even after the rank has ended.
    if (std::holds_alternative<WarningEvent>(line.event)) return;
    record.done.reset();
    if (const auto* hello = std::get_if<HelloEvent>(&line.event)) record.start_step = hello->start_step;
    if (const auto* step = std::get_if<StepEvent>(&line.event)) record.step = step->step;
    if (const auto* checkpoint = std::get_if<CheckpointEvent>(&line.event)) record.checkpoint = *checkpoint;
    if (const auto* done = std::get_if<DoneEvent>(&line.event)) record.done = *done;
    if (const auto* error = std::get_if<ErrorEvent>(&line.event); error != nullptr && !record.error) {
        record.error = *error;
        record.error_t = line.t;
    }
}

std::vector<std::string> last_log_lines(std::string_view text) {
    constexpr size_t kLines = 5;
    std::vector<std::string> lines;
    while (lines.size() < kLines && !text.empty()) {
        const size_t start = text.find_last_of("\n\r") + 1;  // 0 if there is no line break
        if (start < text.size()) lines.insert(lines.begin(), printable(std::string(text.substr(start))));
        text = text.substr(0, start == 0 ? 0 : start - 1);
    }
    return lines;
}

RankRecord read_rank_record(const fs::path& run_dir, int rank, const RankOffsets& from, bool whole) {
    constexpr int64_t kEnough = 1 << 20;
    const fs::path file = events_of(run_dir, rank);
    RankRecord record;
    EventReader reader(file, whole ? from.events : std::max(from.events, size_of(file) - kEnough));
    for (auto lines = reader.poll(); !lines.empty(); lines = reader.poll()) {
        for (const EventLine& line : lines) note_event(record, line);
    }
    record.last_log_lines = last_log_lines(end_of_file(log_of(run_dir, rank), from.log));
    return record;
}

}  // namespace ringmaster
