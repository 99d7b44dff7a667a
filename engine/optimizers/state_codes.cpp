#include "engine/optimizers/state_codes.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <map>
#include <mutex>

#include "engine/kernels/block_optimizer.h"

namespace ringmaster {

namespace {

constexpr int64_t kBlocksAThread = 64;

/// Holds the tables of a code book on a device; they are copied there once.
struct DeviceBook {
    at::Tensor values, table, next_from;
};

const DeviceBook& on_device(const CodeBook& book, at::Device device) {
    static std::mutex mutex;
    static std::map<std::pair<const CodeBook*, int>, DeviceBook> books;
    const std::lock_guard lock(mutex);
    DeviceBook& there = books[{&book, device.is_cpu() ? -1 : device.index()}];
    if (!there.values.defined()) {
        const auto copied = [&](const void* from, int64_t count, at::ScalarType dtype) {
            return at::from_blob(const_cast<void*>(from), {count}, at::TensorOptions().dtype(dtype))
                .clone()
                .to(device);
        };
        const int64_t codes = int64_t{1} << book.bits;
        there.values = copied(book.values.data(), codes, at::kFloat);
        there.table = copied(book.table.data(), static_cast<int64_t>(book.table.size()), at::kByte);
        there.next_from = copied(book.next_from.data(), codes - 1, at::kFloat);
    }
    return there;
}

/// Returns the scale of every element.
at::Tensor spread(const at::Tensor& scales, int64_t count, int64_t block) {
    if (scales.size(0) == 1) return scales.expand({count});
    return scales.unsqueeze(1).expand({scales.size(0), block}).reshape({-1}).narrow(0, 0, count);
}

at::Tensor unpacked(const CodeBook& book, const at::Tensor& codes, int64_t count) {
    if (book.bits == 8) return codes;
    return at::stack({codes.bitwise_right_shift(4), codes.bitwise_and(15)}, 1)
        .reshape({-1})
        .narrow(0, 0, count);
}

at::Tensor packed(const CodeBook& book, at::Tensor codes) {
    if (book.bits == 8) return codes;
    if (codes.size(0) % 2 == 1) codes = at::constant_pad_nd(codes, {0, 1});
    const at::Tensor pairs = codes.view({-1, 2});
    return pairs.select(1, 0).bitwise_left_shift(4).bitwise_or(pairs.select(1, 1));
}

at::Tensor binned(const CodeBook& book, const at::Tensor& values, const at::Tensor& scales) {
    const at::Tensor scaled = (values * scales.reciprocal()).nan_to_num(-1, 1, -1).clamp(-1, 1);
    const at::Tensor bins = ((scaled + 1) * 0.5 * 65535 + 0.5).to(at::kLong);
    return at::where(scales == 0, at::zeros({}, values.options().dtype(at::kByte)),
                     on_device(book, values.device()).table.index({bins}));
}

at::Tensor nearest(const CodeBook& book, const at::Tensor& values, const at::Tensor& scales) {
    return at::bucketize(values / scales, on_device(book, values.device()).next_from, true, true)
        .to(at::kByte);
}

/// Calls `work(block, begin, count)` for each block, on several threads.
template <typename Work>
void each_block(int64_t count, int64_t block, const Work& work) {
    at::parallel_for(0, (count + block - 1) / block, kBlocksAThread, [&](int64_t first, int64_t last) {
        for (int64_t b = first; b < last; ++b) work(b, b * block, std::min(block, count - b * block));
    });
}

}  // namespace

at::Tensor decode(const CodeBook& book, const at::Tensor& codes, const at::Tensor& scales, int64_t count,
                  int64_t block) {
    if (!codes.is_cpu()) return numbers_of(book, unpacked(book, codes, count)) * spread(scales, count, block);
    at::Tensor values = at::empty({count}, at::kFloat);
    const uint8_t* from = codes.const_data_ptr<uint8_t>();
    const float* scale = scales.const_data_ptr<float>();
    float* to = values.data_ptr<float>();
    each_block(count, block, [&](int64_t b, int64_t begin, int64_t elements) {
        block_optimizer().decode(book, from + book.bytes_of(begin), scale[b], to + begin, elements);
    });
    return values;
}

at::Tensor encode(const CodeBook& book, const at::Tensor& values, const at::Tensor& scales, int64_t block) {
    const int64_t count = values.size(0);
    if (!values.is_cpu()) {
        const at::Tensor each = spread(scales, count, block);
        const bool bins = book.search == CodeBook::Search::Binned;
        return packed(book, bins ? binned(book, values, each) : nearest(book, values, each));
    }
    at::Tensor codes = at::empty({book.bytes_of(count)}, at::kByte);
    const float *from = values.const_data_ptr<float>(), *scale = scales.const_data_ptr<float>();
    uint8_t* to = codes.data_ptr<uint8_t>();
    each_block(count, block, [&](int64_t b, int64_t begin, int64_t elements) {
        block_optimizer().encode(book, from + begin, scale[b], to + book.bytes_of(begin), elements);
    });
    return codes;
}

at::Tensor largest_of_blocks(const at::Tensor& values, int64_t block) {
    const int64_t count = values.size(0), blocks = (count + block - 1) / block;
    const at::Tensor whole =
        blocks * block == count ? values : at::constant_pad_nd(values, {0, blocks * block - count});
    return whole.view({blocks, block}).abs().amax(1);
}

at::Tensor scales_from(const CodeBook& book, const at::Tensor& largest) {
    return book.search == CodeBook::Search::Nearest ? largest.clamp_min(1e-12) : largest;
}

at::Tensor numbers_of(const CodeBook& book, const at::Tensor& codes) {
    return on_device(book, codes.device()).values.index({codes.to(at::kLong)});
}

at::Tensor gaps_of(const CodeBook& book, const at::Tensor& codes) {
    const int64_t last = (int64_t{1} << book.bits) - 1;
    const at::Tensor of = codes.to(at::kLong), numbers = numbers_of(book, of);
    const at::Tensor above = numbers_of(book, (of + 1).clamp_max(last)) - numbers;
    const at::Tensor below = numbers - numbers_of(book, (of - 1).clamp_min(0));
    const double bin = book.search == CodeBook::Search::Binned ? 2.0 / 65535 : 0;
    return at::maximum(above, below) + bin;
}

}  // namespace ringmaster
