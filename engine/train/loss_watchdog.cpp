#include "engine/train/loss_watchdog.h"

namespace ringmaster {

bool loss_stays_high(const Config& config, int64_t step, double loss, WatchedLoss& watched) {
    if (!config.loss_watchdog_threshold) return false;
    if (watched.logged)
        watched.high = *watched.logged > *config.loss_watchdog_threshold ? watched.high + 1 : 0;
    watched.sum += loss;
    ++watched.steps;
    if (step % config.logs_every() == 0) {
        watched.logged = watched.sum / static_cast<double>(watched.steps);
        watched.sum = 0, watched.steps = 0;
    }
    return watched.high >= config.loss_watchdog_patience;
}

}  // namespace ringmaster
