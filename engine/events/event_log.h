/// Writes and follows events/rank-00000.jsonl. The writer appends and flushes one line per event; the reader
/// keeps a byte offset, so that nothing is lost if it starts late or loses its connection.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "engine/events/event.h"

namespace ringmaster {

double unix_now();  ///< Unix seconds, as `t` of an event

/// Returns a name such as "rank-00003.jsonl".
std::string event_file_name(int rank);
/// Returns a name such as "rank-00003.log".
std::string log_file_name(int rank);

class EventWriter {
  public:
    /// Makes the folder and opens the file for appending. Throws Error(Refused) with the file and the reason
    /// (a full disk, for example). The first write ends a half-written last line of an earlier attempt.
    EventWriter(const std::filesystem::path& events_dir, int rank);
    EventWriter(const EventWriter&) = delete;
    EventWriter& operator=(const EventWriter&) = delete;
    ~EventWriter();

    /// Appends with one write(2), so that lines of two writers never mix and readers never see half a line.
    /// Throws Error(Refused).
    void write(const Event& event);

  private:
    void append(const std::string& text);

    std::filesystem::path file_;
    int rank_;
    int out_ = -1;
    bool torn_ = false;  ///< true if the file ends in half a line
};

class EventReader {
  public:
    explicit EventReader(std::filesystem::path file, int64_t offset = 0)
        : file_(std::move(file)), offset_(offset) {}

    /// Returns the events in whole lines since the last call: none if there are no new lines or the file is
    /// missing or not a regular file. `max_bytes` (at least 64 KiB) limits one read and so the number of
    /// events. Skips lines that are too long and lines that are not events. If the file is now shorter than
    /// the offset, it was replaced, and the reader starts at its beginning.
    std::vector<EventLine> poll(int64_t max_bytes = 8 << 20);

    /// Passes the same events to `visit` one by one, so that they are never all in memory.
    void poll(int64_t max_bytes, const std::function<void(EventLine&)>& visit);
    int64_t offset() const { return offset_; }

  private:
    std::filesystem::path file_;
    int64_t offset_;
};

}  // namespace ringmaster
