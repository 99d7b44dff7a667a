/// Finds codes of numbers, and numbers of 4-bit codes (code_book.h), by choosing among registers with
/// AVX-512. Only kernels include it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "engine/kernels/code_book.h"

#include <immintrin.h>
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // in GCC 12's own intrinsics (its bug 105593)

namespace ringmaster::RINGMASTER_ISA {

constexpr int64_t kAtOnce = 32;

/// Returns entries of a table of 32, 64 or 128 bins, at the lowest bits of `index`.
inline __m512i entries(const __m512i (&table)[1], __m512i index) {
    return _mm512_permutexvar_epi16(index, table[0]);
}
inline __m512i entries(const __m512i (&table)[2], __m512i index) {
    return _mm512_permutex2var_epi16(table[0], index, table[1]);
}
inline __m512i entries(const __m512i (&table)[4], __m512i index) {
    const __mmask32 upper = _mm512_test_epi16_mask(index, _mm512_set1_epi16(64));
    return _mm512_mask_blend_epi16(upper, _mm512_permutex2var_epi16(table[0], index, table[1]),
                                   _mm512_permutex2var_epi16(table[2], index, table[3]));
}

/// Reverses the bits of every byte.
inline __m256i in_reverse(__m256i bytes) {
    const __m256i low = _mm256_set1_epi8(15);
    const __m256i reversed =
        _mm256_broadcastsi128_si256(_mm_setr_epi8(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15));
    const __m256i lower = _mm256_shuffle_epi8(reversed, _mm256_and_si256(bytes, low));
    const __m256i upper = _mm256_shuffle_epi8(reversed, _mm256_and_si256(_mm256_srli_epi16(bytes, 4), low));
    return _mm256_or_si256(_mm256_slli_epi16(lower, 4), upper);
}

/// Walks down CodeBook::tree_of_bins with the bins of bitsandbytes.
class BinnedSearch {
  public:
    BinnedSearch(const CodeBook& book, float scale) : inverse_(_mm512_set1_ps(1.0F / scale)) {
        const uint16_t* tree = book.tree_of_bins.data();
        for (int level = 0; level < 6; ++level) first_[level][0] = _mm512_loadu_si512(tree + (1 << level));
        for (int i = 0; i < 2; ++i) seventh_[i] = _mm512_loadu_si512(tree + 64 + 32 * i);
        for (int i = 0; i < 4; ++i) eighth_[i] = _mm512_loadu_si512(tree + 128 + 32 * i);
    }

    /// Returns the codes of 32 numbers.
    __m256i operator()(const float* values) const {
        static constexpr auto kEven = [] {
            std::array<int16_t, 32> index{};
            for (int i = 0; i < 32; ++i) index[static_cast<size_t>(i)] = static_cast<int16_t>(2 * i);
            return index;
        }();
        const __m512i bins =
            _mm512_permutex2var_epi16(bin(values), _mm512_loadu_si512(kEven.data()), bin(values + 16));
        __m512i place = _mm512_setzero_si512();
        const auto descend = [&](int bit, __m512i threshold) {
            const __mmask32 right = _mm512_cmpge_epu16_mask(bins, threshold);
            place = _mm512_mask_add_epi16(place, right, place, _mm512_set1_epi16(static_cast<int16_t>(bit)));
        };
        for (int level = 0; level < 6; ++level) descend(1 << level, entries(first_[level], place));
        descend(64, entries(seventh_, place));
        descend(128, entries(eighth_, place));
        return in_reverse(_mm512_cvtepi16_epi8(place));
    }

  private:
    __m512i bin(const float* values) const {
        const __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(values), inverse_), one = _mm512_set1_ps(1);
        const __m512 held = _mm512_min_ps(one, _mm512_max_ps(_mm512_set1_ps(-1), scaled));
        const __m512 half = _mm512_mul_ps(_mm512_add_ps(held, one), _mm512_set1_ps(0.5F));
        return _mm512_cvttps_epi32(_mm512_fmadd_ps(half, _mm512_set1_ps(65535), _mm512_set1_ps(0.5F)));
    }

