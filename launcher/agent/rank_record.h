/// Reads what one attempt of a rank left behind: the end of its events and of its log.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "engine/events/event.h"

namespace ringmaster {

/// Says at which offsets an attempt begins in a rank's files, which are append-only.
struct RankOffsets {
    int64_t events = 0;
    int64_t log = 0;
};
RankOffsets offsets_now(const std::filesystem::path& run_dir, int rank);

struct RankRecord {
    /// step from which the attempt began, read from its `hello` event
    int64_t start_step = 0;
    std::optional<int64_t> step;                ///< last step that the rank completed
    std::optional<CheckpointEvent> checkpoint;  ///< last checkpoint that the rank saved
    std::optional<DoneEvent> done;              ///< set if `done` is the last event, apart from warnings
    std::optional<ErrorEvent> error;            ///< first error
    double error_t = 0;                         ///< time of the error, Unix seconds
    std::vector<std::string> last_log_lines;    ///< up to five lines, printable
};

/// Appends a message of the agent to a rank's log, in the format of the rank's lines; does nothing if the log
/// cannot be written.
void append_to_log(const std::filesystem::path& run_dir, int rank, const std::string& text);

void note_event(RankRecord& record, const EventLine& line);
/// Returns the last lines of a log's text: at most five of 300 bytes, without control characters.
std::vector<std::string> last_log_lines(std::string_view text);

/// Reads a rank's record from its files; a member stays unset if its data is missing or damaged. Without
/// `whole`, reads only the last MiB of the events, which is enough for `done` and `error`.
RankRecord read_rank_record(const std::filesystem::path& run_dir, int rank, const RankOffsets& from,
                            bool whole);

}  // namespace ringmaster
