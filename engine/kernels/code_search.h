/// Converts between numbers and codes (code_book.h): with AVX-512 by permutations of tables held in
/// registers, with AVX2 by arithmetic. Only kernels include it.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>

#include "engine/kernels/code_book.h"

#include <immintrin.h>
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // raised by GCC 12's own intrinsics (GCC bug 105593)

namespace ringmaster::RINGMASTER_ISA {

template <int Bits, typename Search>
void find_codes(const Search& codes_of, const float* values, uint8_t* codes, int64_t count) {
    constexpr int64_t kPerByte = 8 / Bits, kAtOnce = Search::kAtOnce;
    int64_t i = 0;
    for (; i + kAtOnce <= count; i += kAtOnce) codes_of(values + i, codes + i / kPerByte);
    const int64_t rest = count - i;
    if (rest == 0) return;
    float last[kAtOnce] = {};
    uint8_t found[kAtOnce];
    std::memcpy(last, values + i, static_cast<size_t>(rest) * sizeof(float));
    codes_of(last, found);
    if (rest % kPerByte != 0) found[rest / kPerByte] &= 0xf0;
    std::memcpy(codes + i / kPerByte, found, static_cast<size_t>((rest + kPerByte - 1) / kPerByte));
}

#ifdef __AVX512F__

/// Looks up entries in a table of 32, 64 or 128 bins, by the lowest bits of `index`.
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

/// Holds 256 entries of 16 bits.
struct Entries256 {
    __m512i parts[8];

    explicit Entries256(const std::array<uint16_t, 256>& entries) {
        for (int i = 0; i < 8; ++i) parts[i] = _mm512_loadu_si512(entries.data() + 32 * i);
    }
    __m512i operator[](__m512i index) const {
        const __mmask32 odd = _mm512_test_epi16_mask(index, _mm512_set1_epi16(64));
        const __mmask32 upper = _mm512_test_epi16_mask(index, _mm512_set1_epi16(128));
        const auto of_128 = [&](int first) {
            return _mm512_mask_blend_epi16(
                odd, _mm512_permutex2var_epi16(parts[first], index, parts[first + 1]),
                _mm512_permutex2var_epi16(parts[first + 2], index, parts[first + 3]));
        };
        return _mm512_mask_blend_epi16(upper, of_128(0), of_128(4));
    }
};

/// Looks up the numbers of 8-bit codes, in two halves of 16 bits.
class NumbersOfCodes {
  public:
    explicit NumbersOfCodes(const CodeBook& book) : lower_(book.halves[0]), upper_(book.halves[1]) {}

    /// Returns the numbers of 32 codes, the first 16 in `first`.
    void find(const uint8_t* codes, __m512& first, __m512& second) const {
        // Interleaving works within every 128 bits, so each 128 bits get four words of both results.
        const __m256i dealt =
            _mm256_permutevar8x32_epi32(_mm256_loadu_si256(reinterpret_cast<const __m256i*>(codes)),
                                        _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7));
        const __m512i index = _mm512_cvtepu8_epi16(dealt), lower = lower_[index], upper = upper_[index];
        first = _mm512_castsi512_ps(_mm512_unpacklo_epi16(lower, upper));
        second = _mm512_castsi512_ps(_mm512_unpackhi_epi16(lower, upper));
    }

  private:
    Entries256 lower_, upper_;
};

/// Reverses the bits of every byte.
inline __m512i in_reverse(__m512i bytes) {
    const __m512i low = _mm512_set1_epi8(15);
    const __m512i reversed =
        _mm512_broadcast_i32x4(_mm_setr_epi8(0, 8, 4, 12, 2, 10, 6, 14, 1, 9, 5, 13, 3, 11, 7, 15));
    const __m512i lower = _mm512_shuffle_epi8(reversed, _mm512_and_si512(bytes, low));
    const __m512i upper = _mm512_shuffle_epi8(reversed, _mm512_and_si512(_mm512_srli_epi16(bytes, 4), low));
    return _mm512_or_si512(_mm512_slli_epi16(lower, 4), upper);
}

/// Finds 8-bit codes as bitsandbytes does: walks down CodeBook::tree_of_bins with each number's bin.
class BinnedSearch {
  public:
    BinnedSearch(const CodeBook& book, float scale) : inverse_(_mm512_set1_ps(1.0F / scale)) {
        const uint16_t* tree = book.tree_of_bins.data();
        root_ = static_cast<int16_t>(tree[1]);
        for (int level = 1; level < 6; ++level) first_[level][0] = _mm512_loadu_si512(tree + (1 << level));
        for (int i = 0; i < 2; ++i) seventh_[i] = _mm512_loadu_si512(tree + 64 + 32 * i);
        for (int i = 0; i < 4; ++i) eighth_[i] = _mm512_loadu_si512(tree + 128 + 32 * i);
    }

