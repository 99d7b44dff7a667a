/// 4-bit weights as bitsandbytes makes and reads them, block by block, on raw memory. Each kernel exists for
/// AVX-512, AVX2 and plain x86-64; `four_bit()` picks at run time by what the processor has, and all give the
/// same bytes.
///
/// A block of elements shares a scale, its largest magnitude; an element is the entry of a code book of 16,
/// times that scale. Source: Dettmers et al. 2023, "QLoRA", section 3 and appendix E.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/kernels/fused.h"

namespace ringmaster {

/// The entries of a code book by their codes, and in ascending order of the entries.
struct CodeBook16 {
    float values[16];
    uint8_t ascending[16];  ///< codes
    float midpoints[15];    ///< between neighbours in that order; what lies above one goes up
};
const CodeBook16& nf4_book();
const CodeBook16& fp4_book();

struct FourBitKernels {
    /// Codes of `count` elements, a block, two to a byte; returns its largest magnitude. The last block of a
    /// tensor may be short: it `divides` by the scale where others multiply by the reciprocal, as
    /// bitsandbytes does.
    float (*quantize)(const float* x, int64_t count, bool divides, const CodeBook16& book, uint8_t* codes);
    /// Elements [0, count) of blocks that begin at codes[0]: book[code] · scales[block], in float32, rounded
    /// to the element.
    void (*dequantize_float)(const uint8_t* codes, const float* scales, int64_t count, int64_t block,
                             const CodeBook16& book, float* out);
    void (*dequantize_bf16)(const uint8_t* codes, const float* scales, int64_t count, int64_t block,
                            const CodeBook16& book, Bf16* out);
};
const FourBitKernels& four_bit();

/// The nearest entry of a code book of 256, ascending, for each of 65,536 places in [−1, 1].
std::vector<uint8_t> places_of_map(const float* map);
/// Quantises scales less `offset`, in blocks of 256 that share a float32, by such a table: as bitsandbytes
/// does on a CPU.
void quantize_scales(const float* scales, int64_t count, float offset, const std::vector<uint8_t>& places,
                     uint8_t* codes, float* of_blocks);
/// map[code] · of_blocks[i / 256] + offset, rounded twice.
void dequantize_scales(const uint8_t* codes, const float* of_blocks, const float* map, int64_t begin,
                       int64_t count, float offset, float* scales);

}  // namespace ringmaster
