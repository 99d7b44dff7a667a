#include "engine/files/durable.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <future>
#include <vector>

#include "engine/error.h"
#include "engine/files/crc32c.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr size_t kMostAtOnce = 1 << 30;    ///< bytes per write(2), which accepts less than 2 GiB
constexpr size_t kWorthAThread = 1 << 20;  ///< bytes whose checksum takes longer than starting a thread

constexpr const char* kPartial = ".partial";
constexpr const char* kFormer = ".former";
constexpr const char* kRemoved = ".removed";

[[noreturn]] void fail(const fs::path& path, int reason) {
    errno = reason;
    throw_write_error(path);
}

/// Opens a temporary file next to `target`. Pid and counter distinguish processes and threads, O_EXCL
/// distinguishes machines that share the disk.
int open_aside(const fs::path& target, mode_t mode, fs::path& aside) {
    static std::atomic<uint64_t> count{0};
    while (true) {
        aside = target;
        aside += ".tmp-" + std::to_string(::getpid()) + "-" + std::to_string(count++);
        const int file = ::open(aside.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);
        if (file >= 0) return file;
        if (errno != EEXIST) throw_write_error(target);
    }
}

fs::path hidden(const fs::path& target, const char* ending) {
    return target.parent_path() / ("." + target.filename().string() + ending);
}

bool is_there(const fs::path& path) {
    struct stat about {};
    return ::lstat(path.c_str(), &about) == 0;
}

void rename_or_throw(const fs::path& from, const fs::path& to) {
    if (::rename(from.c_str(), to.c_str()) != 0) throw_write_error(to);
}

void delete_folder(const fs::path& folder) {
    std::error_code stays;  // ignored, because restore_folders tries to delete the folder again
    fs::remove_all(folder, stays);
}

}  // namespace

void throw_write_error(const fs::path& path) {
    const int reason = errno;
    throw Error(
        Failure::Refused, Code(reason == ENOSPC || reason == EDQUOT ? "DISK-FULL" : "FILE-WRITE"),
        std::string("cannot be written: ") + std::strerror(reason), path.string(),
        reason == ENOSPC || reason == EDQUOT ? "free some space on that disk, then resume the run" : "");
}

DurableFile::DurableFile(const fs::path& target, mode_t mode) : target_(target) {
    struct stat former {};
    const bool replaces = ::lstat(target_.c_str(), &former) == 0 && !S_ISLNK(former.st_mode);
    if (replaces && S_ISDIR(former.st_mode)) fail(target_, EISDIR);
    if (replaces && !S_ISREG(former.st_mode))  // never replaces a device or a pipe, for example
        throw Error(Failure::Refused, Code("FILE-WRITE"), "cannot be written: it is not a regular file",
                    target_.string());
    file_ = open_aside(target_, mode, aside_);
    if (replaces) ::fchmod(file_, former.st_mode & 07777);
    written_.name = target_.filename().string();
}

DurableFile::~DurableFile() {
    if (file_ < 0) return;
    ::close(file_);
    ::unlink(aside_.c_str());
}

/// Writes bytes. For a large block, another thread computes the checksum while the system copies the bytes.
void DurableFile::write(const void* bytes, size_t count) {
    const auto sum = [before = written_.crc32c, bytes, count] { return crc32c(before, bytes, count); };
    constexpr auto kAsync =
        std::launch::async | std::launch::deferred;  // runs in this thread if no other can be started
    auto later = std::async(count < kWorthAThread ? std::launch::deferred : kAsync, sum);
    const char* from = static_cast<const char*>(bytes);
    for (size_t left = count; left > 0;) {
        const ssize_t put = ::write(file_, from, std::min(left, kMostAtOnce));
        if (put < 0 && errno == EINTR) continue;
        if (put < 0) throw_write_error(target_);
        from += put;
        left -= static_cast<size_t>(put);
    }
    written_.crc32c = later.get();
    written_.bytes += static_cast<int64_t>(count);
}

WrittenFile DurableFile::appear() {
    if (::fsync(file_) != 0) throw_write_error(target_);
    if (::rename(aside_.c_str(), target_.c_str()) != 0) throw_write_error(target_);
    ::close(file_);
    file_ = -1;
    sync_directory(target_.parent_path());
    return written_;
}

WrittenFile write_file_durably(const fs::path& path, std::string_view content, mode_t mode) {
    DurableFile file(path, mode);
    file.write(content.data(), content.size());
    return file.appear();
}

FolderAside::FolderAside(fs::path target) : target_(std::move(target)), aside_(hidden(target_, kPartial)) {
    std::error_code problem;
    fs::remove_all(aside_, problem);
    if (!problem) fs::create_directories(aside_, problem);
    if (problem) fail(aside_, problem.value());
}

FolderAside::~FolderAside() {
    delete_folder(aside_);
}

void FolderAside::appear() {
    sync_directory(aside_);
    const fs::path former = hidden(target_, kFormer);
    const bool replaces = is_there(target_);
    if (replaces) {
        delete_folder(former);
        rename_or_throw(target_, former);
    }
    if (::rename(aside_.c_str(), target_.c_str()) != 0) {
        const int reason = errno;
        if (replaces) ::rename(former.c_str(), target_.c_str());
        fail(target_, reason);
    }
    sync_directory(target_.parent_path());
    delete_folder(former);
}

void rename_durably(const fs::path& from, const fs::path& to) {
    rename_or_throw(from, to);
    sync_directory(to.parent_path());
}

void remove_durably(const fs::path& file) {
    if (::unlink(file.c_str()) == 0)
        sync_directory(file.parent_path());
    else if (errno != ENOENT)
        throw_write_error(file);
}

void remove_folder(const fs::path& folder) {
    const fs::path removed = hidden(folder, kRemoved);
    delete_folder(removed);
    if (::rename(folder.c_str(), removed.c_str()) == 0) delete_folder(removed);
}

void restore_folders(const fs::path& parent) {
    std::error_code none;
    std::vector<fs::path> found;
    for (const fs::directory_entry& entry : fs::directory_iterator(parent, none))
        found.push_back(entry.path());
    for (const fs::path& path : found) {
        const std::string name = path.filename().string();
        if (!name.starts_with(".")) continue;
        const fs::path target = parent / path.stem().string().substr(1);
        if (path.extension() == kFormer && !is_there(target))
            rename_durably(path, target);
        else if (path.extension() == kFormer || path.extension() == kPartial || path.extension() == kRemoved)
            delete_folder(path);
    }
}

void sync_directory(const fs::path& dir) {
    const int folder = ::open(dir.empty() ? "." : dir.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
    if (folder < 0) throw_write_error(dir);
    const int reason = ::fsync(folder) == 0 ? 0 : errno;
    ::close(folder);
    if (reason != 0 && reason != EINVAL) fail(dir, reason);  // EINVAL: unsupported by this file system
}

}  // namespace ringmaster
