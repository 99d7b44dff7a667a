/// Computes learning-rate schedules as factors of the rate, one function each.
#pragma once

#include "engine/config/config.h"

namespace ringmaster {

/// The position of a step in its run, in steps.
struct RatePoint {
    double at = 0;  ///< completed steps
    double warmup = 0;
    double total = 0;

    double progress() const;  ///< rises from 0 at the warmup's end to 1 at the run's end
};

/// Returns the factor of config.lr_scheduler at a point; each schedule names its source.
double rate_factor(const Config& config, const RatePoint& point);

}  // namespace ringmaster
