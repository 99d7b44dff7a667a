/// Keeps bytes on a disk in a file without a name, which is gone when the process ends. If the file system
/// supports O_DIRECT, transfers bypass the page cache and take no memory of the node. One thread performs
/// them in the order of the requests.
#pragma once

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <deque>
#include <functional>
#include <future>
#include <memory>
#include <mutex>
#include <string>
#include <thread>

namespace ringmaster {

/// Owns memory with the alignment that direct transfers need; its size is a multiple of kBlock bytes.
struct DiskBytes {
    static constexpr int64_t kBlock = 4096;
    static int64_t padded(int64_t bytes) { return (bytes + kBlock - 1) / kBlock * kBlock; }

    explicit DiskBytes(int64_t bytes);
    struct Free {
        void operator()(std::byte* memory) const { std::free(memory); }
    };
    std::unique_ptr<std::byte, Free> data;
    int64_t size = 0;  ///< size of the memory in bytes
};

class DiskFile {
  public:
    /// Creates `folder` and the file in it. Throws Error(Refused).
    explicit DiskFile(const std::string& folder);
    ~DiskFile();
    DiskFile(const DiskFile&) = delete;
    DiskFile& operator=(const DiskFile&) = delete;

    /// Reserves zeros and returns where they begin, a multiple of kBlock. Throws Error(Refused) if the disk
    /// has no room.
    int64_t reserve(int64_t bytes);

    /// Start a transfer of whole blocks; `begin` is a multiple of kBlock. The future's get(), the next write
    /// or finish() throws Error(Refused) if this transfer or an earlier one failed.
    std::future<DiskBytes> read(int64_t begin, int64_t bytes);
    void write(int64_t begin, std::shared_ptr<const DiskBytes> bytes);
    /// Waits for all transfers.
    void finish();

  private:
    void work();
    void add(std::function<void()> task);
    void transfer(bool writes, std::byte* memory, int64_t begin, int64_t bytes) const;
    [[noreturn]] void fail(const char* what, int reason) const;

    std::string folder_;
    int file_ = -1;
    int64_t end_ = 0;
    std::mutex mutex_;
    std::condition_variable changed_;
    std::deque<std::function<void()>> tasks_;
    bool busy_ = false, ends_ = false;
    std::exception_ptr failure_;  ///< error of a write, kept until it is thrown
    std::thread thread_;
};

}  // namespace ringmaster
