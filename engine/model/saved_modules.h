/// An embedding and a head that are trained whole beside an adapter (PEFT's modules_to_save): they lie among
/// the adapter's parameters, and the passes read them there in place of the model's.
#pragma once

#include <utility>
#include <vector>

#include "engine/model/lora.h"

namespace ringmaster {

/// The parameters whose embedding or head is computed with. `adapter` may be null.
Parameters& embedding_holder(Parameters& weights, Adapter* adapter);
Parameters& head_holder(Parameters& weights, Adapter* adapter);

/// The units that the head's pass reads, each with the parameters that hold it.
std::vector<std::pair<Parameters*, int>> units_of_head(Parameters& weights, Adapter* adapter);

/// Gives a new adapter its values: A random and B zero, an embedding or head of its own as the model's. All
/// ranks of a shard group take part.
void initialize_adapter(Parameters& adapter, Parameters& weights, const ModelConfig& model, int64_t seed);

}  // namespace ringmaster
