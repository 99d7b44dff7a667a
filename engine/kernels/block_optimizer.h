/// Converts one block of optimizer states between numbers and codes, and updates its weights with AdamW, in
/// float32, in the same order as bitsandbytes and torchao. Callers split blocks over threads.
#pragma once

#include <cstdint>

#include "engine/kernels/code_book.h"
#include "engine/kernels/fused.h"

namespace ringmaster {

/// Holds the numbers that an AdamW update needs besides the elements, each rounded once from float64.
struct AdamWNumbers {
    enum class Form {
        Blocks,  ///< bitsandbytes' update of block-wise states
        Whole,  ///< bitsandbytes' update of 32-bit states: epsilon and step size include the bias corrections
        Torchao,  ///< torchao's update: moments move towards the gradient
    };
    Form form = Form::Blocks;
    float beta1 = 0, beta2 = 0;
    float rest1 = 0, rest2 = 0;  ///< 1 − beta1, 1 − beta2
    float decay = 0;             ///< learning rate · weight_decay
    float shrink = 1;            ///< 1 − decay
    float rate = 0;              ///< learning rate
    float correction1 = 1;       ///< 1 − beta1^step
    float root2 = 1;             ///< √(1 − beta2^step)
    float step_size = 0;         ///< −rate ÷ correction1, times root2 in the form Whole
    float epsilon = 0;           ///< epsilon, times root2 in the form Whole
};

struct BlockOptimizer {
    void (*decode)(const CodeBook& book, const uint8_t* codes, float scale, float* values, int64_t count);
    /// Encodes values, which may be only part of a block. `scale` is scale_of() for the largest magnitude of
    /// the whole block.
    void (*encode)(const CodeBook& book, const float* values, float scale, uint8_t* codes, int64_t count);
    float (*largest)(const float* values, int64_t count);  ///< returns the largest magnitude
    /// Updates the weights and both moments.
    void (*adamw_float)(const AdamWNumbers& with, float* weights, const float* gradients, float* exp_avg,
                        float* exp_avg_sq, int64_t count);
    void (*adamw_bf16)(const AdamWNumbers& with, Bf16* weights, const Bf16* gradients, float* exp_avg,
                       float* exp_avg_sq, int64_t count);
};

const BlockOptimizer& block_optimizer();  ///< returns the kernels for this processor

/// Returns the scale of a block whose largest magnitude is `largest`.
inline float scale_of(const CodeBook& book, float largest) {
    return book.search == CodeBook::Search::Nearest && largest < 1e-12F ? 1e-12F : largest;
}

}  // namespace ringmaster
