/// Writes and follows events/rank-00000.jsonl. The writer appends and flushes a line an event; the reader goes by byte
/// offset, so that a lost connection or a reader started late loses nothing.
#pragma once

#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <vector>

#include "engine/events/event.h"

namespace ringmaster {

/// "rank-00003.jsonl"
std::string event_file_name(int rank);
/// "rank-00003.log"
std::string log_file_name(int rank);

class EventWriter {
  public:
    /// Opens for appending, making the folder; throws Error(Refused) naming the file and why (a full disk, say).
    /// A half-written last line of an earlier attempt is closed with a newline first.
    EventWriter(const std::filesystem::path& events_dir, int rank);
    void write(const Event& event);  ///< appended and flushed; throws Error(Refused)

  private:
    std::filesystem::path file_;
    int rank_;
    std::unique_ptr<FILE, int (*)(FILE*)> out_;
};

class EventReader {
  public:
    explicit EventReader(std::filesystem::path file, int64_t offset = 0) : file_(std::move(file)), offset_(offset) {}
    /// Whole lines that came since the last call, at most `max_bytes` of them; a missing file gives none.
    std::vector<EventLine> poll(int64_t max_bytes = 8 << 20);
    int64_t offset() const { return offset_; }

  private:
    std::filesystem::path file_;
    int64_t offset_;
};

}  // namespace ringmaster