    /// Each step of a search depends on the step before, so four groups of 32 numbers are searched together:
    /// the processor works on one group while another waits.
    static constexpr int kGroups = 4;
    static constexpr int64_t kAtOnce = 32 * kGroups;

    void operator()(const float* values, uint8_t* codes) const {
        __m512i bins[kGroups], places[kGroups];
        for (int group = 0; group < kGroups; ++group) {
            bins[group] = bins_of(values + 32 * group);
            const __mmask32 right = _mm512_cmpge_epu16_mask(bins[group], _mm512_set1_epi16(root_));
            places[group] = _mm512_maskz_set1_epi16(right, 1);
        }
        const auto descend = [&](int bit, const auto& table) {
#pragma GCC unroll 4
            for (int group = 0; group < kGroups; ++group) {
                const __mmask32 right = _mm512_cmpge_epu16_mask(bins[group], entries(table, places[group]));
                places[group] = _mm512_mask_add_epi16(places[group], right, places[group],
                                                      _mm512_set1_epi16(static_cast<int16_t>(bit)));
            }
        };
#pragma GCC unroll 5
        for (int level = 1; level < 6; ++level) descend(1 << level, first_[level]);
        descend(64, seventh_);
        descend(128, eighth_);
        for (int pair = 0; pair < kGroups; pair += 2) {
            const __m512i both =
                _mm512_inserti64x4(_mm512_castsi256_si512(_mm512_cvtepi16_epi8(places[pair])),
                                   _mm512_cvtepi16_epi8(places[pair + 1]), 1);
            _mm512_storeu_si512(codes + 32 * pair, in_reverse(both));
        }
    }

  private:
    /// Returns the bins of 32 numbers.
    __m512i bins_of(const float* values) const {
        static constexpr auto kEven = [] {
            std::array<int16_t, 32> index{};
            for (int i = 0; i < 32; ++i) index[static_cast<size_t>(i)] = static_cast<int16_t>(2 * i);
            return index;
        }();
        return _mm512_permutex2var_epi16(bin(values), _mm512_loadu_si512(kEven.data()), bin(values + 16));
    }

    __m512i bin(const float* values) const {
        const __m512 scaled = _mm512_mul_ps(_mm512_loadu_ps(values), inverse_), one = _mm512_set1_ps(1);
        // Halving is exact, so (scaled + 1) / 2 · 65535 needs only one product. The minimum clamps numbers
        // above 1, which occur only if the scale has no finite inverse. Numbers below −1 and NaN become bin 0
        // without a clamp.
        const __m512 place =
            _mm512_fmadd_ps(_mm512_add_ps(scaled, one), _mm512_set1_ps(32767.5F), _mm512_set1_ps(0.5F));
        return _mm512_cvttps_epi32(_mm512_min_ps(_mm512_set1_ps(65535), place));
    }

    __m512 inverse_;
    int16_t root_;
    __m512i first_[6][1], seventh_[2], eighth_[4];
};

/// Finds 4-bit codes: walks down CodeBook::tree_of_numbers with each number.
class NearestSearch {
  public:
    NearestSearch(const CodeBook& book, float scale)
        : scale_(_mm512_set1_ps(scale)), tree_(_mm512_loadu_ps(book.tree_of_numbers.data())) {}

    static constexpr int64_t kAtOnce = 32;

