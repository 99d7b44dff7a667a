#include "engine/optimizers/stored_state.h"

#include <ATen/ATen.h>

#include "engine/model/host_arena.h"
#include "engine/optimizers/state_codes.h"

namespace ringmaster {

StoredState::StoredState(const StateFormat& format, const CodeBook* book, const Where& where)
    : format_(format), book_(book), own_(where.own), device_(where.device) {
    const auto zeros = [&](int64_t count, at::ScalarType dtype) {
        return where.in_host_memory ? host_zeros({count}, dtype, where.pins_for)
                                    : at::zeros({count}, at::TensorOptions().dtype(dtype).device(device_));
    };
    if (!in_codes()) {
        const at::ScalarType dtype = format.as_weights ? where.weights : at::kFloat;
        if (where.disk)
            disk_ = std::make_shared<DiskNumbers>(where.disk, own_.size(), dtype);
        else
            stored_ = zeros(own_.size(), dtype);
        return;
    }
    stored_ = zeros(book->bytes_of(own_.size()), at::kByte);
    scales_ = zeros((own_.end + format.block - 1) / format.block - first_block(), at::kFloat);
}

at::Tensor StoredState::codes_of(int64_t begin, int64_t count) const {
    return stored_.narrow(0, book_->bytes_of(begin), book_->bytes_of(count));
}

at::Tensor StoredState::scales_of(int64_t begin, int64_t count) const {
    const int64_t first = (own_.begin + begin) / format_.block;
    const int64_t end = (own_.begin + begin + count + format_.block - 1) / format_.block;
    return scales_.narrow(0, first - first_block(), end - first);
}

at::Tensor StoredState::read(int64_t begin, int64_t count) const {
    if (!in_codes())
        return (disk_ ? disk_->read(begin, count) : stored_.narrow(0, begin, count)).to(device_, at::kFloat);
    return decode(*book_, codes_of(begin, count).to(device_), scales_of(begin, count).to(device_), count,
                  format_.block);
}

void StoredState::write(int64_t begin, const at::Tensor& values) {
    if (in_codes())
        return write_codes(begin, values, scales_from(*book_, largest_of_blocks(values, format_.block)));
    if (disk_) return disk_->write(begin, values);
    const at::Tensor into = stored_.narrow(0, begin, values.size(0));
    if (!into.is_set_to(values)) into.copy_(values);
}

void StoredState::write_part(int64_t begin, const at::Tensor& values, const at::Tensor& largest) {
    write_codes(begin, values, scales_from(*book_, largest));
}

void StoredState::write_codes(int64_t begin, const at::Tensor& values, const at::Tensor& scales) {
    codes_of(begin, values.size(0)).copy_(encode(*book_, values, scales, format_.block));
    scales_of(begin, values.size(0)).copy_(scales);
}

at::Tensor StoredState::values_at(const at::Tensor& places) const {
    if (!in_codes()) return single_numbers(places).to(device_, at::kFloat);
    const at::Tensor here = places.to(stored_.device());
    return (numbers_of(*book_, single_codes(here)) * single_scales(here)).to(device_);
}

at::Tensor StoredState::roundings_at(const at::Tensor& places) const {
    if (!in_codes()) return at::zeros({places.size(0)}, places.options().dtype(at::kFloat)).to(device_);
    const at::Tensor here = places.to(stored_.device());
    return (gaps_of(*book_, single_codes(here)) * single_scales(here)).to(device_);
}

void StoredState::ahead() const {
    if (disk_) disk_->ahead();
}

void StoredState::leave() const {
    if (disk_) disk_->leave();
}

at::Tensor StoredState::stored() const {
    if (!disk_) return stored_;
    at::Tensor all = disk_->read(0, disk_->count()).clone();
    disk_->leave();
    return all;
}

void StoredState::restore(const at::Tensor& stored) {
    if (!disk_) return (void)stored_.copy_(stored);
    disk_->write(0, stored);
    disk_->leave();
}

at::Tensor StoredState::single_numbers(const at::Tensor& here) const {
    if (!disk_) return stored_.index_select(0, here.to(stored_.device()));
    std::vector<at::Tensor> numbers = {at::empty({0}, at::TensorOptions().dtype(disk_->dtype()))};
    const at::Tensor places = here.cpu();
    for (int64_t i = 0; i < places.size(0); ++i)
        numbers.push_back(disk_->read(places[i].item<int64_t>(), 1).clone());
    disk_->leave();
    return at::cat(numbers);
}

at::Tensor StoredState::single_codes(const at::Tensor& here) const {
    if (book_->bits == 8) return stored_.index_select(0, here);
    const at::Tensor pairs = stored_.index_select(0, here.bitwise_right_shift(1));
    return at::where(here.bitwise_and(1) == 1, pairs.bitwise_and(15), pairs.bitwise_right_shift(4));
}

at::Tensor StoredState::single_scales(const at::Tensor& here) const {
    return scales_.index_select(0, (here + own_.begin).floor_divide(format_.block) - first_block());
}

}  // namespace ringmaster
