// This file is compiled once for each instruction set: RINGMASTER_ISA is the namespace of that set's
// tables.
#include "engine/kernels/four_bit.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

#include <algorithm>
#include <cmath>

#include "engine/kernels/elements.h"

namespace ringmaster::RINGMASTER_ISA {

namespace {

constexpr float kLeastScale = 1e-38F;
constexpr int64_t kMostBlock = 4096;

float largest_magnitude(const float* x, int64_t count) {
    float most = 0;
#pragma omp simd reduction(max : most)
    for (int64_t i = 0; i < count; ++i) most = std::max(most, std::fabs(x[i]));
    return most;
}

/// Counts the midpoints below each element, which gives its place in the ascending order.
void places_of(const float* x, int64_t count, const CodeBook16& book, int32_t* places) {
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
        int32_t place = 0;
        for (int m = 0; m < 15; ++m) place += x[i] > book.midpoints[m] ? 1 : 0;
        places[i] = place;
    }
}

float quantize(const float* x, int64_t count, bool divides, const CodeBook16& book, uint8_t* codes) {
    float scaled[kMostBlock + 1];
    int32_t places[kMostBlock + 1];
    const float most = largest_magnitude(x, count), scale = std::max(most, kLeastScale),
                factor = 1.0F / scale;
#pragma omp simd
    for (int64_t i = 0; i < count; ++i)
        scaled[i] = std::clamp(divides ? x[i] / scale : x[i] * factor, -1.0F, 1.0F);
    scaled[count] = 0;  // pads the last byte if the count is odd
    places_of(scaled, count + count % 2, book, places);
    for (int64_t i = 0; i < count; i += 2)
        codes[i / 2] = static_cast<uint8_t>(book.ascending[places[i]] << 4 | book.ascending[places[i + 1]]);
    return divides ? scale : most;
}

#if defined(__AVX2__)
/// Unpacks 16 bytes into 32 codes, one per byte, in order.
inline __m256i spread(const uint8_t* codes) {
    const __m128i both = _mm_loadu_si128(reinterpret_cast<const __m128i*>(codes)), mask = _mm_set1_epi8(15);
    const __m128i first = _mm_and_si128(_mm_srli_epi16(both, 4), mask), second = _mm_and_si128(both, mask);
    return _mm256_set_m128i(_mm_unpackhi_epi8(first, second), _mm_unpacklo_epi8(first, second));
}

/// Looks up 32 codes at a time in a block's 16 values.
template <typename T>
class Table;

/// Uses two byte shuffles: one for the low and one for the high bytes of the values.
template <typename T>
class ShortTable {
  public:
    explicit ShortTable(const T* values) {
        const __m256i all = _mm256_loadu_si256(reinterpret_cast<const __m256i*>(values));
        const __m128i first = _mm256_castsi256_si128(all), second = _mm256_extracti128_si256(all, 1);
        const __m128i byte = _mm_set1_epi16(0xff);
        low_ = _mm256_broadcastsi128_si256(
            _mm_packus_epi16(_mm_and_si128(first, byte), _mm_and_si128(second, byte)));
        high_ = _mm256_broadcastsi128_si256(
            _mm_packus_epi16(_mm_srli_epi16(first, 8), _mm_srli_epi16(second, 8)));
    }

    void look_up(const uint8_t* codes, T* out) const {
        const __m256i at = spread(codes);
        const __m256i l = _mm256_shuffle_epi8(low_, at), h = _mm256_shuffle_epi8(high_, at);
        const __m256i a = _mm256_unpacklo_epi8(l, h), b = _mm256_unpackhi_epi8(l, h);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out), _mm256_permute2x128_si256(a, b, 0x20));
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(out + 16), _mm256_permute2x128_si256(a, b, 0x31));
    }

  private:
    __m256i low_, high_;
};

template <>
class Table<Bf16> : public ShortTable<Bf16> {
    using ShortTable::ShortTable;
};
template <>
class Table<Fp16> : public ShortTable<Fp16> {
    using ShortTable::ShortTable;
};

/// Uses two permutations of 8 values each.
template <>
class Table<float> {
  public:
    explicit Table(const float* values)
        : first_(_mm256_loadu_ps(values)), second_(_mm256_loadu_ps(values + 8)) {}

    void look_up(const uint8_t* codes, float* out) const {
        const __m256i at = spread(codes);
        const __m128i halves[2] = {_mm256_castsi256_si128(at), _mm256_extracti128_si256(at, 1)};
        for (int i = 0; i < 4; ++i) {
            const __m128i eight = i % 2 == 0 ? halves[i / 2] : _mm_srli_si128(halves[i / 2], 8);
            const __m256i index = _mm256_cvtepu8_epi32(eight);
            const __m256i is_second = _mm256_slli_epi32(index, 28);  // moves bit 3 to the sign
            _mm256_storeu_ps(out + 8 * i, _mm256_blendv_ps(_mm256_permutevar8x32_ps(first_, index),
                                                           _mm256_permutevar8x32_ps(second_, index),
                                                           _mm256_castsi256_ps(is_second)));
        }
    }

  private:
    __m256 first_, second_;
};
#else
template <typename T>
class Table {
  public:
    explicit Table(const T* values) : values_(values) {}

    void look_up(const uint8_t* codes, T* out) const {
        for (int i = 0; i < 16; ++i) {
            out[2 * i] = values_[codes[i] >> 4];
            out[2 * i + 1] = values_[codes[i] & 15];
        }
    }

  private:
    const T* values_;
};
#endif

template <typename T>
void dequantize(const uint8_t* codes, const float* scales, int64_t count, int64_t block,
                const CodeBook16& book, T* out) {
    constexpr int64_t kAtOnce = 32;
    for (int64_t begin = 0; begin < count; begin += block) {
        T values[16];
        for (int i = 0; i < 16; ++i) store(values[i], book.values[i] * scales[begin / block]);
        const Table<T> table(values);
        const int64_t end = std::min(begin + block, count);
        int64_t i = begin;
        for (; i + kAtOnce <= end; i += kAtOnce) table.look_up(codes + i / 2, out + i);
        for (; i < end; ++i) out[i] = values[i % 2 == 0 ? codes[i / 2] >> 4 : codes[i / 2] & 15];
    }
}

}  // namespace

extern const FourBitKernels kFourBit;
const FourBitKernels kFourBit = {quantize, dequantize<float>, dequantize<Bf16>, dequantize<Fp16>};

}  // namespace ringmaster::RINGMASTER_ISA
