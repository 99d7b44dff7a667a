/// Reduces columns of any length to the width of a chart in pixels without losing a spike: each pixel column
/// keeps the minimum and the maximum of its steps.
#pragma once

#include <cstdint>
#include <vector>

#include "launcher/history/step_columns.h"

namespace ringmaster {

/// Returns the steps that pixel column `column` of `columns` covers.
StepRange steps_of_column(const StepRange& range, int columns, int column);

/// A curve with one entry per pixel column; NaN if none of the column's steps is known.
struct Curve {
    std::vector<float> low, high, mean, last;

    size_t size() const { return last.size(); }
};

/// Reduces a figure to at most `width` columns; to one per step if there are fewer steps.
Curve reduce(const StepColumns& steps, Measure figure, const StepRange& range, int width);

/// Returns the exponential moving average at the last step of each pixel column: s = weight·s + (1 −
/// weight)·x with bias correction, over every step from the run's first. Unknown steps leave the average
/// unchanged. `weight` lies in [0, 1); 0 gives the raw curve.
std::vector<float> smoothed(const StepColumns& steps, Measure figure, const StepRange& range, int width,
                            double weight);

/// Smooths a curve that is already reduced, with `steps_a_column` steps per column.
std::vector<float> smoothed(const std::vector<float>& values, double weight, double steps_a_column = 1);

enum class XAxis {
    Step,
    Tokens,   ///< tokens trained on, up to and including this step
    Seconds,  ///< seconds by the clock since the run's first step began
};

/// Returns each pixel column's position on the axis, taken at its last step, in ascending order. A missing
/// step has the position of the step before it.
std::vector<double> positions(const StepColumns& steps, XAxis axis, const StepRange& range, int width);

/// Summarizes the curves of many ranks: for each pixel column the minimum, the maximum, and the median of the
/// means.
struct Spread {
    std::vector<float> low, high, median;
};
Spread spread_of(const std::vector<Curve>& ranks);

/// Returns the indices of the `most` curves that lie farthest from the median, the farthest first.
std::vector<size_t> outliers(const std::vector<Curve>& ranks, const Spread& spread, size_t most);

/// Returns the median of the values that are not NaN; NaN if there are none. Changes `values`.
float median_of(std::vector<float>& values);

}  // namespace ringmaster
