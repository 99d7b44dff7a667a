#include "launcher/nodes/record_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <utility>

#include "engine/error.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kDiskLeftFree = 64 << 20;  ///< bytes always left free, however much a node sends

class Opened {
  public:
    explicit Opened(int descriptor) : descriptor_(descriptor) {}
    Opened(Opened&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
    Opened& operator=(Opened&& other) noexcept {
        std::swap(descriptor_, other.descriptor_);
        return *this;
    }
    ~Opened() {
        if (descriptor_ >= 0) ::close(descriptor_);
    }
    int get() const { return descriptor_; }

  private:
    int descriptor_;
};

[[noreturn]] void refuse(const fs::path& file, int problem) {
    throw Error(Failure::Refused, Code("FILE-WRITE"),
                problem == ELOOP || problem == ENOTDIR
                    ? "is a link or no file, and nothing of a node is written there"
                    : std::string("cannot be written: ") + std::strerror(problem),
                file.string(), problem == ENOSPC ? "make room" : "");
}

/// Opens a file below the folder, one component of its path after the other. The descriptor is negative if
/// the file does not exist.
Opened open_below(const fs::path& run_dir, const std::string& name, bool make) {
    const fs::path relative(name);
    Opened at(::open(run_dir.c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
    if (at.get() < 0) refuse(run_dir, errno);
    for (const fs::path& part : relative.parent_path()) {
        if (make && ::mkdirat(at.get(), part.c_str(), 0755) != 0 && errno != EEXIST)
            refuse(run_dir / name, errno);
        Opened next(::openat(at.get(), part.c_str(), O_PATH | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC));
        if (next.get() < 0 && (make || errno != ENOENT)) refuse(run_dir / name, errno);
        if (next.get() < 0) return next;
        at = std::move(next);
    }
    const int flags = O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC | (make ? O_WRONLY | O_APPEND | O_CREAT : O_RDONLY);
    Opened file(::openat(at.get(), relative.filename().c_str(), flags, 0644));
    if (file.get() < 0 && (make || errno != ENOENT)) refuse(run_dir / name, errno);
    return file;
}

int64_t size_of(const Opened& file, const fs::path& path) {
    struct stat about {};
    if (::fstat(file.get(), &about) != 0) refuse(path, errno);
    if (!S_ISREG(about.st_mode)) refuse(path, ELOOP);
    return about.st_size;
}

void leave_room(const Opened& file, const fs::path& path, size_t bytes) {
    struct statvfs disk {};
    if (::fstatvfs(file.get(), &disk) != 0) return;
    const auto free = static_cast<int64_t>(disk.f_bavail) * static_cast<int64_t>(disk.f_frsize);
    if (free - static_cast<int64_t>(bytes) < kDiskLeftFree) refuse(path, ENOSPC);
}

}  // namespace

int64_t record_bytes(const fs::path& run_dir, const std::string& name) {
    const Opened file = open_below(run_dir, name, false);
    return file.get() < 0 ? 0 : size_of(file, run_dir / name);
}

void append_record(const fs::path& run_dir, const std::string& name, int64_t offset, std::string_view bytes) {
    const fs::path path = run_dir / name;
    const Opened file = open_below(run_dir, name, true);
    if (const int64_t size = size_of(file, path); size != offset)
        throw Error(Failure::Refused, Code("FILE-WRITE"),
                    "has " + std::to_string(size) + " bytes and is not added to at " + std::to_string(offset),
                    path.string());
    leave_room(file, path, bytes.size());
    while (!bytes.empty()) {
        const ssize_t put = ::write(file.get(), bytes.data(), bytes.size());
        if (put < 0 && errno == EINTR) continue;
        if (put <= 0) refuse(path, put < 0 ? errno : ENOSPC);
        bytes.remove_prefix(static_cast<size_t>(put));
    }
}

}  // namespace ringmaster
