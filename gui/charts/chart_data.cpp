#include "gui/charts/chart_data.h"

#include <QCoreApplication>
#include <QStringList>
#include <algorithm>
#include <cmath>

#include "gui/look/numbers.h"

namespace ringmaster {

namespace {

using namespace Qt::Literals::StringLiterals;

struct Charts {
    Q_DECLARE_TR_FUNCTIONS(Charts)
};

constexpr double kLeastDecade = 1e-12;

/// Calls take(low, high) with the range that a series covers at each visible entry.
void eachSpan(const ChartData& data, const Extent& x, auto take) {
    std::vector<double> stack;
    for (const ChartSeries& series : data.series) {
        const std::vector<double>& at = data.xOf(series);
        for (size_t i = 0; i < std::min(at.size(), series.value.size()); ++i) {
            double value = double(series.value[i]), low = value, high = value;
            if (series.mark == Mark::Stacked) {
                if (stack.size() <= i) stack.resize(i + 1, 0);
                if (!std::isnan(value)) stack[i] += value;
                low = high = stack[i];
            } else if (series.mark != Mark::Points) {
                if (i < series.low.size()) low = std::fmin(low, double(series.low[i]));
                if (i < series.high.size()) high = std::fmax(high, double(series.high[i]));
            }
            if (at[i] < x.low || at[i] > x.high || std::isnan(low) || std::isnan(high)) continue;
            take(low, high);
        }
    }
}

QString trendOf(const std::vector<float>& values) {
    std::vector<double> known;
    for (float value : values) {
        if (!std::isnan(value)) known.push_back(double(value));
    }
    if (known.size() < 8) return {};
    const size_t tenth = std::max<size_t>(known.size() / 10, 1);
    auto mean = [&](size_t from) {
        double sum = 0;
        for (size_t i = from; i < from + tenth; ++i) sum += known[i];
        return sum / double(tenth);
    };
    const double before = mean(known.size() - 3 * tenth), now = mean(known.size() - tenth);
    const double change = now - before, scale = std::max(std::abs(before), 1e-12);
    if (std::abs(change) < 0.01 * scale) return Charts::tr("steady");
    return change > 0 ? Charts::tr("rising") : Charts::tr("falling");
}

QString quoted(QString text) {
    if (text.contains(u'"') || text.contains(u',') || text.contains(u'\n'))
        return u"\""_s + text.replace(u"\""_s, u"\"\""_s) + u"\""_s;
    return text;
}

QString cell(const std::vector<float>& values, size_t i) {
    return i < values.size() && !std::isnan(values[i]) ? QString::number(double(values[i]), 'g', 9)
                                                       : QString();
}

}  // namespace

Extent xExtent(const ChartData& data) {
    Extent x{std::numeric_limits<double>::infinity(), -std::numeric_limits<double>::infinity()};
    for (const ChartSeries& series : data.series) {
        const std::vector<double>& at = data.xOf(series);
        if (at.empty()) continue;
        x = {std::min(x.low, at.front()), std::max(x.high, at.back())};
    }
    if (std::isfinite(data.xLow)) x.low = data.xLow;
    if (std::isfinite(data.xHigh)) x.high = data.xHigh;
    if (!std::isfinite(x.low) || !std::isfinite(x.high)) return {0, 1};
    if (!(x.low < x.high)) x.high = x.low + 1;
    return x;
}

bool hasFigures(const ChartData& data) {
    return std::any_of(data.series.begin(), data.series.end(),
                       [](const ChartSeries& series) { return !series.value.empty(); });
}

bool hasBelowLog(const ChartData& data) {
    bool found = false;
    eachSpan(data, xExtent(data), [&](double low, double) { found = found || low <= 0; });
    return found;
}

Extent yExtent(const ChartData& data, const Extent& x) {
    double low = std::numeric_limits<double>::infinity(), high = -low, leastPositive = low;
    eachSpan(data, x, [&](double from, double to) {
        low = std::min(low, from);
        high = std::max(high, to);
        for (double value : {from, to}) {
            if (value > 0) leastPositive = std::min(leastPositive, value);
        }
    });
    if (!std::isfinite(low) || !std::isfinite(high)) return {0, 1};
    if (data.logY) {
        if (!(high > 0)) return {0.1, 1};
        low = std::max(std::min(leastPositive, high), high * kLeastDecade);
        const double room = std::pow(high / low, 0.05);
        return low < high ? Extent{low / room, high * room} : Extent{low / 2, high * 2};
    }
    if (data.fromZero) low = std::min(low, 0.0);
    if (!(low < high)) {
        const double around = low == 0 ? 1 : std::abs(low) * 0.1;
        return {data.fromZero && low >= 0 ? 0 : low - around, high + around};
    }
    const double step = tickStep(data.yUnit, high - low, 8);
    Extent y{std::floor(low / step + 1e-9) * step, std::ceil(high / step - 1e-9) * step};
    if (high > y.high - 0.02 * (y.high - y.low)) y.high += step / 2;
    return y;
}

int nearestIndex(const std::vector<double>& x, double at) {
    if (x.empty()) return -1;
    const auto after = std::lower_bound(x.begin(), x.end(), at);
    if (after == x.begin()) return 0;
    if (after == x.end()) return int(x.size()) - 1;
    const auto index = int(after - x.begin());
    return at - *std::prev(after) <= *after - at ? index - 1 : index;
}

std::optional<double> valueNear(const ChartData& data, const ChartSeries& series, double at, double within) {
    const std::vector<double>& x = data.xOf(series);
    const std::vector<float>& values = series.shown();
    const int index = nearestIndex(x, at);
    for (int away = 0; index >= 0 && away < int(x.size()); ++away) {
        bool inReach = false;
        for (int i : {index - away, index + away}) {
            if (i < 0 || i >= int(x.size()) || std::abs(x[size_t(i)] - at) > within) continue;
            inReach = true;
            if (i < int(values.size()) && !std::isnan(values[size_t(i)])) return double(values[size_t(i)]);
        }
        if (!inReach) break;
    }
    return {};
}

QString describe(const ChartData& data) {
    QStringList parts;
    constexpr int kNamed = 6;
    int left = 0;
    for (const ChartSeries& series : data.series) {
        const std::vector<float>& values = series.shown();
        const auto last =
            std::find_if(values.rbegin(), values.rend(), [](float v) { return !std::isnan(v); });
        if (last == values.rend()) continue;
        if (parts.size() >= kNamed) {
            ++left;
            continue;
        }
        const QString figure = figureText(data.yUnit, double(*last));
        const QString trend = trendOf(values);
        //: describes a line of a chart to a screen reader: its name, last figure and trend ("falling")
        parts << (trend.isEmpty() ? Charts::tr("%1: %2").arg(series.name, figure)
                                  : Charts::tr("%1: %2, %3").arg(series.name, figure, trend));
    }
    if (parts.isEmpty()) return Charts::tr("No data yet.");
    QString text = show::clauses(parts) + u"."_s;
    if (left > 0) text += u" "_s + Charts::tr("And %n more.", nullptr, left);
    for (const ChartMark& mark : data.marks) {
        if (mark.strong) text += u" "_s + mark.text + u"."_s;
    }
    return text;
}

QString csvOf(const ChartData& data) {
    QString out = quoted(data.xName);
    for (const ChartSeries& series : data.series) {
        if (!series.low.empty()) out += u","_s + quoted(series.name + u" min"_s);
        out += u","_s + quoted(series.name);
        if (!series.high.empty()) out += u","_s + quoted(series.name + u" max"_s);
    }
    out += u"\r\n"_s;
    std::vector<double> rows = data.x;
    for (const ChartSeries& series : data.series) rows.insert(rows.end(), series.x.begin(), series.x.end());
    std::sort(rows.begin(), rows.end());
    rows.erase(std::unique(rows.begin(), rows.end()), rows.end());
    for (double row : rows) {
        out += QString::number(row, 'g', 15);
        for (const ChartSeries& series : data.series) {
            const std::vector<double>& x = data.xOf(series);
            const auto found = std::lower_bound(x.begin(), x.end(), row);
            const size_t i = found != x.end() && *found == row ? size_t(found - x.begin()) : x.size();
            if (!series.low.empty()) out += u","_s + cell(series.low, i);
            out += u","_s + cell(series.value, i);
            if (!series.high.empty()) out += u","_s + cell(series.high, i);
        }
        out += u"\r\n"_s;
    }
    return out;
}

}  // namespace ringmaster
