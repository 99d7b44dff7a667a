/// Counts an adapter's parameters.
#pragma once

#include "engine/families/model_config.h"

namespace ringmaster {

/// Returns how many elements an adapter's units have: an embedding and a head trained in full, and the
/// largest layer.
UnitSizes lora_unit_sizes(const ModelConfig& model, const Lora& lora);
int64_t lora_count(const ModelConfig& model, const Lora& lora);  ///< elements of the adapter

}  // namespace ringmaster
