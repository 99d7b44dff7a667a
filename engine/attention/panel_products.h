/// Gives one interface to the bfloat16 matrix products of processors, which sum in float32.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/kernels/key_softmax.h"

namespace ringmaster {

struct PanelProducts {
    PanelProduct product;
    /// Releases the processor state, such as AMX tiles, that this thread's products set up.
    void (*release)();
};

/// Returns the products for attention over these CPU tensors. Returns null if the caller should use float32
/// products: for float32 inputs, for an odd head_dim, and on a processor that has no bfloat16 products or
/// whose products differ from the plain ones. RINGMASTER_CPU_PRODUCTS=plain forces the plain products, and
/// RINGMASTER_CPU_PRODUCTS=float32 forces null.
const PanelProducts* products_for(const at::Tensor& q_bhtd);

}  // namespace ringmaster
