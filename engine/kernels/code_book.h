/// The numbers that codes of block-wise optimizer states stand for, and how a number finds its code.
///
/// Source: Dettmers 2015, "8-Bit Approximations for Parallelism in Deep Learning" (dynamic tree
/// quantisation), as bitsandbytes and torchao build the maps.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

namespace ringmaster {

struct CodeBook {
    /// Binned: bitsandbytes on the CPU, by 65,536 equal bins from -1 to 1, of a number times 1 ÷ scale.
    /// Nearest: torchao, the nearest code, ties up, of a number ÷ scale; a scale is 1e-12 at least.
    enum class Search { Binned, Nearest };

    int bits = 8;
    Search search = Search::Binned;
    std::array<float, 256> values{};  ///< ascending; 16 of them for 4 bits
    /// Binned: the code of each bin. Nearest: the lowest code of the numbers whose upper 16 bits are these.
    std::vector<uint8_t> table;
    std::array<float, 256> next_from{};  ///< Nearest: from here on a number has a larger code; infinity

    int64_t bytes_of(int64_t elements) const { return bits == 8 ? elements : (elements + 1) / 2; }
};

const CodeBook& bitsandbytes_book(bool is_signed);
const CodeBook& torchao_book(int bits, bool is_signed);

}  // namespace ringmaster
