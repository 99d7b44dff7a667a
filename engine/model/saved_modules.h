/// Handles an embedding and a head that are trained in full with an adapter (PEFT's modules_to_save): they
/// are among the adapter's parameters, and passes read them there instead of in the model.
#pragma once

#include <utility>
#include <vector>

#include "engine/model/lora.h"

namespace ringmaster {

/// Return the parameters that hold the embedding or head in use. `adapter` may be null.
Parameters& embedding_holder(Parameters& weights, Adapter* adapter);
Parameters& head_holder(Parameters& weights, Adapter* adapter);

/// Returns the units that the head's pass reads, each with the parameters that hold it.
std::vector<std::pair<Parameters*, int>> units_of_head(Parameters& weights, Adapter* adapter);

/// Initialises a new adapter: A gets random values, B zeros, DoRA's magnitudes the lengths of the matrices'
/// rows, and an adapted embedding or head the model's values. All ranks of a shard group take part.
void initialize_adapter(TrainedModel& trained, const ModelConfig& model, int64_t seed);

}  // namespace ringmaster
