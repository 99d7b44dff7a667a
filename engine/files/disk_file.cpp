#include "engine/files/disk_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <new>
#include <utility>

#include "engine/error.h"

namespace ringmaster {

namespace {

/// Opens a file that has no name, or whose name is removed at once.
int open_without_name(const std::string& folder, int flags) {
    const int file = open(folder.c_str(), O_TMPFILE | O_RDWR | O_CLOEXEC | flags, 0600);
    if (file >= 0 || (errno != EOPNOTSUPP && errno != EISDIR)) return file;
    std::string name = folder + "/ringmaster-XXXXXX";
    const int named = mkostemp(name.data(), O_CLOEXEC | flags);
    if (named >= 0) unlink(name.c_str());
    return named;
}

}  // namespace

DiskBytes::DiskBytes(int64_t bytes)
    : data(static_cast<std::byte*>(std::aligned_alloc(kBlock, static_cast<size_t>(padded(bytes))))),
      size(padded(bytes)) {
    if (!data) throw std::bad_alloc();
}

DiskFile::DiskFile(const std::string& folder) : folder_(folder) {
    std::error_code ignored;  // the next call reports the error
    std::filesystem::create_directories(folder, ignored);
    file_ = open_without_name(folder, O_DIRECT);
    if (file_ < 0 && errno == EINVAL) file_ = open_without_name(folder, 0);
    if (file_ < 0) fail("cannot be written", errno);
    thread_ = std::thread([this] { work(); });
}

DiskFile::~DiskFile() {
    {
        const std::lock_guard lock(mutex_);
        ends_ = true;
    }
    changed_.notify_all();
    if (thread_.joinable()) thread_.join();
    close(file_);
}

int64_t DiskFile::reserve(int64_t bytes) {
    const int64_t begin = end_, size = DiskBytes::padded(bytes);
    const int problem = size == 0 ? 0 : posix_fallocate(file_, begin, size);
    if (problem != 0) fail("has no room for optimizer states", problem);
    end_ += size;
    return begin;
}

std::future<DiskBytes> DiskFile::read(int64_t begin, int64_t bytes) {
    const auto task = std::make_shared<std::packaged_task<DiskBytes()>>([this, begin, bytes] {
        DiskBytes read(bytes);
        transfer(false, read.data.get(), begin, read.size);
        return read;
    });
    add([task] { (*task)(); });
    return task->get_future();
}

void DiskFile::write(int64_t begin, std::shared_ptr<const DiskBytes> bytes) {
    {
        const std::lock_guard lock(mutex_);
        if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
    }
    add([this, begin, bytes = std::move(bytes)] {
        try {
            transfer(true, bytes->data.get(), begin, bytes->size);
        } catch (...) {
            const std::lock_guard lock(mutex_);
            if (!failure_) failure_ = std::current_exception();
        }
    });
}

void DiskFile::finish() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [this] { return tasks_.empty() && !busy_; });
    if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void DiskFile::add(std::function<void()> task) {
    {
        const std::lock_guard lock(mutex_);
        tasks_.push_back(std::move(task));
    }
    changed_.notify_all();
}

void DiskFile::work() {
    std::unique_lock lock(mutex_);
    for (;;) {
        changed_.wait(lock, [this] { return ends_ || !tasks_.empty(); });
        if (tasks_.empty()) return;
        const std::function<void()> task = std::exchange(tasks_.front(), nullptr);
        tasks_.pop_front();
        busy_ = true;
        lock.unlock();
        task();
        lock.lock();
        busy_ = false;
        changed_.notify_all();
    }
}

void DiskFile::transfer(bool writes, std::byte* memory, int64_t begin, int64_t bytes) const {
    for (int64_t done = 0; done < bytes;) {
        const auto left = static_cast<size_t>(bytes - done);
        const ssize_t moved = writes ? pwrite(file_, memory + done, left, begin + done)
                                     : pread(file_, memory + done, left, begin + done);
        if (moved < 0 && errno == EINTR) continue;
        if (moved <= 0) fail(writes ? "cannot be written" : "cannot be read", moved < 0 ? errno : EIO);
        done += moved;
    }
}

void DiskFile::fail(const char* what, int reason) const {
    const bool full = reason == ENOSPC || reason == EDQUOT;
    throw Error(Failure::Refused, Code(full ? "DISK-FULL" : "FILE-WRITE"),
                std::string(what) + ": " + std::strerror(reason), folder_);
}

}  // namespace ringmaster
