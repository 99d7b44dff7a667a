/// Defines the figures of a run once for the terminal, the app, the browser and exports: overhead,
/// throughput, seconds of a step, remaining time, and duration.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/events/run_state.h"
#include "launcher/history/history.h"

namespace ringmaster {

/// Adds up one rank's steps.
struct StepSums {
    double step_s = 0, tokens = 0, exposed_s = 0;
    int64_t steps = 0;

    void add(const StepEvent& step);  ///< skips a step without a valid time

    std::optional<double> seconds() const {
        return steps > 0 ? std::optional(step_s / static_cast<double>(steps)) : std::nullopt;
    }
    std::optional<double> overhead() const { return share(exposed_s); }  ///< exposed_comm_s ÷ step_s
    std::optional<double> tokens_per_s() const { return share(tokens); }

  private:
    std::optional<double> share(double sum) const {
        return steps > 0 ? std::optional(sum / step_s) : std::nullopt;
    }
};

StepSums sums_of(const StepEvent& step);

constexpr int64_t kRecentSteps = 10;  ///< steps that rates are averaged over
/// Adds up the rank's last kRecentSteps steps.
StepSums recent_sums(const RankHistory& rank);
/// Returns the mean of the ranks' overheads; nullopt if none is known.
std::optional<double> mean_overhead(const std::vector<StepSums>& ranks);

/// Returns the rank from which to read figures that are the same on all ranks: the first, unless another has
/// over twice as many steps. Returns null if there are no steps.
const RankHistory* reference(const RunHistory& history);

/// The run summarized in one line.
struct Headline {
    int64_t step = 0;
    std::optional<int64_t> total_steps;
    std::optional<double> loss;
    std::optional<double> eta_s;         ///< seconds left; nullopt once the run is over
    std::optional<double> tokens_per_s;  ///< from rank 0's last steps
    std::optional<double> overhead;      ///< mean over ranks and the last steps
    std::optional<double> lr, grad_norm;
    std::optional<PhaseEvent> phase;  ///< set while the run is in a phase other than training
};
Headline headline(const RunHistory& run, std::optional<int64_t> total_steps);

/// Returns the seconds that all attempts before the last one ran.
double ran_before_s(const RunDirectory& run, const RunState& state);
/// Returns the seconds that all attempts ran, the last one until its end or `now`; nullopt if the run never
/// started.
std::optional<double> duration_s(const RunState& state, double ran_before_s, double now);

}  // namespace ringmaster
