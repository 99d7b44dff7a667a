/// Quantizes and reads 4-bit weights as bitsandbytes does, block by block, on raw memory. Each kernel exists
/// for AVX-512, AVX2 and plain x86-64; `four_bit()` picks the processor's best at run time, and all give the
/// same bytes.
///
/// The elements of a block share a scale, the largest magnitude; an element is an entry of a code book of 16,
/// times that scale. Source: Dettmers et al. 2023, "QLoRA", section 3 and appendix E.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/kernels/fused.h"

namespace ringmaster {

/// Holds a code book's entries by code, and their codes in ascending order of the entries.
struct CodeBook16 {
    float values[16];
    uint8_t ascending[16];  ///< codes in ascending order of their entries
    float midpoints[15];    ///< midpoints of neighbouring entries; a greater value gets the upper code
};
const CodeBook16& nf4_book();
const CodeBook16& fp4_book();

struct FourBitKernels {
    /// Writes the codes of a block of `count` elements, two per byte, and returns its scale, the largest
    /// magnitude. With `divides`, which bitsandbytes uses for a short last block, elements are divided by the
    /// scale, which is then at least 1e-38. Otherwise they are multiplied by its reciprocal.
    float (*quantize)(const float* x, int64_t count, bool divides, const CodeBook16& book, uint8_t* codes);
    /// Writes elements [0, count) of blocks whose codes begin at codes[0]: book[code] · scales[block],
    /// computed in float32 and rounded to the element type.
    void (*dequantize_float)(const uint8_t* codes, const float* scales, int64_t count, int64_t block,
                             const CodeBook16& book, float* out);
    void (*dequantize_bf16)(const uint8_t* codes, const float* scales, int64_t count, int64_t block,
                            const CodeBook16& book, Bf16* out);
    void (*dequantize_fp16)(const uint8_t* codes, const float* scales, int64_t count, int64_t block,
                            const CodeBook16& book, Fp16* out);
};
const FourBitKernels& four_bit();  ///< returns the kernels for this processor

/// Returns the nearest entry of an ascending code book of 256 for each of 65,536 places in [−1, 1].
std::vector<uint8_t> places_of_map(const float* map);
/// Quantizes scales minus `offset`, in blocks of 256 that share a float32 scale, with a table from
/// places_of_map, as bitsandbytes does on a CPU.
void quantize_scales(const float* scales, int64_t count, float offset, const std::vector<uint8_t>& places,
                     uint8_t* codes, float* of_blocks);
/// Writes map[code] · of_blocks[i / 256] + offset, rounded twice.
void dequantize_scales(const uint8_t* codes, const float* of_blocks, const float* map, int64_t begin,
                       int64_t count, float offset, float* scales);

}  // namespace ringmaster
