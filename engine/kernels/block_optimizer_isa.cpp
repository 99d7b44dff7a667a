// This file is compiled once for each instruction set. The compiler must not contract products and sums: code
// that rounds only once says so explicitly, as LibTorch's operations do.
#include "engine/kernels/block_optimizer.h"

#include <cmath>
#include <cstring>
#include <limits>

#include "engine/kernels/elements.h"
#ifdef __AVX2__
#include "engine/kernels/code_search.h"
#endif

namespace ringmaster::RINGMASTER_ISA {

namespace {

constexpr int64_t kStrip = 256;  // number of elements whose table entries are looked up at once

inline float multiply_add(float a, float b, float c) {
#ifdef __FMA__
    return __builtin_fmaf(a, b, c);
#else
    return a * b + c;
#endif
}

/// Divides by a number that many elements share, and rounds as a division does. Source: Markstein 1990,
/// "Computation of elementary functions on the IBM RISC System/6000 processor".
struct Quotients {
    float by, inverse;

    explicit Quotients(float number) : by(number), inverse(1.0F / number) {}
    /// Returns x / by for x that is not negative.
    float of(float x) const {
#ifdef __FMA__
        // Without this bound, the quotient of infinity would be NaN instead of infinity.
        constexpr float kMost = std::numeric_limits<float>::max();
        const float near = x * inverse < kMost ? x * inverse : kMost;
        return __builtin_fmaf(__builtin_fmaf(-near, by, x), inverse, near);
#else
        return x / by;
#endif
    }
};

#ifdef __AVX2__
void decode8(const CodeBook& book, const uint8_t* codes, float scale, float* values, int64_t count) {
    find_numbers_of_bytes(book, codes, scale, values, count);
}
#else
void decode8(const CodeBook& book, const uint8_t* codes, float scale, float* values, int64_t count) {
    const float* numbers = book.values.data();
#pragma GCC unroll 8
    for (int64_t i = 0; i < count; ++i) values[i] = numbers[codes[i]] * scale;
}
#endif

#ifdef __AVX512F__
void decode4(const CodeBook& book, const uint8_t* codes, float scale, float* values, int64_t count) {
    find_numbers(book, codes, scale, values, count);
}
#else
void decode4(const CodeBook& book, const uint8_t* codes, float scale, float* values, int64_t count) {
    for (int64_t i = 0; i + 1 < count; i += 2) {
        values[i] = book.values[codes[i / 2] >> 4] * scale;
        values[i + 1] = book.values[codes[i / 2] & 15] * scale;
    }
    if (count % 2 == 1) values[count - 1] = book.values[codes[count / 2] >> 4] * scale;
}
#endif

/// Finds the codes of numbers whose `scale` is not 0.
#if defined(__AVX512F__)
void search_bins(const CodeBook& book, const float* values, float scale, uint8_t* codes, int64_t count) {
    find_codes<8>(BinnedSearch(book, scale), values, codes, count);
}
#elif defined(__AVX2__)
void search_bins(const CodeBook& book, const float* values, float scale, uint8_t* codes, int64_t count) {
    if (book.lines.zero == 0)
        return find_codes<8>(LineSearch<false>(book.lines, scale), values, codes, count);
    find_codes<8>(LineSearch<true>(book.lines, scale), values, codes, count);
}
#else
void search_bins(const CodeBook& book, const float* values, float scale, uint8_t* codes, int64_t count) {
    const float inverse = 1.0F / scale;
    int32_t bins[kStrip];
    for (int64_t begin = 0; begin < count; begin += kStrip) {
        const int64_t strip = count - begin < kStrip ? count - begin : kStrip;
#pragma omp simd
        for (int64_t i = 0; i < strip; ++i) {
            const float scaled = values[begin + i] * inverse;
            const float low = scaled < -1.0F ? -1.0F : scaled;
            const float held = low > 1.0F ? 1.0F : low;
            bins[i] = static_cast<int32_t>(multiply_add((held + 1.0F) * 0.5F, 65535.0F, 0.5F));
        }
        for (int64_t i = 0; i < strip; ++i) codes[begin + i] = book.table[bins[i] & 0xffff];
    }
}
#endif

void encode_binned(const CodeBook& book, const float* values, float scale, uint8_t* codes, int64_t count) {
    if (scale != 0) return search_bins(book, values, scale, codes, count);
    std::memset(codes, 0, static_cast<size_t>(count));
}

void decode(const CodeBook& book, const uint8_t* codes, float scale, float* values, int64_t count) {
    (book.bits == 8 ? decode8 : decode4)(book, codes, scale, values, count);
}

float largest(const float* values, int64_t count) {
    float most = 0;
#pragma omp simd reduction(max : most)
    for (int64_t i = 0; i < count; ++i) most = std::fabs(values[i]) > most ? std::fabs(values[i]) : most;
    return most;
}

/// Returns the nearest code. Numbers with the same upper 16 bits have at most one threshold between them.
inline uint8_t nearest(const CodeBook& book, const uint8_t* table, float scaled) {
    uint32_t bits;
    std::memcpy(&bits, &scaled, sizeof bits);
    const uint8_t code = table[bits >> 16];
    return static_cast<uint8_t>(code + (scaled >= book.next_from[code] ? 1 : 0));
}

void encode_nearest(const CodeBook& book, const float* values, float scale, uint8_t* codes, int64_t count) {
    float scaled[kStrip];
    uint8_t found[kStrip + 1];
    for (int64_t begin = 0; begin < count; begin += kStrip) {
        const int64_t strip = count - begin < kStrip ? count - begin : kStrip;
#pragma omp simd
        for (int64_t i = 0; i < strip; ++i) scaled[i] = values[begin + i] / scale;
        const uint8_t* table = book.table.data();
#pragma GCC unroll 8
        for (int64_t i = 0; i < strip; ++i) found[i] = nearest(book, table, scaled[i]);
        if (book.bits == 8) {
            std::memcpy(codes + begin, found, static_cast<size_t>(strip));
            continue;
        }
        found[strip] = 0;
        for (int64_t i = 0; i < strip; i += 2)
            codes[(begin + i) / 2] = static_cast<uint8_t>(found[i] << 4 | found[i + 1]);
    }
}

void encode(const CodeBook& book, const float* values, float scale, uint8_t* codes, int64_t count) {
#ifdef __AVX512F__
    if (book.bits == 4) return find_codes<4>(NearestSearch(book, scale), values, codes, count);
#endif
    const bool binned = book.search == CodeBook::Search::Binned;
    (binned ? encode_binned : encode_nearest)(book, values, scale, codes, count);
}

/// Calls `update` with each weight, its gradient and its two averages. `update` replaces the averages and
/// returns the new weight.
template <typename T, typename Update>
void each_weight(T* weights, const T* gradients, float* exp_avg, float* exp_avg_sq, int64_t count,
                 const Update& update) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
        float m = exp_avg[i], v = exp_avg_sq[i];
        store(weights[i], update(load(weights[i]), load(gradients[i]), m, v));
        exp_avg[i] = m;
        exp_avg_sq[i] = v;
    }
}

