/// A process by a name that no later process can have: its pid together with when it started, since which
/// boot, where.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace ringmaster {

struct ProcessId {
    std::string host;
    int64_t pid = 0;         ///< 0: none
    int64_t start_time = 0;  ///< field 22 of /proc/<pid>/stat, in clock ticks since boot
    std::string boot_id;     ///< /proc/sys/kernel/random/boot_id
};

ProcessId this_process();
std::optional<ProcessId> find_process(
    int64_t pid);  ///< of this host; empty: there is none, or it has ended (a zombie)
/// False where the pid is gone or is another process now; true for a process of another host (it cannot be
/// known).
bool is_alive(const ProcessId& process);
std::string this_host();

}  // namespace ringmaster
