#include "engine/events/process_id.h"

#include <unistd.h>

#include <sstream>

#include "engine/files/text_file.h"

namespace ringmaster {

namespace {

std::string boot_id() {
    std::string id = readable_text("/proc/sys/kernel/random/boot_id");
    return id.substr(0, id.find('\n'));
}

/// Returns field 22 of /proc/<pid>/stat (proc(5)); nothing if the process does not exist or has ended.
std::optional<int64_t> start_time_of(int64_t pid) {
    constexpr int kFieldsBetween = 18;  // fields after the state (3) and before the start time
    const std::string stat = readable_text("/proc/" + std::to_string(pid) + "/stat");
    const size_t name_end = stat.rfind(')');  // the name may itself contain spaces and brackets
    if (name_end == std::string::npos) return std::nullopt;
    std::istringstream rest(stat.substr(name_end + 1));
    char state = 0;
    rest >> state;
    if (state == 'Z' || state == 'X' || state == 'x') return std::nullopt;
    std::string skipped;
    for (int i = 0; i < kFieldsBetween; ++i) rest >> skipped;
    int64_t start_time = 0;
    if (!(rest >> start_time)) return std::nullopt;
    return start_time;
}

}  // namespace

std::string this_host() {
    char host[256] = {};
    ::gethostname(host, sizeof host - 1);
    return host;
}

ProcessId this_process() {
    return find_process(::getpid()).value_or(ProcessId{this_host(), ::getpid(), 0, boot_id()});
}

std::optional<ProcessId> find_process(int64_t pid) {
    if (pid <= 0) return std::nullopt;
    const std::optional<int64_t> start_time = start_time_of(pid);
    if (!start_time) return std::nullopt;
    return ProcessId{this_host(), pid, *start_time, boot_id()};
}

bool is_alive(const ProcessId& process) {
    if (process.host != this_host()) return true;
    const std::optional<ProcessId> found = find_process(process.pid);
    return found && found->start_time == process.start_time && found->boot_id == process.boot_id;
}

}  // namespace ringmaster
