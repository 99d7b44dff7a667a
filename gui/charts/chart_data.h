/// Holds what a chart shows, already reduced to its pixels (launcher/history/curves.h). It is a plain value,
/// so that no screen is needed to make it.
#pragma once

#include <QColor>
#include <QString>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "gui/charts/ticks.h"
#include "gui/look/look.h"

namespace ringmaster {

/// Returns a colour from the current palette, so that a change of palette needs no new data.
using ColourOf = std::function<QColor(const Colours&)>;

enum class Mark {
    Line,     ///< draws `value`, with vertical strokes from `low` to `high`; `smooth` is drawn on top, and
              ///< `value` then fades
    Dashed,   ///< value as a dashed line: an estimate or a limit
    Points,   ///< value as dots
    Band,     ///< low…high as a pale area, value as a line in it
    Stacked,  ///< value as an area, stacked on the previous Stacked series
};

struct ChartSeries {
    QString name;
    Mark mark = Mark::Line;
    ColourOf colour;
    std::vector<double> x;  ///< ascending; if empty, the chart's x is used
    std::vector<float> value;
    std::vector<float> low, high;  ///< range of the values in the steps that share one pixel; may be empty
    std::vector<float> smooth;     ///< empty if not smoothed
    bool strong = false;           ///< drawn thicker, above the others
    bool faint = false;            ///< drawn faint because another series is chosen
    int rank = -1;                 ///< rank that a click on the series chooses; -1: none

    /// Returns the values that a read-out shows: the smoothed values if they are drawn.
    const std::vector<float>& shown() const { return smooth.empty() ? value : smooth; }
};

/// Marks a moment on the x axis.
struct ChartMark {
    double x = 0;
    QString text;         ///< shown in the read-out when it is near the mark
    bool strong = false;  ///< true: a dashed line over the full height; false: a triangle at the bottom
};

struct ChartData {
    std::vector<double> x;
    std::vector<ChartSeries> series;
    std::vector<ChartMark> marks;
    QString markName;    ///< the legend's name for the triangles
    QString strongName;  ///< the legend's name for the dashed lines of strong marks
    Unit xUnit = Unit::Count, yUnit = Unit::Plain;
    QString xName;  ///< name of x, such as "step"
    bool logY = false;
    bool fromZero = false;  ///< true if the y axis begins at 0
    double xLow = std::numeric_limits<double>::quiet_NaN(),
           xHigh = std::numeric_limits<double>::quiet_NaN();  ///< NaN: taken from the data
    bool bridgeGaps = false;                                  ///< true: draws across entries not read yet

    const std::vector<double>& xOf(const ChartSeries& s) const { return s.x.empty() ? x : s.x; }
};

struct Extent {
    double low = 0, high = 1;
    bool operator==(const Extent&) const = default;
};

/// Returns the range of the x axis: xLow to xHigh if set, otherwise the data's; never empty.
Extent xExtent(const ChartData& data);
/// Returns the range of the y axis, widened to round figures; on a logarithmic axis both ends are above 0.
Extent yExtent(const ChartData& data, const Extent& x);
bool hasFigures(const ChartData& data);  ///< true if any series has figures
/// Returns true if a figure is 0 or below, which a logarithmic axis cannot show.
bool hasBelowLog(const ChartData& data);

/// Returns the index of the entry of `x` nearest to `at`; -1 if `x` is empty.
int nearestIndex(const std::vector<double>& x, double at);

/// Returns a series' value from the entry nearest to `at` that is not NaN. Returns nothing if that entry is
/// farther than `within`.
std::optional<double> valueNear(const ChartData& data, const ChartSeries& series, double at, double within);

/// Returns text for screen readers: "Loss: last 1.842, falling. 8 ranks."
QString describe(const ChartData& data);

/// Returns the data as CSV (RFC 4180): a column for x, and one per series, or three if it has a spread.
QString csvOf(const ChartData& data);

}  // namespace ringmaster
