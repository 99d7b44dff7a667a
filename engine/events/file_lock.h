/// Locks a file or folder between processes (flock) until the object is destroyed. On a file system without
/// locks, the object holds no lock.
#pragma once

#include <chrono>
#include <filesystem>

namespace ringmaster {

class FileLock {
  public:
    /// WithOthers: several processes may hold the lock; Alone: only one may.
    enum class Mode { Alone, WithOthers };

    /// Waits for the lock, at most `patience`. Creates the file, empty, if it is missing.
    explicit FileLock(const std::filesystem::path& path, std::chrono::milliseconds patience = kForEver,
                      Mode mode = Mode::Alone);
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

    static constexpr std::chrono::milliseconds kForEver{-1};

    bool is_held() const { return is_held_; }
    bool is_held_by_another() const { return is_held_by_another_; }
    int descriptor() const { return fd_; }  ///< -1 if the file can neither be opened nor created

  private:
    int fd_ = -1;
    bool is_held_ = false, is_held_by_another_ = false;
};

}  // namespace ringmaster
