/// Scales the loss under `fp16: true`, so that gradients stay within float16's range, as torch.amp.GradScaler
/// does: the loss is multiplied by the scale, gradients are divided by it, and a step whose gradients float16
/// cannot hold is skipped. Source: Micikevicius et al. 2018, "Mixed Precision Training", section 3.2.
///
/// Autocast keeps the gradients of an adapter's matrices in float16, where 65,520 and more are infinite. Here
/// these gradients are float32 sums over micro-batches and ranks. The limit applies to the sum over the step,
/// so the mesh does not change which steps are skipped. Partial sums (of a ring, a rank or a micro-batch) are
/// float32, and do not overflow.
#pragma once

#include <cstdint>

#include "engine/model/parameters.h"

namespace ringmaster {

/// Holds the scale of the next step. The defaults are GradScaler's.
struct LossScale {
    double scale = 65536;
    int64_t good_steps = 0;  ///< steps since the last change of the scale

    /// Halves the scale after an overflow; doubles it after 2,000 steps without one.
    void update(bool overflowed);
    /// Returns whether a smaller scale cannot help: the scale is below 1, after 17 overflows in a row from
    /// the first scale.
    bool is_least() const { return scale < 1; }
};

/// Divides the gradients by the scale. Returns whether, before that, a gradient in this rank's slices was not
/// finite or out of float16's range.
bool unscale_gradients(Parameters& parameters, double scale);

}  // namespace ringmaster
