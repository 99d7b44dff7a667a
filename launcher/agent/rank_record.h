/// What a rank left behind in one attempt: the end of its events and of its log.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/events/event.h"

namespace ringmaster {

/// Where an attempt begins in a rank's files, both append-only.
struct RankOffsets {
    int64_t events = 0;
    int64_t log = 0;
};
RankOffsets offsets_now(const std::filesystem::path& run_dir, int rank);

struct RankRecord {
    int64_t start_step = 0;                     ///< that the attempt began from, as `hello` says
    std::optional<int64_t> step;                ///< the last that it completed
    std::optional<CheckpointEvent> checkpoint;  ///< the last that it saved
    std::optional<DoneEvent> done;              ///< where that is its last event
    std::optional<ErrorEvent> error;            ///< the first
    double error_t = 0;                         ///< Unix seconds
    std::vector<std::string> last_log_lines;    ///< up to five, printable
};

/// Adds a line of the agent's to a rank's log, as the rank writes them itself; a log that cannot be written
/// goes without.
void append_to_log(const std::filesystem::path& run_dir, int rank, const std::string& text);

void note_event(RankRecord& record, const EventLine& line);
/// The last of a log's text: at most five lines of 300 bytes, without what a terminal would obey.
std::vector<std::string> last_log_lines(std::string_view text);

/// Files that are missing or damaged give what they can. Without `whole`, only the last mebibyte of the
/// events is read: enough for done and error.
RankRecord read_rank_record(const std::filesystem::path& run_dir, int rank, const RankOffsets& from,
                            bool whole);

}  // namespace ringmaster
