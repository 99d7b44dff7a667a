#include "engine/model/dropout.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <vector>

namespace ringmaster {

namespace {

constexpr int64_t kRowsPerTask = 16;
constexpr int64_t kRowsAtOnce = 512;  // a limit, because hashes take 8 bytes per element
constexpr int64_t kLow32 = 0xffffffff;
constexpr int64_t kFirst = 0x7feb352d, kSecond = 0x846ca68b;

/// Maps 32 bits to 32 bits, one to one and without visible bias (Wellons 2018, "lowbias32").
uint32_t scrambled(uint32_t x) {
    x = (x ^ (x >> 16)) * uint32_t{kFirst};
    x = (x ^ (x >> 15)) * uint32_t{kSecond};
    return x ^ (x >> 16);
}

/// Computes scrambled() for int64 values below 2^32: products wrap, but their low 32 bits are correct.
at::Tensor scrambled(at::Tensor x) {
    const auto folded = [](const at::Tensor& y, int64_t by) {
        return y.bitwise_xor(at::bitwise_right_shift(y, by));
    };
    x = (folded(x, 16) * kFirst).bitwise_and(kLow32);
    x = (folded(x, 15) * kSecond).bitwise_and(kLow32);
    return folded(x, 16);
}

std::vector<uint32_t> column_keys(int64_t width, uint64_t stream) {
    const auto first = static_cast<uint32_t>(mixed(stream));
    std::vector<uint32_t> keys(static_cast<size_t>(width));
    for (size_t w = 0; w < keys.size(); ++w) keys[w] = scrambled(first + static_cast<uint32_t>(w));
    return keys;
}

/// Returns the bound below which an element's hash means that the element is dropped.
uint32_t threshold_of(double p) {
    return static_cast<uint32_t>(p * 4294967296.0);
}

float gain_of(double p) {
    return static_cast<float>(1 / (1 - p));
}

/// Sets each element of y to of(x, hash of the element).
template <typename T, typename Of>
void map_rows(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, at::Tensor y_nw,
              const Of& of) {
    const std::vector<uint32_t> columns = column_keys(x_nw.size(1), stream);
    const auto* first_keys = keys_2n.const_data_ptr<int64_t>();
    const int64_t* second_keys = first_keys + keys_2n.stride(0);
    const auto* x = x_nw.const_data_ptr<T>();
    auto* y = y_nw.mutable_data_ptr<T>();
    const int64_t x_stride = x_nw.stride(0), y_stride = y_nw.stride(0);
    at::parallel_for(0, x_nw.size(0), kRowsPerTask, [&](int64_t begin, int64_t end) {
        for (int64_t n = begin; n < end; ++n) {
            const auto first = static_cast<uint32_t>(first_keys[n]);
            const auto second = static_cast<uint32_t>(second_keys[n]);
            const T* from = x + n * x_stride;
            T* to = y + n * y_stride;
            for (size_t w = 0; w < columns.size(); ++w) {
                const uint32_t hash = scrambled(scrambled(columns[w] ^ first) ^ second);
                to[w] = static_cast<T>(of(static_cast<float>(from[w]), hash));
            }
        }
    });
}

template <typename Of>
void map_elements(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, const at::Tensor& y_nw,
                  const Of& of) {
    if (x_nw.scalar_type() == at::kBFloat16) {
        map_rows<at::BFloat16>(x_nw, keys_2n, stream, y_nw, of);
    } else if (x_nw.scalar_type() == at::kHalf) {
        map_rows<at::Half>(x_nw, keys_2n, stream, y_nw, of);
    } else {
        map_rows<float>(x_nw, keys_2n, stream, y_nw, of);
    }
}

/// Calls `body` for up to kRowsAtOnce rows at a time, with their hashes: int64 [rows, W], below 2^32.
template <typename Body>
void for_hashes(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, const Body& body) {
    const std::vector<uint32_t> columns = column_keys(x_nw.size(1), stream);
    const at::Tensor columns_1w = at::tensor(std::vector<int64_t>(columns.begin(), columns.end()), at::kLong)
                                      .to(x_nw.device())
                                      .unsqueeze(0);
    for (int64_t n = 0; n < x_nw.size(0); n += kRowsAtOnce) {
        const int64_t rows = std::min(kRowsAtOnce, x_nw.size(0) - n);
        const auto keys = [&](int64_t which) { return keys_2n[which].narrow(0, n, rows).unsqueeze(1); };
        body(n, rows, scrambled(scrambled(columns_1w.bitwise_xor(keys(0))).bitwise_xor(keys(1))));
    }
}

constexpr int kNoiseBits = 24;  // float32 holds every integer up to 2^24 exactly
constexpr int64_t kNoiseSteps = int64_t{1} << kNoiseBits;

/// Returns the factor that turns a step, an odd integer between -2^24 and 2^24, into noise within `limit`.
float noise_unit(double limit) {
    return static_cast<float>(limit / static_cast<double>(kNoiseSteps));
}

}  // namespace

/// Implements SplitMix64 (Steele et al. 2014).
uint64_t mixed(uint64_t x) {
    x += 0x9e3779b97f4a7c15;
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

at::Tensor dropout_keys(const at::Tensor& places_n, uint64_t stream) {
    const at::Tensor places = places_n.cpu();
    const auto* place = places.const_data_ptr<int64_t>();
    const int64_t tokens = places.size(0);
    at::Tensor keys_2n = at::empty({2, tokens}, at::kLong);
    auto* keys = keys_2n.mutable_data_ptr<int64_t>();
    for (int64_t n = 0; n < tokens; ++n) {
        const uint64_t both = mixed(stream ^ mixed(static_cast<uint64_t>(place[n])));
        keys[n] = static_cast<int64_t>(both) & kLow32;
        keys[tokens + n] = static_cast<int64_t>(both >> 32);
    }
    return keys_2n.to(places_n.device());
}

at::Tensor dropout(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, double p) {
    if (!x_nw.is_cpu()) return dropout_anywhere(x_nw, keys_2n, stream, p);
    at::Tensor y_nw = at::empty(x_nw.sizes(), x_nw.options().memory_format(at::MemoryFormat::Contiguous));
    const uint32_t threshold = threshold_of(p);
    const float gain = gain_of(p);
    map_elements(x_nw, keys_2n, stream, y_nw,
                 [=](float x, uint32_t hash) { return hash >= threshold ? x * gain : 0.0F; });
    return y_nw;
}

at::Tensor dropout_anywhere(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, double p) {
    at::Tensor y_nw = x_nw * gain_of(p);
    for_hashes(x_nw, keys_2n, stream, [&](int64_t n, int64_t rows, const at::Tensor& hash) {
        y_nw.narrow(0, n, rows).masked_fill_(hash.lt(static_cast<int64_t>(threshold_of(p))), 0);
    });
    return y_nw;
}

void add_noise(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, double limit) {
    if (!x_nw.is_cpu()) return add_noise_anywhere(x_nw, keys_2n, stream, limit);
    const float unit = noise_unit(limit);
    map_elements(x_nw, keys_2n, stream, x_nw, [unit](float x, uint32_t hash) {
        const int64_t step = 2 * static_cast<int64_t>(hash >> (32 - kNoiseBits)) + 1 - kNoiseSteps;
        return x + static_cast<float>(step) * unit;
    });
}

void add_noise_anywhere(const at::Tensor& x_nw, const at::Tensor& keys_2n, uint64_t stream, double limit) {
    for_hashes(x_nw, keys_2n, stream, [&](int64_t n, int64_t rows, const at::Tensor& hash) {
        const at::Tensor step = at::bitwise_right_shift(hash, 32 - kNoiseBits).mul_(2).add_(1 - kNoiseSteps);
        x_nw.narrow(0, n, rows).add_(step.to(at::kFloat).mul_(noise_unit(limit)));
    });
}

}  // namespace ringmaster
