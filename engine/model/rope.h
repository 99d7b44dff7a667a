/// Makes tables for rotary position embeddings, with the scalings that transformers' modeling_rope_utils has
/// for these models.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "engine/families/model_config.h"

namespace ringmaster {

struct RopeTables {
    at::Tensor cos_td;  ///< [T, rotated pairs] float32, with attention scaling (yarn)
    at::Tensor sin_td;
    bool interleaved = false;  ///< see rotate (ops.h)
    at::Tensor query_scale_t;  ///< [T] float32: queries' factors by position; undefined if queries have none
};

/// Returns the tables. `positions_t` is int64 [T] on the model's device; `sequence_length` is that of the
/// sequence on all ranks (the `dynamic` scaling depends on it). Throws Error(Refused) on an unknown scaling.
/// Sources: Su et al. 2021 (default); Peng et al. 2023, "YaRN", section 3 (yarn, dynamic NTK); Llama 3.1
/// (llama3); Ding et al. 2024, "LongRoPE" (longrope: factors by the length of the whole sequence).
RopeTables make_rope_tables(const ModelConfig& model, const RopeConfig& rope, const at::Tensor& positions_t,
                            int64_t sequence_length);

}  // namespace ringmaster
