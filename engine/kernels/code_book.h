/// Holds a code book for block-wise optimizer states: the number that each code stands for, and tables to
/// find the code of a number.
///
/// Source: Dettmers 2015, "8-Bit Approximations for Parallelism in Deep Learning" (dynamic tree
/// quantisation), as bitsandbytes and torchao build the maps.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace ringmaster {

/// Finds bitsandbytes' codes by arithmetic, because within a decade of numbers the codes are equally spaced.
/// The code of the n-th bin above zero, counted from 0.5 on, is
///     zero + ⌊min(slope · n + offset, last, low_slope · n + low_offset)⌋ + (1 if n ≥ top)
/// with `slope`, `offset` and `last` of the decade that n is in. Bins below zero have the mirrored codes, at
/// least 0.
struct LinesOfBins {
    static constexpr std::size_t kDecades = 4;  ///< from 1e-4, 1e-3, 0.01 and 0.1
    int zero = 0;                               ///< code of the number 0
    std::array<float, kDecades> slope{}, offset{}, last{};
    std::array<float, kDecades - 1> next{};  ///< the n from which the next decade counts
    float top = 0;                           ///< the n from which the code is that of 1
    float low_slope = 0, low_offset = 0;     ///< the line of the bins below 1e-4
};

struct CodeBook {
    /// Binned (bitsandbytes on the CPU) looks up number · (1 ÷ scale) in 65,536 equal bins from -1 to 1.
    /// Nearest (torchao) takes the code nearest to number ÷ scale, ties up; a scale is at least 1e-12.
    enum class Search { Binned, Nearest };

    int bits = 8;
    Search search = Search::Binned;
    std::array<float, 256> values{};           ///< ascending; 4-bit books use 16 of them
    std::array<uint16_t, 256> halves[2] = {};  ///< bits of the values, the lower half first
    /// Holds each bin's code (Binned), or the lowest code of the numbers with these upper 16 bits (Nearest).
    std::vector<uint8_t> table;
    std::array<float, 256> next_from{};  ///< Nearest: least number of the next code; infinity: none
    /// Holds the lower ends of a 4-bit book's codes as a search tree: node k's children are 2k and 2k + 1.
    std::array<float, 16> tree_of_numbers{};
    /// Holds the first bins of the codes (Binned) as a search tree: level l lies at [2^l, 2^(l + 1)), its
    /// nodes ordered by the paths to them, whose lowest bit is the first choice (1: at or above the bin).
    std::array<uint16_t, 256> tree_of_bins{};
    LinesOfBins lines;  ///< Binned

    int64_t bytes_of(int64_t elements) const { return bits == 8 ? elements : (elements + 1) / 2; }
};

const CodeBook& bitsandbytes_book(bool is_signed);
const CodeBook& torchao_book(int bits, bool is_signed);

}  // namespace ringmaster
