/// Counts the processes that the kernel has killed for lack of memory.
#pragma once

#include <cstdint>
#include <filesystem>

namespace ringmaster {

/// Returns how many processes the kernel has killed for memory so far in this process's control group or, if
/// that is unknown, on this machine; 0 if neither can be read. `root` holds /proc and /sys. Sources: field
/// oom_kill of cgroup-v2 "memory.events", cgroup-v1 "memory.oom_control" and /proc/vmstat.
int64_t memory_kills(const std::filesystem::path& root = "/");

}  // namespace ringmaster
