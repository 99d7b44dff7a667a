#include "launcher/agent/memory_kills.h"

#include <fstream>
#include <optional>
#include <string>

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

/// Returns oom_kill from a file of "name number" lines.
std::optional<int64_t> oom_kill_in(const fs::path& file) {
    std::ifstream in(file);
    std::string name;
    for (int64_t number = 0; in >> name >> number;) {
        if (name == "oom_kill") return number;
    }
    return std::nullopt;
}

/// Returns oom_kill of this process's control group, which it finds in the lines "0::/path" (version 2) and
/// "5:memory:/path" (version 1) of /proc/self/cgroup.
std::optional<int64_t> oom_kill_in_group(const fs::path& root) {
    std::ifstream in(root / "proc/self/cgroup");
    for (std::string line; std::getline(in, line);) {
        const size_t kind_at = line.find(':') + 1;
        const size_t path_at = line.find(":/", kind_at) + 1;
        if (kind_at == 0 || path_at == 0) continue;
        const std::string kind = line.substr(kind_at, path_at - 1 - kind_at);
        const fs::path group = fs::path(line.substr(path_at)).relative_path();
        std::optional<int64_t> kills;
        if (kind.empty()) kills = oom_kill_in(root / "sys/fs/cgroup" / group / "memory.events");
        if (kind == "memory")
            kills = oom_kill_in(root / "sys/fs/cgroup/memory" / group / "memory.oom_control");
        if (kills) return kills;
    }
    return std::nullopt;
}

}  // namespace

int64_t memory_kills(const fs::path& root) {
    if (const auto kills = oom_kill_in_group(root)) return *kills;
    return oom_kill_in(root / "proc/vmstat").value_or(0);
}

}  // namespace ringmaster
