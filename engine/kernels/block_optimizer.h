/// Optimizer states of one block as numbers and codes, and AdamW's update of its weights; float32 arithmetic
/// in the order in which bitsandbytes and torchao do it. Callers split blocks over threads.
#pragma once

#include <cstdint>

#include "engine/kernels/code_book.h"
#include "engine/kernels/fused.h"

namespace ringmaster {

/// What an update of AdamW's needs beside the elements, rounded once from float64.
struct AdamWNumbers {
    enum class Form {
        Blocks,   ///< bitsandbytes' of block-wise states
        Whole,    ///< bitsandbytes' of 32-bit states: epsilon inside, one step size
        Torchao,  ///< moments move towards the gradient
    };
    Form form = Form::Blocks;
    float beta1 = 0, beta2 = 0;
    float rest1 = 0, rest2 = 0;  ///< 1 − beta
    float decay = 0;             ///< learning rate · weight_decay
    float shrink = 1;            ///< 1 − decay
    float rate = 0;              ///< the learning rate
    float correction1 = 1;       ///< 1 − beta1^step
    float root2 = 1;             ///< √(1 − beta2^step)
    float step_size = 0;         ///< −rate ÷ correction1, in the form Whole times root2
    float epsilon = 0;           ///< in the form Whole times root2
};

struct BlockOptimizer {
    void (*decode)(const CodeBook& book, const uint8_t* codes, float scale, float* values, int64_t count);
    /// `scale` from scale_of: of the whole block, of which these may be a part.
    void (*encode)(const CodeBook& book, const float* values, float scale, uint8_t* codes, int64_t count);
    float (*largest)(const float* values, int64_t count);  ///< of the magnitudes
    /// Weights and both moments move.
    void (*adamw_float)(const AdamWNumbers& with, float* weights, const float* gradients, float* exp_avg,
                        float* exp_avg_sq, int64_t count);
    void (*adamw_bf16)(const AdamWNumbers& with, Bf16* weights, const Bf16* gradients, float* exp_avg,
                       float* exp_avg_sq, int64_t count);
};

const BlockOptimizer& block_optimizer();

/// The scale that a block's largest magnitude gives.
inline float scale_of(const CodeBook& book, float largest) {
    return book.search == CodeBook::Search::Nearest && largest < 1e-12F ? 1e-12F : largest;
}

}  // namespace ringmaster