    __m512 inverse_;
    __m512i first_[6][1], seventh_[2], eighth_[4];
};

/// Walks down CodeBook::tree_of_numbers with the numbers of 4-bit codes.
class NearestSearch {
  public:
    NearestSearch(const CodeBook& book, float scale)
        : scale_(_mm512_set1_ps(scale)), tree_(_mm512_loadu_ps(book.tree_of_numbers.data())) {}

    __m256i operator()(const float* values) const {
        return _mm256_set_m128i(code(values + 16), code(values));
    }

  private:
    __m128i code(const float* values) const {
        const __m512 x = _mm512_div_ps(_mm512_loadu_ps(values), scale_);
        const __m512i one = _mm512_set1_epi32(1);
        __m512i node = one;
        for (int level = 0; level < 4; ++level) {
            const __mmask16 right = _mm512_cmp_ps_mask(x, _mm512_permutexvar_ps(node, tree_), _CMP_GE_OQ);
            node = _mm512_add_epi32(node, node);
            node = _mm512_mask_add_epi32(node, right, node, one);
        }
        return _mm512_cvtepi32_epi8(_mm512_and_si512(node, _mm512_set1_epi32(15)));
    }

    __m512 scale_, tree_;
};

/// Writes 32 codes, two in a byte if they have 4 bits.
template <int Bits>
void store_codes(uint8_t* to, __m256i codes) {
    if constexpr (Bits == 8) return _mm256_storeu_si256(reinterpret_cast<__m256i*>(to), codes);
    const __m256i pairs = _mm256_maddubs_epi16(codes, _mm256_set1_epi16(0x0110));  // 16 · first + second
    _mm_storeu_si128(reinterpret_cast<__m128i*>(to), _mm256_cvtepi16_epi8(pairs));
}

template <int Bits, typename Search>
void find_codes(const Search& codes_of, const float* values, uint8_t* codes, int64_t count) {
    constexpr int64_t kPerByte = 8 / Bits;
    int64_t i = 0;
    for (; i + kAtOnce <= count; i += kAtOnce) store_codes<Bits>(codes + i / kPerByte, codes_of(values + i));
    const int64_t rest = count - i;
    if (rest == 0) return;
    float last[kAtOnce] = {};
    uint8_t found[kAtOnce];
    std::memcpy(last, values + i, static_cast<size_t>(rest) * sizeof(float));
    store_codes<Bits>(found, codes_of(last));
    if (rest % kPerByte != 0) found[rest / kPerByte] &= 0xf0;
    std::memcpy(codes + i / kPerByte, found, static_cast<size_t>((rest + kPerByte - 1) / kPerByte));
}

/// Writes the numbers of 4-bit codes times `scale`.
inline void find_numbers(const CodeBook& book, const uint8_t* codes, float scale, float* values,
                         int64_t count) {
    const __m512 numbers = _mm512_loadu_ps(book.values.data()), factor = _mm512_set1_ps(scale);
    const auto sixteen = [&](const uint8_t* from, float* to) {
        const __m128i both = _mm_cvtepu8_epi16(_mm_loadl_epi64(reinterpret_cast<const __m128i*>(from)));
        const __m128i second = _mm_slli_epi16(_mm_and_si128(both, _mm_set1_epi16(15)), 8);
        const __m512i each = _mm512_cvtepu8_epi32(_mm_or_si128(_mm_srli_epi16(both, 4), second));
        _mm512_storeu_ps(to, _mm512_mul_ps(_mm512_permutexvar_ps(each, numbers), factor));
    };
    int64_t i = 0;
    for (; i + 16 <= count; i += 16) sixteen(codes + i / 2, values + i);
    const int64_t rest = count - i;
    if (rest == 0) return;
    uint8_t last[8] = {};
    float found[16];
    std::memcpy(last, codes + i / 2, static_cast<size_t>((rest + 1) / 2));
    sixteen(last, found);
    std::memcpy(values + i, found, static_cast<size_t>(rest) * sizeof(float));
}

}  // namespace ringmaster::RINGMASTER_ISA
