/// Compares two to eight runs: their curves, the settings in which they differ, and by how much their figures
/// differ.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "launcher/alerts/alert.h"
#include "launcher/history/run_table.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

constexpr size_t kMostCompared = 8;

/// X axis of the curves.
enum class Along {
    Step,
    Tokens,  ///< tokens trained on so far
    Time,    ///< seconds spent in steps so far, without pauses between attempts, saving and evaluation
};

constexpr size_t kMostCurvePoints = 200'000;
constexpr size_t kRewardSteps = 10;

/// Rank 0's figures by step, in columns of equal length; NaN if a figure is unknown. If a run has
/// kMostCurvePoints steps or more, only every second, fourth, … step is kept.
struct RunCurves {
    std::vector<double> step, tokens, time_s;
    std::vector<double> loss, grad_norm, tokens_per_s, overhead;
    std::vector<double> reward;  ///< reward of sampled completions, or the margin of preferences
    std::vector<double> clip_share, sampler_gap;
    std::vector<double> eval_step, eval_loss;
    /// Alerts about the loss; alerts about slow ranks need other ranks' events, which are not read.
    std::vector<Alert> alerts;
    /// Minimum over all steps, including those not kept.
    double best_loss = std::numeric_limits<double>::quiet_NaN();

    std::vector<std::vector<double>*> of_steps() {
        return {&step,         &tokens,   &time_s, &loss,       &grad_norm,
                &tokens_per_s, &overhead, &reward, &clip_share, &sampler_gap};
    }
    const std::vector<double>& along(Along axis) const;
    std::optional<double> last_reward() const;  ///< mean of the last kRewardSteps steps that have a reward
};

/// Reads all events of rank 0.
RunCurves read_curves(const RunDirectory& run);

struct ComparedRun {
    RunRow row;
    RunCurves curves;
};

/// A key whose value is not the same in all runs; the value is nullopt for a run that lacks the key.
struct DifferingLine {
    std::string key;  ///< dotted path; list items by number
    std::vector<std::optional<std::string>> values;
    bool from_plan = false;  ///< true: computed by the plan; false: set in the file, by --set or in the form
};

enum class ComparedFigure {
    LastLoss,
    BestLoss,
    LastEvalLoss,
    LastReward,
    TokensPerSecond,
    StepTime,
    Overhead,
    PeakMemory,
    Duration,
    MemoryOverEstimate,  ///< measured ÷ estimated peak memory
    TimeOverEstimate,
};
bool less_is_better(ComparedFigure figure);
bool is_share(ComparedFigure figure);    ///< true for percentages; their differences are percentage points
bool has_better(ComparedFigure figure);  ///< false for durations and ratios to an estimate

/// Says if a run's figure is better or worse than the first run's.
enum class Change { Unknown, Same, Better, Worse, Differs };

struct FigureRow {
    ComparedFigure figure;
    std::vector<std::optional<double>> values;
    std::vector<Change> changes;  ///< one per run; the first is always Unknown
    std::vector<bool> sampled;    ///< one per run; true: not all steps of all ranks were read for the value
};

struct Comparison {
    std::vector<ComparedRun> runs;
    std::vector<DifferingLine> lines;
    std::vector<FigureRow> figures;  ///< figures that at least one run has
};

/// Compares a figure with the first run's. A difference of at most half a percent counts as the same.
Change change_of(ComparedFigure figure, std::optional<double> first, std::optional<double> other);

/// Compares the runs. Throws Error(Usage) for fewer than 2 or more than 8. A problem of one run is reported
/// in that run's row.
Comparison compare_runs(const std::vector<RunDirectory>& runs);

/// Returns only the differing lines of config.yaml, options.json (--set, ranks, …) and the plan.
std::vector<DifferingLine> differing_lines(const std::vector<RunDirectory>& runs);

}  // namespace ringmaster