    /// Writes two codes in a byte.
    void operator()(const float* values, uint8_t* codes) const {
        const __m256i each = _mm256_set_m128i(code(values + 16), code(values));
        const __m256i pairs = _mm256_maddubs_epi16(each, _mm256_set1_epi16(0x0110));  // 16 · first + second
        _mm_storeu_si128(reinterpret_cast<__m128i*>(codes), _mm256_cvtepi16_epi8(pairs));
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

/// Decodes 8-bit codes: writes each code's number times `scale`.
inline void find_numbers_of_bytes(const CodeBook& book, const uint8_t* codes, float scale, float* values,
                                  int64_t count) {
    const NumbersOfCodes numbers(book);
    const __m512 factor = _mm512_set1_ps(scale);
    const auto to = [&](const uint8_t* from, float* into) {
        __m512 first, second;
        numbers.find(from, first, second);
        _mm512_storeu_ps(into, _mm512_mul_ps(first, factor));
        _mm512_storeu_ps(into + 16, _mm512_mul_ps(second, factor));
    };
    int64_t i = 0;
    for (; i + 32 <= count; i += 32) to(codes + i, values + i);
    const int64_t rest = count - i;
    if (rest == 0) return;
    uint8_t last[32] = {};
    float found[32];
    std::memcpy(last, codes + i, static_cast<size_t>(rest));
    to(last, found);
    std::memcpy(values + i, found, static_cast<size_t>(rest) * sizeof(float));
}

/// Decodes 4-bit codes: writes each code's number times `scale`.
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

#else

/// Finds 8-bit codes as bitsandbytes does, with LinesOfBins.
template <bool Signed>
class LineSearch {
  public:
    LineSearch(const LinesOfBins& lines, float scale)
        : lines_(lines),
          inverse_(_mm256_set1_ps(1.0F / scale)),
          slopes_(by_byte(lines.slope)),
          offsets_(by_byte(lines.offset)),
          lasts_(by_byte(lines.last)) {}

    static constexpr int64_t kAtOnce = 32;

    void operator()(const float* values, uint8_t* codes) const {
        const __m256i first = _mm256_packs_epi32(eight(values), eight(values + 8)),
                      second = _mm256_packs_epi32(eight(values + 16), eight(values + 24));
        // Packing works within every 128 bits, and makes negative codes 0.
        const __m256i dealt = _mm256_packus_epi16(first, second),
                      order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
        _mm256_storeu_si256(reinterpret_cast<__m256i*>(codes), _mm256_permutevar8x32_epi32(dealt, order));
    }

  private:
    /// Returns the decades' entries byte by byte: first the lowest byte of each decade's entry, last the
    /// highest of each. A shuffle of bytes then looks up eight entries at once.
    static __m256i by_byte(const std::array<float, LinesOfBins::kDecades>& entries) {
        const __m128i each = _mm_castps_si128(_mm_loadu_ps(entries.data()));
        const __m128i order = _mm_setr_epi8(0, 4, 8, 12, 1, 5, 9, 13, 2, 6, 10, 14, 3, 7, 11, 15);
        return _mm256_broadcastsi128_si256(_mm_shuffle_epi8(each, order));
    }

    static __m256i at_least(__m256 n, float bound) {
        return _mm256_castps_si256(_mm256_cmp_ps(n, _mm256_set1_ps(bound), _CMP_GE_OQ));
    }

    /// Returns the codes of eight numbers.
    __m256i eight(const float* values) const {
        const __m256 scaled = _mm256_mul_ps(_mm256_loadu_ps(values), inverse_),
                     half = _mm256_set1_ps(32767.5F);
        // The maximum makes the bin of NaN 0.
        const __m256 place = _mm256_max_ps(
            _mm256_fmadd_ps(_mm256_add_ps(scaled, _mm256_set1_ps(1)), half, _mm256_set1_ps(0.5F)),
            _mm256_setzero_ps());
        const __m256 bin = _mm256_round_ps(place, _MM_FROUND_TO_ZERO | _MM_FROUND_NO_EXC),
                     from_zero = _mm256_sub_ps(bin, half);
        const __m256 n = Signed ? _mm256_andnot_ps(_mm256_set1_ps(-0.0F), from_zero) : from_zero;
        __m256i decade = _mm256_set1_epi32(0x0c080400);
        for (const float next : lines_.next) decade = _mm256_sub_epi8(decade, at_least(n, next));
        const auto of_decade = [&](__m256i entries) {
            return _mm256_castsi256_ps(_mm256_shuffle_epi8(entries, decade));
        };
        const __m256 line =
            _mm256_min_ps(_mm256_fmadd_ps(of_decade(slopes_), n, of_decade(offsets_)), of_decade(lasts_));
        const __m256 low =
            _mm256_fmadd_ps(_mm256_set1_ps(lines_.low_slope), n, _mm256_set1_ps(lines_.low_offset));
        const __m256i above =
            _mm256_sub_epi32(_mm256_cvttps_epi32(_mm256_min_ps(line, low)), at_least(n, lines_.top));
        const __m256i sign = _mm256_srai_epi32(_mm256_castps_si256(from_zero), 31);
        if constexpr (!Signed) return _mm256_andnot_si256(sign, above);
        return _mm256_add_epi32(_mm256_set1_epi32(lines_.zero),
                                _mm256_sub_epi32(_mm256_xor_si256(above, sign), sign));
    }

    LinesOfBins lines_;
    __m256 inverse_;
    __m256i slopes_, offsets_, lasts_;
};

/// Decodes 8-bit codes: writes each code's number times `scale`.
inline void find_numbers_of_bytes(const CodeBook& book, const uint8_t* codes, float scale, float* values,
                                  int64_t count) {
    const auto* numbers = reinterpret_cast<const int32_t*>(book.values.data());
    int64_t i = 0;
    for (; i + 8 <= count; i += 8) {
        uint64_t eight;
        std::memcpy(&eight, codes + i, sizeof eight);
        // Eight loads take less time than AVX2's gather.
        const auto four = [&](int first) {
            const auto at = [&](int place) { return numbers[eight >> 8 * (first + place) & 255]; };
            return _mm_setr_epi32(at(0), at(1), at(2), at(3));
        };
        const __m256 found = _mm256_castsi256_ps(_mm256_set_m128i(four(4), four(0)));
        _mm256_storeu_ps(values + i, _mm256_mul_ps(found, _mm256_set1_ps(scale)));
    }
    for (; i < count; ++i) values[i] = book.values[codes[i]] * scale;
}

#endif

}  // namespace ringmaster::RINGMASTER_ISA
