/// The bfloat16 matrix products that a processor makes itself, adding in float32, behind one face.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/kernels/key_softmax.h"

namespace ringmaster {

struct PanelProducts {
    PanelProduct product;
    void (*release)();  ///< what a thread holds of the processor, once its products are made
};

/// Those that attention over these CPU tensors is made of: null where float32 ones serve better, which is for
/// float32, for an odd head_dim, and where the processor has no bfloat16 products or they
/// are not what the plain ones are. RINGMASTER_CPU_PRODUCTS=plain takes the plain ones, =float32 none.
const PanelProducts* products_for(const at::Tensor& q_bhtd);

}  // namespace ringmaster
