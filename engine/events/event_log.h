/// Writes and follows events/rank-00000.jsonl. The writer appends and flushes a line an event; the reader
/// goes by byte offset, so that a lost connection or a reader started late loses nothing.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/events/event.h"

namespace ringmaster {

double unix_now();  ///< seconds, as `t` of an event

/// "rank-00003.jsonl"
std::string event_file_name(int rank);
/// "rank-00003.log"
std::string log_file_name(int rank);

class EventWriter {
  public:
    /// Opens for appending, making the folder; throws Error(Refused) naming the file and why (a full disk,
    /// say). A half-written last line of an earlier attempt is closed with a newline first.
    EventWriter(const std::filesystem::path& events_dir, int rank);
    EventWriter(const EventWriter&) = delete;
    EventWriter& operator=(const EventWriter&) = delete;
    ~EventWriter();

    /// Appended by one write(2), so that a reader or a second writer never sees lines mixed; throws
    /// Error(Refused).
    void write(const Event& event);

  private:
    void append(const std::string& text);

    std::filesystem::path file_;
    int rank_;
    int out_ = -1;
    bool torn_ = false;  ///< the file ends in half a line
};

class EventReader {
  public:
    explicit EventReader(std::filesystem::path file, int64_t offset = 0)
        : file_(std::move(file)), offset_(offset) {}

    /// The events of whole lines that came since the last call; none where there are no more, the file is
    /// missing or is no regular file. `max_bytes` bounds one read (64 KiB at least), thereby what comes at
    /// once; a longer line is skipped, as is one that is no event. A file that is now shorter than the offset
    /// was made anew and is read from its beginning.
    std::vector<EventLine> poll(int64_t max_bytes = 8 << 20);
    int64_t offset() const { return offset_; }

  private:
    std::filesystem::path file_;
    int64_t offset_;
};

}  // namespace ringmaster
