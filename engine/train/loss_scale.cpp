#include "engine/train/loss_scale.h"

#include <ATen/ATen.h>

#include <limits>

namespace ringmaster {

namespace {

constexpr double kGrowth = 2, kBackoff = 0.5;
constexpr int64_t kGrowthInterval = 2000;
constexpr double kRoundsToInfinity = 65520;

}  // namespace

void LossScale::update(bool overflowed) {
    if (overflowed) {
        scale *= kBackoff;
        good_steps = 0;
        return;
    }
    if (++good_steps < kGrowthInterval) return;
    if (scale * kGrowth <= std::numeric_limits<float>::max()) scale *= kGrowth;
    good_steps = 0;
}

bool unscale_gradients(Parameters& parameters, double scale) {
    bool overflowed = false;
    for (int unit = 0; unit < parameters.units(); ++unit) {
        const at::Tensor own = parameters.own_slice(parameters.gradients(), unit);
        if (own.size(0) == 0) continue;
        const auto [least, most] = at::aminmax(own);
        const double largest = at::maximum(least.neg(), most).item<double>();
        overflowed |= !(largest < kRoundsToInfinity);
    }
    parameters.gradients().values.div_(scale);
    return overflowed;
}

}  // namespace ringmaster
