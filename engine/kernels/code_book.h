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
/// Bins above zero have the numbers n = 0.5, 1.5, …; the code of bin n is
///     zero + ⌊min(slope · n + offset, last, low_slope · n + low_offset)⌋ + (1 if n ≥ top)
/// with `slope`, `offset` and `last` of the decade that n is in. Bins below zero have the mirrored codes,
/// clamped to at least 0.
struct LinesOfBins {
    /// Number of decades, which begin at 1e-4, 1e-3, 0.01 and 0.1.
    static constexpr std::size_t kDecades = 4;
    int zero = 0;  ///< code of the number 0
    std::array<float, kDecades> slope{}, offset{}, last{};
    std::array<float, kDecades - 1> next{};  ///< the n at which the next decade begins
    float top = 0;                           ///< from this n on, bins have the code of the number 1
    float low_slope = 0, low_offset = 0;     ///< the line of the bins below 1e-4
};

struct CodeBook {
    /// Binned (bitsandbytes on the CPU) looks up number · (1 ÷ scale) in 65,536 equal bins from -1 to 1.
    /// Nearest (torchao) takes the code nearest to number ÷ scale, and the upper one of two equally near
    /// codes; a scale is at least 1e-12.
    enum class Search { Binned, Nearest };

    int bits = 8;
    Search search = Search::Binned;
    std::array<float, 256> values{};           ///< ascending; 4-bit books use 16 of them
    std::array<uint16_t, 256> halves[2] = {};  ///< bits of the values, the lower half first
    /// Binned: the code of each bin. Nearest: the lowest code among all numbers with the same upper 16 bits,
    /// indexed by these bits.
    std::vector<uint8_t> table;
    /// Nearest: smallest number that gets the next code; infinity if there is none.
    std::array<float, 256> next_from{};
    /// Holds the smallest number of each code of a 4-bit book, as a search tree: the children of node k are
    /// nodes 2k and 2k + 1.
    std::array<float, 16> tree_of_numbers{};
    /// Holds the first bin of each code (Binned) as a search tree. Level l occupies entries [2^l, 2^(l + 1)).
    /// A node's index within its level is the path to it: one bit per choice, the first choice in the lowest
    /// bit. A 1 means "at or above the node's bin".
    std::array<uint16_t, 256> tree_of_bins{};
    LinesOfBins lines;  ///< Binned

    int64_t bytes_of(int64_t elements) const { return bits == 8 ? elements : (elements + 1) / 2; }
};

const CodeBook& bitsandbytes_book(bool is_signed);
const CodeBook& torchao_book(int bits, bool is_signed);

}  // namespace ringmaster
