#include "engine/files/durable.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "engine/error.h"

namespace ringmaster {

void throw_write_error(const std::filesystem::path& path) {
    int reason = errno;
    throw Error(
        Failure::Refused, Code(reason == ENOSPC || reason == EDQUOT ? "DISK-FULL" : "FILE-WRITE"),
        std::string("cannot be written: ") + std::strerror(reason), path.string(),
        reason == ENOSPC || reason == EDQUOT ? "free some space on that disk, then resume the run" : "");
}

void write_file_durably(const std::filesystem::path& path, std::string_view content) {
    std::filesystem::path aside = path;
    aside += ".tmp-" + std::to_string(::getpid());
    int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    if (file < 0) throw_write_error(aside);
    bool good = true;
    while (good && !content.empty()) {
        ssize_t written = ::write(file, content.data(), content.size());
        if (written < 0 && errno == EINTR) continue;
        good = written >= 0;
        if (good) content.remove_prefix(static_cast<size_t>(written));
    }
    good = good && ::fsync(file) == 0;
    int reason = errno;
    ::close(file);
    good = good && ::rename(aside.c_str(), path.c_str()) == 0;
    if (!good) {
        if (reason != 0) errno = reason;
        reason = errno;
        ::unlink(aside.c_str());
        errno = reason;
        throw_write_error(path);
    }
    sync_directory(path.parent_path());
}

void sync_directory(const std::filesystem::path& dir) {
    int folder = ::open(dir.empty() ? "." : dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) throw_write_error(dir);
    bool good = ::fsync(folder) == 0;
    int reason = errno;
    ::close(folder);
    errno = reason;
    if (!good && reason != EINVAL) throw_write_error(dir);  // EINVAL: a file system without it
}

}  // namespace ringmaster
