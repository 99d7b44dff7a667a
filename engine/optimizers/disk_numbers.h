/// Keeps numbers on a disk, and only a few stretches of them in memory. Access the numbers in order: while
/// one stretch is in use, the next stretch is read and the previous stretch is written.
#pragma once

#include <ATen/core/Tensor.h>

#include <future>
#include <memory>
#include <optional>

#include "engine/config/offloading.h"
#include "engine/files/disk_file.h"

namespace ringmaster {

class DiskNumbers {
  public:
    /// Reserves room for `count` numbers of `dtype`, all zero. Throws Error(Refused) if the disk has no room.
    DiskNumbers(std::shared_ptr<DiskFile> file, int64_t count, at::ScalarType dtype);

    at::ScalarType dtype() const { return dtype_; }
    int64_t count() const { return count_; }

    /// Returns numbers [begin, begin + count), on the CPU.
    at::Tensor read(int64_t begin, int64_t count);
    void write(int64_t begin, const at::Tensor& values);
    /// Starts reading the first stretch.
    void ahead();
    /// Starts to write the changed numbers, and keeps none in memory.
    void leave();

    static constexpr int64_t kAtOnce = kDiskStretch;  ///< numbers in a stretch

  private:
    /// Holds a stretch in memory, or the transfer that is still reading it.
    struct Stretch {
        int64_t index = -1;
        std::future<DiskBytes> coming;
        std::shared_ptr<DiskBytes> bytes;
        bool changed = false;
    };
    Stretch start(int64_t index);
    /// Returns the numbers of a stretch, which becomes the stretch in use.
    at::Tensor present(int64_t index);
    int64_t bytes_at(int64_t index) const { return index * kAtOnce * each_; }

    std::shared_ptr<DiskFile> file_;
    int64_t count_, each_, begin_;
    at::ScalarType dtype_;
    Stretch present_, next_;
};

}  // namespace ringmaster
