/// Two to eight runs beside each other: their curves, what differs in what was asked for, and by how much
/// their figures differ.
#pragma once

#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "launcher/run_directory.h"
#include "launcher/run_table.h"

namespace ringmaster {

constexpr size_t kMostCompared = 8;

/// What the curves are drawn over.
enum class Along {
    Step,
    Tokens,  ///< trained on so far
    Time,    ///< seconds in steps so far: without pauses between attempts, saving and evaluation
};

constexpr size_t kMostCurvePoints = 200'000;

/// Rank 0's figures by step, columns of equal length; NaN if a figure is not known. Of a run with
/// kMostCurvePoints steps and more only every second, fourth … step is kept.
struct RunCurves {
    std::vector<double> step, tokens, time_s;
    std::vector<double> loss, grad_norm, tokens_per_s, overhead;
    std::vector<double> eval_step, eval_loss;
    double best_loss = std::numeric_limits<double>::quiet_NaN();  ///< of all steps

    std::vector<std::vector<double>*> of_steps() {
        return {&step, &tokens, &time_s, &loss, &grad_norm, &tokens_per_s, &overhead};
    }
    const std::vector<double>& along(Along axis) const;
};

/// Reads all of rank 0's events.
RunCurves read_curves(const RunDirectory& run);

struct ComparedRun {
    RunRow row;
    RunCurves curves;
};

/// One key whose value is not the same in all; a value is empty where the run does not have it.
struct DifferingLine {
    std::string key;  ///< dotted, list items by number
    std::vector<std::optional<std::string>> values;
    bool from_plan = false;  ///< follows from the file and the machine; else it stands in the file or --set
};

enum class ComparedFigure {
    LastLoss,
    BestLoss,
    LastEvalLoss,
    TokensPerSecond,
    StepTime,
    Overhead,
    PeakMemory,
    Duration,
    MemoryOverEstimate,  ///< measured ÷ estimated
    TimeOverEstimate,
};
bool less_is_better(ComparedFigure figure);
bool has_better(ComparedFigure figure);  ///< false where neither is: how long, how near an estimate

/// Against the first run.
enum class Change { Unknown, Same, Better, Worse, Differs };

struct FigureRow {
    ComparedFigure figure;
    std::vector<std::optional<double>> values;
    std::vector<Change> changes;  ///< the first is Unknown
};

struct Comparison {
    std::vector<ComparedRun> runs;
    std::vector<DifferingLine> lines;
    std::vector<FigureRow> figures;  ///< those that some run has
};

/// Differences below half a percent count as the same.
Change change_of(ComparedFigure figure, std::optional<double> first, std::optional<double> other);

/// Throws Error(Usage) for fewer than 2 or more than 8 runs. What is wrong with one of them is its row's
/// problem.
Comparison compare_runs(const std::vector<RunDirectory>& runs);

/// The lines alone: of config.yaml, options.json (--set, ranks, …) and the plan.
std::vector<DifferingLine> differing_lines(const std::vector<RunDirectory>& runs);

}  // namespace ringmaster
