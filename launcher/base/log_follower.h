/// Follows a rank's log.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ringmaster {

/// Reads the complete lines added to a text file (a rank's log) since the last call, each cut to 8 KiB.
class LogFollower {
  public:
    explicit LogFollower(std::filesystem::path file, int64_t offset = 0)
        : file_(std::move(file)), offset_(offset) {}
    std::vector<std::string> poll(int64_t max_bytes = 1 << 20);

  private:
    std::filesystem::path file_;
    int64_t offset_;
};

}  // namespace ringmaster
