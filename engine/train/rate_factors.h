/// Learning-rate schedules as factors of the rate, one function each.
#pragma once

#include "engine/config/config.h"

namespace ringmaster {

/// Where a step lies in its run.
struct RatePoint {
    double at = 0;  ///< completed steps
    double warmup = 0;
    double total = 0;

    double progress() const;  ///< from 0 at the end of the warmup to 1 at the run's end
};

/// Of config.lr_scheduler, at a point; sources at each.
double rate_factor(const Config& config, const RatePoint& point);

}  // namespace ringmaster
