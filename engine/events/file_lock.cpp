#include "engine/events/file_lock.h"

#include <fcntl.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <thread>

namespace ringmaster {

FileLock::FileLock(const std::filesystem::path& path, std::chrono::milliseconds patience, Mode mode) {
    constexpr auto kPause = std::chrono::milliseconds(50);
    std::error_code unknown;
    const bool is_folder = std::filesystem::is_directory(path, unknown);
    // Over NFS only a file that is open for writing can be locked. O_NONBLOCK keeps a named pipe from
    // blocking us.
    const int how = is_folder ? O_RDONLY | O_DIRECTORY : O_RDWR | O_CREAT | O_NONBLOCK;
    fd_ = ::open(path.c_str(), how | O_CLOEXEC, 0644);
    if (fd_ < 0) return;
    const auto end = std::chrono::steady_clock::now() + patience;
    const int operation = (mode == Mode::Alone ? LOCK_EX : LOCK_SH) | (patience == kForEver ? 0 : LOCK_NB);
    while (true) {
        is_held_ = ::flock(fd_, operation) == 0;
        if (!is_held_ && errno == EINTR) continue;
        is_held_by_another_ = !is_held_ && errno == EWOULDBLOCK;
        if (!is_held_by_another_ || std::chrono::steady_clock::now() >= end) return;
        std::this_thread::sleep_for(kPause);
    }
}

FileLock::~FileLock() {
    if (fd_ >= 0) ::close(fd_);
}

}  // namespace ringmaster
