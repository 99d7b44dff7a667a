/// Decides when the ranks of a ring send latents in place of keys and values: in multi-head latent attention,
/// a token's keys and values of all heads come from one short vector. Shared by the engine and the plan.
#pragma once

#include "engine/plan/memory/memory.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// Describes how keys and values reach other ranks.
struct KeyTravel {
    int ring = 1;
    int ulysses = 1;
    int64_t gathered_heads = 0;  ///< key/value heads gathered at a time; 0: keys and values go round the ring
    int64_t chunks = 1;          ///< parts of a sequence that are computed one after the other
    bool varies = false;         ///< result of products_vary
};

/// Returns whether a product depends on more than a token's vector: the outliers of int8 products depend on
/// all tokens of a rank, and an adapter's dropout depends on a token's place in the data.
bool products_vary(const Quantization& quantization, const Lora& lora);

/// Return the length of the vector that ranks send for a token: its latent, and the rotated part of its keys.
/// 0: ranks send keys and values.
int64_t sent_latent_width(const ModelConfig& model, const KeyTravel& travel);
int64_t sent_latent_width(const MemoryInputs& in);
int64_t sent_latent_width(const Plan& plan);  ///< Returns the length for a plan whose model is known.

}  // namespace ringmaster
