/// Names a process so that no later process can have the same name: by pid, start time, boot and
/// host.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringmaster {

struct ProcessId {
    std::string host;
    int64_t pid = 0;         ///< 0: no process
    int64_t start_time = 0;  ///< field 22 of /proc/<pid>/stat, in clock ticks since boot
    std::string boot_id;     ///< /proc/sys/kernel/random/boot_id
};

ProcessId this_process();  ///< returns the calling process
std::optional<ProcessId> find_process(
    int64_t pid);  ///< looks on this host; nothing if there is no such process or it has ended (a zombie)
/// Returns false if the pid is gone or is now another process. Returns true for a process of another host,
/// because this host cannot know.
bool is_alive(const ProcessId& process);
std::string this_host();

}  // namespace ringmaster
