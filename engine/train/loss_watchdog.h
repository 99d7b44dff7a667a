/// Ends a run whose loss stays too high: axolotl's loss_watchdog_threshold and loss_watchdog_patience
/// (axolotl 0.19, utils/callbacks, LossWatchDogCallback).
#pragma once

#include <cstdint>
#include <optional>

#include "engine/config/config.h"

namespace ringmaster {

/// Holds what the watchdog remembers between steps; checkpoints keep it.
struct WatchedLoss {
    std::optional<double> logged;  ///< mean loss in the newest log entry; none if an evaluation is newer
    double sum = 0;                ///< losses since that entry
    int64_t steps = 0;             ///< number of those losses
    int64_t high = 0;              ///< steps in a row that found a logged loss above the threshold
};

/// Returns whether the run ends after this step, and takes note of the step's loss. As in axolotl, a step
/// looks at the newest logged loss, which is that of an earlier step, and a loss is logged every
/// logging_steps steps as the mean over them.
bool loss_stays_high(const Config& config, int64_t step, double loss, WatchedLoss& watched);

}  // namespace ringmaster
