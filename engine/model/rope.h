/// Rotary position embedding tables, with the scalings that transformers' modeling_rope_utils knows for these
/// models.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "engine/families/model_config.h"

namespace ringmaster {

struct RopeTables {
    at::Tensor cos_td;  ///< [T, pairs that turn] float32, attention scaling (yarn) multiplied in
    at::Tensor sin_td;
    bool interleaved = false;  ///< see rotate (ops.h)
    at::Tensor query_scale_t;  ///< [T] float32, by which queries grow with their position; undefined: they do not
};

/// `positions_t` int64 [T] on the model's device; `sequence_length` is of the whole sequence (the `dynamic`
/// scaling grows with it). Throws Error(Refused) on a scaling that it does not know. Sources: Su et al. 2021
/// (default); Peng et al. 2023, "YaRN", section 3 (yarn, dynamic NTK); Llama 3.1 (llama3);
/// Ding et al. 2024, "LongRoPE" (longrope: factors by the length of the whole sequence).
RopeTables make_rope_tables(const ModelConfig& model, const RopeConfig& rope, const at::Tensor& positions_t,
                            int64_t sequence_length);

}  // namespace ringmaster
