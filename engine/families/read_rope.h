/// Reads the rotary embeddings of a config.json.
#pragma once

#include "engine/families/families.h"

namespace ringmaster {

/// Returns the rope of layers without a window. Unknown fields of a scaling become obstacles.
RopeConfig read_rope(const ConfigFields& fields, const Family& family, ModelConfig& model);

/// Reads `rotary_dim`, the number of elements of a head that are rotated; uses `otherwise` if the field is
/// absent.
void read_rotary_dim(const ConfigFields& fields, ModelConfig& model, int64_t otherwise);

/// Returns the rope of layers with a window: rope_parameters.sliding_attention, or `theta` without scaling.
RopeConfig read_window_rope(const ConfigFields& fields, double theta);

}  // namespace ringmaster
