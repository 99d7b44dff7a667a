/// A lock of a file or folder between processes (flock), held until this is destroyed. A file system without
/// locks goes without.
#pragma once

#include <chrono>
#include <filesystem>

namespace ringmaster {

class FileLock {
  public:
    enum class Mode { Alone, WithOthers };  ///< several may hold it WithOthers, while nobody holds it Alone

    /// Waits until it can be had, `patience` at most. A file that is missing is made, empty.
    explicit FileLock(const std::filesystem::path& path, std::chrono::milliseconds patience = kForEver,
                      Mode mode = Mode::Alone);
    FileLock(const FileLock&) = delete;
    FileLock& operator=(const FileLock&) = delete;
    ~FileLock();

    static constexpr std::chrono::milliseconds kForEver{-1};

    bool is_held() const { return is_held_; }
    bool is_held_by_another() const { return is_held_by_another_; }
    int descriptor() const { return fd_; }  ///< -1: the file can be neither opened nor made

  private:
    int fd_ = -1;
    bool is_held_ = false, is_held_by_another_ = false;
};

}  // namespace ringmaster
