#include "engine/optimizers/disk_numbers.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <utility>

namespace ringmaster {

DiskNumbers::DiskNumbers(std::shared_ptr<DiskFile> file, int64_t count, at::ScalarType dtype)
    : file_(std::move(file)),
      count_(count),
      each_(static_cast<int64_t>(c10::elementSize(dtype))),
      begin_(file_->reserve(count * each_)),
      dtype_(dtype) {}

DiskNumbers::Stretch DiskNumbers::start(int64_t index) {
    const int64_t numbers = std::min(kAtOnce, count_ - index * kAtOnce);
    return {index, file_->read(begin_ + bytes_at(index), DiskBytes::padded(numbers * each_)), nullptr, false};
}

at::Tensor DiskNumbers::present(int64_t index) {
    if (present_.index != index) {
        Stretch wanted = next_.index == index ? std::move(next_) : Stretch{};
        leave();
        present_ = wanted.index == index ? std::move(wanted) : start(index);
        if ((index + 1) * kAtOnce < count_) next_ = start(index + 1);
    }
    if (!present_.bytes) present_.bytes = std::make_shared<DiskBytes>(present_.coming.get());
    const int64_t numbers = std::min(kAtOnce, count_ - index * kAtOnce);
    return at::from_blob(
        present_.bytes->data.get(), {numbers}, [held = present_.bytes](void*) {},
        at::TensorOptions().dtype(dtype_));
}

at::Tensor DiskNumbers::read(int64_t begin, int64_t count) {
    const int64_t first = begin / kAtOnce;
    if (count > 0 && (begin + count - 1) / kAtOnce == first)
        return present(first).narrow(0, begin - first * kAtOnce, count);
    at::Tensor numbers = at::empty({count}, at::TensorOptions().dtype(dtype_));
    for (int64_t done = 0; done < count;) {
        const int64_t index = (begin + done) / kAtOnce, at = (begin + done) % kAtOnce;
        const int64_t here = std::min(count - done, kAtOnce - at);
        numbers.narrow(0, done, here).copy_(present(index).narrow(0, at, here));
        done += here;
    }
    return numbers;
}

void DiskNumbers::write(int64_t begin, const at::Tensor& values) {
    for (int64_t done = 0; done < values.size(0);) {
        const int64_t index = (begin + done) / kAtOnce, at = (begin + done) % kAtOnce;
        const int64_t here = std::min(values.size(0) - done, kAtOnce - at);
        at::Tensor into = present(index).narrow(0, at, here);
        const at::Tensor from = values.narrow(0, done, here);
        if (into.const_data_ptr() != from.const_data_ptr()) into.copy_(from);
        present_.changed = true;
        done += here;
    }
}

void DiskNumbers::ahead() {
    if (count_ > 0 && present_.index < 0 && next_.index < 0) next_ = start(0);
}

void DiskNumbers::leave() {
    if (present_.changed) file_->write(begin_ + bytes_at(present_.index), present_.bytes);
    present_ = {};
    next_ = {};
}

}  // namespace ringmaster
