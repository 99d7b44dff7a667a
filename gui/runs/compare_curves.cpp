#include "gui/runs/compare_curves.h"

#include <QCoreApplication>
#include <algorithm>
#include <cmath>

#include "gui/session/alert_words.h"

namespace ringmaster {

using namespace Qt::Literals::StringLiterals;

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
        case CurveKind::ClipShare:
            return curves.clip_share;
        case CurveKind::SamplerGap:
            return curves.sampler_gap;
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

/// Marks a run's alerts on the axis, each with the run's name.
void addAlerts(ChartData& data, const ComparedRun& run, Along along) {
    const std::vector<double>& steps = run.curves.step;
    for (const Alert& alert : run.curves.alerts) {
        const auto found = std::lower_bound(steps.begin(), steps.end(), double(alert.step));
        if (found == steps.end()) continue;
        const double x = run.curves.along(along)[size_t(found - steps.begin())];
        data.marks.push_back({x, QString::fromStdString(run.row.name) + u": "_s + alertText(alert), true});
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
        addAlerts(data, run, along);
    }
    data.logY = logarithmic && kind == CurveKind::Loss;
    data.fromZero = kind == CurveKind::ClipShare || kind == CurveKind::SamplerGap ||
                    kind == CurveKind::Overhead || kind == CurveKind::TokensPerSecond;
    data.yUnit = kind == CurveKind::Loss                                       ? Unit::Loss
                 : kind == CurveKind::TokensPerSecond                          ? Unit::Rate
                 : kind == CurveKind::Overhead || kind == CurveKind::ClipShare ? Unit::Percent
                                                                               : Unit::Plain;
    data.xUnit = along == Along::Time ? Unit::Seconds : along == Along::Tokens ? Unit::Rate : Unit::Count;
    data.xName = along == Along::Time     ? CompareCurves::tr("time in steps")
                 : along == Along::Tokens ? CompareCurves::tr("tokens")
                                          : CompareCurves::tr("step");
    return data;
}

}  // namespace ringmaster
