/// From columns of any length to what a chart of so many pixels shows, without losing a spike: each pixel
/// column keeps the least and the greatest of its steps.
#pragma once

#include <cstdint>
#include <vector>

#include "launcher/step_columns.h"

namespace ringmaster {

/// Pixel column `column` of `columns` holds these steps.
StepRange steps_of_column(const StepRange& range, int columns, int column);

/// One entry a pixel column; NaN where none of its steps is known.
struct Curve {
    std::vector<float> low, high, mean, last;

    size_t size() const { return last.size(); }
};

/// At most `width` columns; one a step where there are fewer steps.
Curve reduce(const StepColumns& steps, Measure figure, const StepRange& range, int width);

/// Exponential moving average with the bias of its beginning taken out: s = weight·s + (1 − weight)·x over
/// every step from the run's first, at the last step of each pixel column. Unknown steps leave it as it is.
/// weight in [0, 1): 0 is the raw curve.
std::vector<float> smoothed(const StepColumns& steps, Measure figure, const StepRange& range, int width,
                            double weight);

/// The same over a curve that is reduced already, `steps_a_column` steps each.
std::vector<float> smoothed(const std::vector<float>& values, double weight, double steps_a_column = 1);

enum class XAxis {
    Step,
    Tokens,   ///< trained on up to and with this step
    Seconds,  ///< since the run's first step began, by the clock
};

/// Where on the axis each pixel column lies: at its last step. Ascending; a step that is not there lies where
/// the one before it does.
std::vector<double> positions(const StepColumns& steps, XAxis axis, const StepRange& range, int width);

/// Many ranks in one: per pixel column the least, the greatest and the median of the ranks' means.
struct Spread {
    std::vector<float> low, high, median;
};
Spread spread_of(const std::vector<Curve>& ranks);

/// Indices of the `most` curves that lie farthest from the median over their columns, the farthest first.
std::vector<size_t> outliers(const std::vector<Curve>& ranks, const Spread& spread, size_t most);

/// Of the values that are numbers; NaN where there is none. Reorders them.
float median_of(std::vector<float>& values);

}  // namespace ringmaster
