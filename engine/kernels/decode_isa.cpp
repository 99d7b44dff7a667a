// This file is compiled once for each instruction set, as fused_isa.cpp is.
#include "engine/kernels/decode.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/kernels/elements.h"
#include "engine/kernels/exponential.h"

namespace ringmaster::RINGMASTER_ISA {

namespace {

#if defined(__AVX512F__)
constexpr int kLanes = 16, kTileRows = 6;
#elif defined(__AVX2__)
constexpr int kLanes = 8, kTileRows = 3;
#else
constexpr int kLanes = 4, kTileRows = 3;
#endif
constexpr int kTileOutputs = 4;
constexpr int64_t kRowsInCache = 48;

using Lanes = float __attribute__((vector_size(kLanes * sizeof(float))));

inline Lanes lanes(const float* x) {
    Lanes v;
    std::memcpy(&v, x, sizeof v);
    return v;
}

inline Lanes lanes(const Bf16* x) {
    using Halves = uint16_t __attribute__((vector_size(kLanes * sizeof(uint16_t))));
    using Words = uint32_t __attribute__((vector_size(kLanes * sizeof(uint32_t))));
    Halves halves;
    std::memcpy(&halves, x, sizeof halves);
    const Words words = __builtin_convertvector(halves, Words) << 16;
    Lanes v;
    std::memcpy(&v, &words, sizeof v);
    return v;
}

inline Lanes lanes(const Fp16* x) {
    Lanes v;
    for (int i = 0; i < kLanes; ++i) v[i] = load(x[i]);
    return v;
}

/// Loads the first `count` elements; the other lanes are zero.
template <typename T>
inline Lanes first_lanes(const T* x, int64_t count) {
    Lanes v = {};
    for (int64_t i = 0; i < count; ++i) v[i] = load(x[i]);
    return v;
}

inline float sum_of(const Lanes& v) {
    float sum = 0;
    for (int i = 0; i < kLanes; ++i) sum += v[i];
    return sum;
}

/// Computes the products of R rows of x and O rows of w; calls `take` with row, output and product.
template <int R, int O, typename T, typename Take>
inline void tile(const T* x, int64_t x_stride, const T* w, int64_t w_stride, int64_t inputs,
                 const Take& take) {
    Lanes sums[R][O] = {};
    const auto add = [&](const auto& part) {
        Lanes of_w[O];
        for (int o = 0; o < O; ++o) of_w[o] = part(w + o * w_stride);
        for (int r = 0; r < R; ++r) {
            const Lanes of_x = part(x + r * x_stride);
            for (int o = 0; o < O; ++o) sums[r][o] += of_x * of_w[o];
        }
    };
    int64_t c = 0;
    for (; c + kLanes <= inputs; c += kLanes) add([c](const T* row) { return lanes(row + c); });
    if (c < inputs) add([c, inputs](const T* row) { return first_lanes(row + c, inputs - c); });
    for (int r = 0; r < R; ++r) {
        for (int o = 0; o < O; ++o) take(r, o, sum_of(sums[r][o]));
    }
}

/// Calls `tile` with the number of rows that are left, at most kTileRows.
template <int O, typename T, typename Take, int... R>
inline void tile_of(std::integer_sequence<int, R...>, int64_t rows, const T* x, int64_t x_stride, const T* w,
                    int64_t w_stride, int64_t inputs, const Take& take) {
    (void)((rows == R + 1 && (tile<R + 1, O>(x, x_stride, w, w_stride, inputs, take), true)) || ...);
}

/// Calls `take` with row, output and product of all rows of x and all rows of w.
template <typename T, typename Take>
inline void products(const T* x, int64_t x_stride, int64_t rows, const T* w, int64_t w_stride, int64_t begin,
                     int64_t end, int64_t inputs, const Take& take) {
    const auto rows_with = [&]<int O>(std::integral_constant<int, O>, int64_t output) {
        for (int64_t n = 0; n < rows; n += kTileRows) {
            tile_of<O>(std::make_integer_sequence<int, kTileRows>(), std::min<int64_t>(kTileRows, rows - n),
                       x + n * x_stride, x_stride, w + output * w_stride, w_stride, inputs,
                       [&](int r, int o, float sum) { take(n + r, output + o, sum); });
        }
    };
    int64_t o = begin;
    for (; o + kTileOutputs <= end; o += kTileOutputs)
        rows_with(std::integral_constant<int, kTileOutputs>(), o);
    for (; o < end; ++o) rows_with(std::integral_constant<int, 1>(), o);
}

template <typename T>
void linear(const T* x, const T* w, const T* bias, T* y, int64_t rows, int64_t inputs, int64_t begin,
            int64_t end, int64_t x_stride, int64_t w_stride, int64_t y_stride) {
    for (int64_t first = 0; first < rows; first += kRowsInCache) {
        T* to = y + first * y_stride;
        products(x + first * x_stride, x_stride, std::min(kRowsInCache, rows - first), w, w_stride, begin,
                 end, inputs, [&](int64_t n, int64_t o, float sum) {
                     store(to[n * y_stride + o], bias == nullptr ? sum : sum + load(bias[o]));
                 });
    }
}

/// Replaces scores by exp(score − top); returns their sum.
float exponentials(float* scores, int64_t count) {
    float top = scores[0], sum = 0;
    for (int64_t s = 1; s < count; ++s) top = scores[s] > top ? scores[s] : top;
#pragma omp simd reduction(+ : sum)
    for (int64_t s = 0; s < count; ++s) {
        scores[s] = exponential(scores[s] - top);
        sum += scores[s];
    }
    return sum;
}

/// Writes Σ_s weights_s · values_sd / total.
template <typename T>
void weighted_sum(const float* weights, const T* values, int64_t keys, int64_t head_dim, float total,
                  T* out) {
    constexpr int kAtOnce = 4;
    int64_t d = 0;
    for (; d + kAtOnce * kLanes <= head_dim; d += kAtOnce * kLanes) {
        Lanes sums[kAtOnce] = {};
        for (int64_t s = 0; s < keys; ++s) {
            for (int i = 0; i < kAtOnce; ++i)
                sums[i] += weights[s] * lanes(values + s * head_dim + d + i * kLanes);
        }
        for (int i = 0; i < kAtOnce * kLanes; ++i) store(out[d + i], sums[i / kLanes][i % kLanes] / total);
    }
    for (; d < head_dim; d += kLanes) {
        const int64_t count = std::min<int64_t>(kLanes, head_dim - d);
        Lanes sum = {};
        for (int64_t s = 0; s < keys; ++s) sum += weights[s] * first_lanes(values + s * head_dim + d, count);
        for (int64_t i = 0; i < count; ++i) store(out[d + i], sum[i] / total);
    }
}

template <typename T>
void attend(const T* q, const T* keys, const T* values, T* out, float* scores, const SeenKeys& seen) {
    const float cap = seen.softcap;
    const int64_t stride = seen.keys + (seen.sinks == nullptr ? 0 : 1);
    products(q, seen.head_dim, seen.queries, keys, seen.head_dim, 0, seen.keys, seen.head_dim,
             [&](int64_t g, int64_t s, float sum) {
                 const float score = sum * seen.scale;
                 scores[g * stride + s] = cap == 0 ? score : cap * std::tanh(score / cap);
             });
    for (int64_t g = 0; g < seen.queries; ++g) {
        float* of_head = scores + g * stride;
        if (seen.sinks != nullptr) of_head[seen.keys] = seen.sinks[g];
        const float total = exponentials(of_head, stride);
        weighted_sum(of_head, values, seen.keys, seen.head_dim, total, out + g * seen.head_dim);
    }
}

float sum_exponentials(const float* x, int64_t count, float top) {
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t i = 0; i < count; ++i) sum += exponential(x[i] - top);
    return sum;
}

}  // namespace

extern const DecodeKernels<float> kFloatDecode;
extern const DecodeKernels<Bf16> kBf16Decode;
extern const DecodeKernels<Fp16> kFp16Decode;
const DecodeKernels<float> kFloatDecode = {linear<float>, attend<float>, sum_exponentials};
const DecodeKernels<Bf16> kBf16Decode = {linear<Bf16>, attend<Bf16>, sum_exponentials};
const DecodeKernels<Fp16> kFp16Decode = {linear<Fp16>, attend<Fp16>, sum_exponentials};

}  // namespace ringmaster::RINGMASTER_ISA
