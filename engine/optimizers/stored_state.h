/// Holds one state of this rank's part of a parameter: numbers, or codes with a scale per block of the
/// parameter's elements. Blocks have the same borders on every mesh. A block may therefore lie on several
/// ranks, and each of them holds its scale.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>

#include "engine/config/optimizers.h"
#include "engine/kernels/code_book.h"
#include "engine/model/parameters.h"
#include "engine/optimizers/disk_numbers.h"

namespace ringmaster {

class StoredState {
  public:
    struct Where {
        FlatRange own;           ///< range of the parameter's elements
        at::Device device;       ///< device that computes updates
        at::ScalarType weights;  ///< dtype of the weights
        bool in_host_memory = false;
        at::Device pins_for = at::kCPU;  ///< device to which host memory is copied; pinned if it is a GPU
        std::shared_ptr<DiskFile> disk;  ///< holds the numbers; null if the numbers are in memory
    };
    /// `book` is null if the format is numbers.
    StoredState(const StateFormat& format, const CodeBook* book, const Where& where);
    /// Makes a state that shares the memory of these numbers.
    explicit StoredState(const at::Tensor& numbers)
        : book_(nullptr), device_(numbers.device()), stored_(numbers) {}

    bool in_codes() const { return book_ != nullptr; }
    const CodeBook& book() const { return *book_; }
    int64_t block() const { return format_.block; }

    // These functions access this rank's elements [begin, begin + count), which begin at a block's start or
    // lie within one block.
    /// Returns float32 values on the device.
    at::Tensor read(int64_t begin, int64_t count) const;
    void write(int64_t begin, const at::Tensor& values);
    /// Writes part of a block. `largest`, [1] on the device, is the block's largest magnitude, from which its
    /// scale follows.
    void write_part(int64_t begin, const at::Tensor& values, const at::Tensor& largest);
    /// Returns single elements, as float32 on the device.
    at::Tensor values_at(const at::Tensor& places) const;
    /// Returns how far single elements may lie from the numbers that were written: the distance to the next
    /// code.
    at::Tensor roundings_at(const at::Tensor& places) const;

    /// For a state on a disk: `ahead` starts to read it, `leave` writes it back. The calls in between must
    /// access it in order.
    void ahead() const;
    void leave() const;

    /// Return the stored numbers or codes, and the scales (undefined without codes), on the storage device.
    /// For a state on a disk, stored() returns a copy.
    at::Tensor stored() const;
    at::Tensor& scales() { return scales_; }
    const at::Tensor& scales() const { return scales_; }
    at::ScalarType dtype() const { return disk_ ? disk_->dtype() : stored_.scalar_type(); }
    /// Replaces the stored numbers or codes.
    void restore(const at::Tensor& stored);
    int64_t first_block() const { return own_.begin / format_.block; }

  private:
    /// Returns single elements of a state that is not in codes.
    at::Tensor single_numbers(const at::Tensor& here) const;
    at::Tensor single_codes(const at::Tensor& here) const;
    at::Tensor single_scales(const at::Tensor& here) const;
    at::Tensor codes_of(int64_t begin, int64_t count) const;
    at::Tensor scales_of(int64_t begin, int64_t count) const;
    void write_codes(int64_t begin, const at::Tensor& values, const at::Tensor& scales);

    StateFormat format_;
    const CodeBook* book_;
    FlatRange own_;
    at::Device device_;
    at::Tensor stored_;  ///< undefined if the state is on a disk
    at::Tensor scales_;
    std::shared_ptr<DiskNumbers> disk_;
};

}  // namespace ringmaster
