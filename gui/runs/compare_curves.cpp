#include "gui/runs/compare_curves.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

namespace ringmaster {

namespace {

struct CompareCurves {
    Q_DECLARE_TR_FUNCTIONS(CompareCurves)
};

const std::vector<double>& columnOf(const RunCurves& curves, CurveKind kind) {
    switch (kind) {
        case CurveKind::TokensPerSecond:
            return curves.tokens_per_s;
        case CurveKind::Overhead:
            return curves.overhead;
        case CurveKind::GradNorm:
            return curves.grad_norm;
        case CurveKind::Reward:
            return curves.reward;
        case CurveKind::Loss:
            break;
    }
    return curves.loss;
}

/// Adds one point per group of neighbouring steps: their mean, with their lowest and highest value.
void reduce(const std::vector<double>& x, const std::vector<double>& y, size_t points, ChartSeries& into) {
    const size_t step = std::max<size_t>(1, (x.size() + points - 1) / std::max<size_t>(1, points));
    for (size_t first = 0; first < x.size(); first += step) {
        double sum = 0, low = std::numeric_limits<double>::infinity(), high = -low;
        size_t count = 0;
        const size_t end = std::min(first + step, x.size());
        for (size_t at = first; at < end; ++at) {
            if (!std::isfinite(y[at])) continue;
            sum += y[at];
            low = std::min(low, y[at]);
            high = std::max(high, y[at]);
            ++count;
        }
        const float nan = std::numeric_limits<float>::quiet_NaN();
        into.x.push_back(x[end - 1]);
        into.value.push_back(count > 0 ? float(sum / double(count)) : nan);
        if (step > 1) {
            into.low.push_back(count > 0 ? float(low) : nan);
            into.high.push_back(count > 0 ? float(high) : nan);
        }
    }
}

}  // namespace

bool hasCurve(const Comparison& comparison, CurveKind kind) {
    return std::any_of(comparison.runs.begin(), comparison.runs.end(), [kind](const ComparedRun& run) {
        const std::vector<double>& column = columnOf(run.curves, kind);
        return std::any_of(column.begin(), column.end(), [](double value) { return std::isfinite(value); });
    });
}

ColourOf colourOfRun(size_t index) {
    return [index](const Colours& colours) { return rankColour(int(index), colours); };
}

ChartData chartOf(const Comparison& comparison, CurveKind kind, Along along, int width, bool logarithmic) {
    ChartData data;
    for (size_t index = 0; index < comparison.runs.size(); ++index) {
        const ComparedRun& run = comparison.runs[index];
        ChartSeries series;
        series.name = QString::fromStdString(run.row.name);
        series.colour = colourOfRun(index);
        reduce(run.curves.along(along), columnOf(run.curves, kind), size_t(std::max(width, 100)), series);
        if (!series.x.empty()) data.series.push_back(std::move(series));
    }
    data.logY = logarithmic && kind == CurveKind::Loss;
    data.fromZero = kind == CurveKind::Overhead || kind == CurveKind::TokensPerSecond;
    data.yUnit = kind == CurveKind::Loss              ? Unit::Loss
                 : kind == CurveKind::TokensPerSecond ? Unit::Rate
                 : kind == CurveKind::Overhead        ? Unit::Percent
                                                      : Unit::Plain;
    data.xUnit = along == Along::Time ? Unit::Seconds : along == Along::Tokens ? Unit::Rate : Unit::Count;
    data.xName = along == Along::Time     ? CompareCurves::tr("time in steps")
                 : along == Along::Tokens ? CompareCurves::tr("tokens")
                                          : CompareCurves::tr("step");
    return data;
}

}  // namespace ringmaster
