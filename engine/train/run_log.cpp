#include "engine/train/run_log.h"

#include <cstdio>
#include <ctime>

#include "engine/events/log_text.h"
#include "engine/files/durable.h"

namespace ringmaster {

namespace {

FILE* log_file = nullptr;  // closed when the process ends

void print(FILE* to, const char* time, const std::string& text) {
    std::fprintf(to, "%s %s\n", time, text.c_str());
    std::fflush(to);
}

}  // namespace

void open_log_file(const std::filesystem::path& file) {
    log_file = std::fopen(file.c_str(), "ae");
    if (log_file == nullptr) throw_write_error(file);
}

void log_line(const std::string& text) {
    char time[16];
    const std::time_t now = std::time(nullptr);
    std::tm parts{};
    std::strftime(time, sizeof time, "%H:%M:%S", localtime_r(&now, &parts));
    print(stdout, time, text);
    if (log_file != nullptr) print(log_file, time, text);
}

void log_event(EventWriter& events, const Event& event) {
    events.write(event);
    log_line(log_text(event));
}

}  // namespace ringmaster