template <typename T>
void adamw(const AdamWNumbers& with, T* weights, const T* gradients, float* exp_avg, float* exp_avg_sq,
           int64_t count) {
    const Quotients by_root2(with.root2);
    const auto average = [&](float gradient, float& m, float& v) {
        m = multiply_add(gradient, with.rest1, m * with.beta1);
        v = multiply_add(with.rest2 * gradient, gradient, v * with.beta2);
    };
    const auto blocks = [&](float weight, float gradient, float& m, float& v) {
        average(gradient, m, v);
        const float root = by_root2.of(std::sqrt(v)) + with.epsilon;
        return weight * with.shrink + (with.step_size * m) / root;
    };
    const auto whole = [&](float weight, float gradient, float& m, float& v) {
        average(gradient, m, v);
        const float change = m / (std::sqrt(v) + with.epsilon);
        return multiply_add(change, with.step_size, weight * with.shrink);
    };
    const auto torchao = [&](float weight, float gradient, float& m, float& v) {
        m = m + with.rest1 * (gradient - m);
        v = v + with.rest2 * (gradient * gradient - v);
        const float root = by_root2.of(std::sqrt(v)) + with.epsilon;
        return (weight - with.decay * weight) - (with.rate * (m / with.correction1)) / root;
    };
    const auto update_all = [&](const auto& update) {
        each_weight(weights, gradients, exp_avg, exp_avg_sq, count, update);
    };
    switch (with.form) {
        case AdamWNumbers::Form::Blocks:
            return update_all(blocks);
        case AdamWNumbers::Form::Whole:
            return update_all(whole);
        case AdamWNumbers::Form::Torchao:
            return update_all(torchao);
    }
}

}  // namespace

extern const BlockOptimizer kBlockOptimizer;
const BlockOptimizer kBlockOptimizer = {decode, encode, largest, adamw<float>, adamw<Bf16>};

}  // namespace ringmaster::RINGMASTER_ISA
