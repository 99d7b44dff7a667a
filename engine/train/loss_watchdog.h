/// Ends a run whose loss stays too high: axolotl's loss_watchdog_threshold and loss_watchdog_patience
/// (axolotl 0.19, utils/callbacks, LossWatchDogCallback).
#pragma once

#include <cstdint>
#include <optional>

#include "engine/config/config.h"

namespace ringmaster {

/// Holds the watchdog's state between steps; checkpoints save it.
struct WatchedLoss {
    std::optional<double> logged;  ///< mean loss in the newest log entry; nullopt if an evaluation is newer
    double sum = 0;                ///< sum of the losses since that entry
    int64_t steps = 0;             ///< number of losses since that entry
    int64_t high = 0;              ///< steps in a row that found a logged loss above the threshold
};

/// Adds the step's loss to `watched`, and returns whether the run must end after this step. As in axolotl,
/// the mean loss is logged every logging_steps steps. Each step compares the newest logged loss, which is
/// from earlier steps, with the threshold.
bool loss_stays_high(const Config& config, int64_t step, double loss, WatchedLoss& watched);

}  // namespace ringmaster
