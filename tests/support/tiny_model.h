/// Returns the shape of a decoder that computes in almost no time.
#pragma once

#include "engine/families/model_config.h"

namespace ringmaster {

inline ModelConfig tiny_model() {
    ModelConfig model;
    model.model_type = "llama";
    model.hidden_size = 32;
    model.intermediate_size = 48;
    model.num_layers = 2;
    model.num_heads = 4;
    model.num_kv_heads = 2;
    model.head_dim = 8;
    model.vocab_size = 61;
    model.max_position_embeddings = 64;
    return model;
}

}  // namespace ringmaster
