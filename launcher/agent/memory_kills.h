/// Whether the kernel's out-of-memory killer was at work.
#pragma once

#include <cstdint>
#include <filesystem>

namespace ringmaster {

/// How many processes it has killed in this process's control group so far; where that cannot be told, on
/// this machine. `root` is where /proc and /sys are found. Sources: cgroup-v2 "memory.events", cgroup-v1
/// "memory.oom_control", /proc/vmstat, each its field oom_kill. 0 where none can be read.
int64_t memory_kills(const std::filesystem::path& root = "/");

}  // namespace ringmaster
