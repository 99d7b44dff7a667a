/// What a chart shows, reduced to its pixels already (launcher/curves.h): a value, so that whoever makes it
/// needs no screen.
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

/// From the palette of the moment, so that a change of it needs no new data.
using ColourOf = std::function<QColor(const Colours&)>;

enum class Mark {
    Line,     ///< value; low…high as strokes where they are given; smooth over it, the raw then faint
    Dashed,   ///< value, as an estimate or a limit
    Points,   ///< value, as dots
    Band,     ///< low…high as a quiet area, value as a line in it
    Stacked,  ///< value on top of the stacked ones before it, as an area
};

struct ChartSeries {
    QString name;
    Mark mark = Mark::Line;
    ColourOf colour;
    std::vector<double> x;  ///< ascending; empty: the chart's
    std::vector<float> value;
    std::vector<float> low, high;  ///< of the steps that one pixel holds; may be empty
    std::vector<float> smooth;     ///< empty: not smoothed
    bool strong = false;           ///< thicker, above the others
    bool faint = false;            ///< another one was chosen
    int rank = -1;                 ///< that a click on it chooses; -1: none

    /// What a read-out says: the smoothed where it is drawn.
    const std::vector<float>& shown() const { return smooth.empty() ? value : smooth; }
};

struct ChartData {
    std::vector<double> x;
    std::vector<ChartSeries> series;
    Unit xUnit = Unit::Count, yUnit = Unit::Plain;
    QString xName;  ///< "step"
    bool logY = false;
    bool fromZero = false;  ///< the y axis begins at 0
    double xLow = std::numeric_limits<double>::quiet_NaN(),
           xHigh = std::numeric_limits<double>::quiet_NaN();  ///< NaN: as the data
    bool bridgeGaps = false;                                  ///< what is missing has only not been read yet

    const std::vector<double>& xOf(const ChartSeries& s) const { return s.x.empty() ? x : s.x; }
};

struct Extent {
    double low = 0, high = 1;
    bool operator==(const Extent&) const = default;
};

/// Of the x axis: as asked, else the data's; never empty.
Extent xExtent(const ChartData& data);
/// Of the y axis, with room above and below at round figures; in the logarithmic case both are above 0.
Extent yExtent(const ChartData& data, const Extent& x);
/// True where a logarithmic axis cannot show a figure: 0 or below.
bool hasBelowLog(const ChartData& data);

/// Index of the entry of `x` nearest to `at`; -1 where it is empty.
int nearestIndex(const std::vector<double>& x, double at);

/// What a series reads at `at`: its nearest entry that is a number, no farther than `within`.
std::optional<double> valueNear(const ChartData& data, const ChartSeries& series, double at, double within);

/// "Loss: last 1.842, falling. 8 ranks." for a screen reader.
QString describe(const ChartData& data);

/// A column for x and one (with a spread three) for each series; RFC 4180.
QString csvOf(const ChartData& data);

}  // namespace ringmaster
