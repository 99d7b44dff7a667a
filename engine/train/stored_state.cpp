#include "engine/train/stored_state.h"

#include <ATen/ATen.h>

#include "engine/model/host_arena.h"
#include "engine/train/state_codes.h"

namespace ringmaster {

StoredState::StoredState(const StateFormat& format, const CodeBook* book, const Where& where)
    : format_(format), book_(book), own_(where.own), device_(where.device) {
    const auto zeros = [&](int64_t count, at::ScalarType dtype) {
        return where.in_host_memory ? host_zeros({count}, dtype, where.pins_for)
                                    : at::zeros({count}, at::TensorOptions().dtype(dtype).device(device_));
    };
    if (!in_codes()) {
        stored_ = zeros(own_.size(), format.as_weights ? where.weights : at::kFloat);
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
    if (!in_codes()) return stored_.narrow(0, begin, count).to(device_, at::kFloat);
    return decode(*book_, codes_of(begin, count).to(device_), scales_of(begin, count).to(device_), count,
                  format_.block);
}

void StoredState::write(int64_t begin, const at::Tensor& values) {
    if (in_codes())
        return write_codes(begin, values, scales_from(*book_, largest_of_blocks(values, format_.block)));
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
    const at::Tensor here = places.to(stored_.device());
    if (!in_codes()) return stored_.index_select(0, here).to(device_, at::kFloat);
    return (numbers_of(*book_, single_codes(here)) * single_scales(here)).to(device_);
}

at::Tensor StoredState::roundings_at(const at::Tensor& places) const {
    const at::Tensor here = places.to(stored_.device());
    if (!in_codes()) return at::zeros({here.size(0)}, here.options().dtype(at::kFloat)).to(device_);
    return (gaps_of(*book_, single_codes(here)) * single_scales(here)).to(device_);
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
