/// The rotary embeddings of a config.json.
#pragma once

#include "engine/families/families.h"

namespace ringmaster {

/// That of layers that see everything. Fields of a scaling that no table reads become obstacles.
RopeConfig read_rope(const ConfigFields& fields, const Family& family, ModelConfig& model);

/// A second one for layers with a window: rope_parameters.sliding_attention, or without scaling by `theta`.
RopeConfig read_window_rope(const ConfigFields& fields, double theta);

}  // namespace ringmaster
