/// Reads single elements of flat tensors, for proofs.
#pragma once

#include "engine/optimizers/optimizer.h"

namespace ringmaster {

/// Returns the values at these places as float64 on the CPU.
at::Tensor values_at(const Parameters& parameters, const Flat& flat,
                     const std::vector<Optimizer::Place>& places);

}  // namespace ringmaster
