#include "engine/events/event_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <string_view>

#include "engine/error.h"
#include "engine/files/durable.h"
#include "engine/files/read_at.h"

namespace ringmaster {

namespace {

constexpr int64_t kLeastRead = 64 << 10;
/// Bytes read at once: more than the longest line, but few enough for a CPU's cache.
constexpr int64_t kPart = 96 << 10;

std::string numbered(int rank, const char* ending) {
    std::string digits = std::to_string(rank);
    return "rank-" + std::string(digits.size() < 5 ? 5 - digits.size() : 0, '0') + digits + ending;
}

/// Returns the file's size, or -1 if it is not a regular file.
int64_t regular_size(int file) {
    struct stat about {};
    return ::fstat(file, &about) == 0 && S_ISREG(about.st_mode) ? about.st_size : -1;
}

/// Calls `visit` with each event in the text. Returns true if there was one.
bool visit_lines(std::string_view text, const std::function<void(EventLine&)>& visit) {
    bool found = false;
    while (!text.empty()) {
        const size_t length = text.find('\n');
        if (std::optional<EventLine> event = parse_event(text.substr(0, length))) {
            visit(*event);
            found = true;
        }
        text.remove_prefix(length + 1);
    }
    return found;
}

}  // namespace

double unix_now() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return static_cast<double>(now.tv_sec) + 1e-9 * static_cast<double>(now.tv_nsec);
}

std::string event_file_name(int rank) {
    return numbered(rank, ".jsonl");
}
std::string log_file_name(int rank) {
    return numbered(rank, ".log");
}

EventWriter::EventWriter(const std::filesystem::path& events_dir, int rank)
    : file_(events_dir / event_file_name(rank)), rank_(rank) {
    std::error_code problem;
    std::filesystem::create_directories(events_dir, problem);
    if (problem)
        throw Error(Failure::Refused, Code("FILE-WRITE"), "cannot be made: " + problem.message(),
                    events_dir.string());
    // Without O_NONBLOCK a named pipe at this path would block the rank forever.
    out_ = ::open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC | O_NONBLOCK, 0644);
    if (out_ < 0) throw_write_error(file_);
    const int64_t size = regular_size(out_);
    if (size < 0) {
        ::close(out_);
        throw Error(Failure::Refused, Code("FILE-WRITE"), "is not a regular file", file_.string());
    }
    torn_ = size > 0 && read_at(out_, size - 1, 1) != "\n";
}

EventWriter::~EventWriter() {
    ::close(out_);
}

void EventWriter::write(const Event& event) {
    append((torn_ ? "\n" : "") + to_json_line({unix_now(), rank_, event}) + "\n");
}

void EventWriter::append(const std::string& text) {
    ssize_t written = -1;
    do {
        written = ::write(out_, text.data(), text.size());
    } while (written < 0 && errno == EINTR);
    if (written == static_cast<ssize_t>(text.size())) {
        torn_ = false;
        return;
    }
    if (written >= 0) {
        torn_ = torn_ || written > 0;
        errno = ENOSPC;  // write(2) writes less to a regular file only if the disk is full
    }
    throw_write_error(file_);
}

std::vector<EventLine> EventReader::poll(int64_t max_bytes) {
    std::vector<EventLine> events;
    poll(max_bytes, [&](EventLine& event) { events.push_back(std::move(event)); });
    return events;
}

void EventReader::poll(int64_t max_bytes, const std::function<void(EventLine&)>& visit) {
    const int file = ::open(file_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK);
    if (file < 0) return;
    const int64_t size = regular_size(file);
    if (size >= 0 && size < offset_) offset_ = 0;
    const int64_t bound = std::max(max_bytes, kLeastRead);
    const int64_t part = std::min(bound, kPart);
    bool found = false;
    for (int64_t read = 0; offset_ < size && (!found || read + part <= bound);) {
        const std::string text = read_at(file, offset_, std::min(part, size - offset_));
        const size_t whole = text.rfind('\n') + 1;  // 0 if there is no newline
        found = visit_lines(std::string_view(text).substr(0, whole), visit) || found;
        const bool too_long = whole == 0 && static_cast<int64_t>(text.size()) == part;
        if (whole == 0 && !too_long) break;
        const auto taken = static_cast<int64_t>(too_long ? text.size() : whole);
        offset_ += taken;
        read += taken;
    }
    ::close(file);
}

}  // namespace ringmaster
