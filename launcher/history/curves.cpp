#include "launcher/history/curves.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace ringmaster {

namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kBlock = StepColumns::kBlock;

int columns_of(const StepRange& range, int width) {
    return static_cast<int>(std::clamp<int64_t>(range.count(), 0, std::max(width, 1)));
}

/// Calls `piece(values, count, first step)` for each part of `range` that lies in one block; skips blocks
/// that do not exist.
void each_piece(const StepColumns& steps, Measure figure, const StepRange& range, auto piece) {
    std::array<float, kBlock> values{};
    for (auto block = steps.next_block(range.from / kBlock); block && *block * kBlock <= range.to;
         block = steps.next_block(*block + 1)) {
        const int64_t begin = std::max(range.from, *block * kBlock);
        const int64_t end = std::min(range.to, *block * kBlock + kBlock - 1) + 1;
        steps.read_block(*block, figure, values.data());
        piece(values.data() + (begin - *block * kBlock), end - begin, begin);
    }
}

/// Returns the part of `range` that can hold steps, so that a huge range costs no time.
StepRange known_part(const StepColumns& steps, const StepRange& range) {
    if (steps.empty()) return {};
    return {std::max(range.from, steps.first()), std::min(range.to, steps.last())};
}

class ColumnMaker {
  public:
    ColumnMaker(const StepRange& range, int columns) : range_(range), columns_(columns) {
        for (auto* part : {&curve_.low, &curve_.high, &curve_.mean, &curve_.last})
            part->assign(static_cast<size_t>(columns), kMissing);
    }

    void take(const float* values, int64_t count, int64_t step) {
        for (int64_t at = 0; at < count;) {
            const auto column = static_cast<int>((step + at - range_.from) * columns_ / range_.count());
            const int64_t end = std::min(count, steps_of_column(range_, columns_, column).to + 1 - step);
            add(values + at, end - at, static_cast<size_t>(column));
            at = std::max(end, at + 1);
        }
    }
    Curve finish() {
        close();
        return std::move(curve_);
    }

  private:
    void add(const float* values, int64_t count, size_t column) {
        if (column != open_) close();
        open_ = column;
        for (int64_t i = 0; i < count; ++i) {
            const float value = values[i];
            if (std::isnan(value)) continue;
            low_ = std::min(low_, value);
            high_ = std::max(high_, value);
            sum_ += value;
            last_ = value;
            ++number_;
        }
    }
    void close() {
        if (number_ > 0) {
            curve_.low[open_] = low_;
            curve_.high[open_] = high_;
            curve_.mean[open_] = static_cast<float>(sum_ / static_cast<double>(number_));
            curve_.last[open_] = last_;
        }
        low_ = std::numeric_limits<float>::infinity();
        high_ = -low_;
        sum_ = 0;
        number_ = 0;
    }

    StepRange range_;
    int columns_;
    Curve curve_;
    size_t open_ = 0;
    float low_ = std::numeric_limits<float>::infinity(), high_ = -std::numeric_limits<float>::infinity(),
          last_ = kMissing;
    double sum_ = 0;
    int64_t number_ = 0;
};

/// Exponential moving average with bias correction, fed one value at a time.
class Average {
  public:
    explicit Average(double weight) : weight_(std::clamp(weight, 0.0, 0.9999)) {}
    void take(double value, double steps = 1) {
        const double kept = std::pow(weight_, steps);
        sum_ = kept * sum_ + (1 - kept) * value;
        share_ = kept * share_ + (1 - kept);
    }
    float value() const { return share_ > 0 ? static_cast<float>(sum_ / share_) : kMissing; }

  private:
    double weight_;
    double sum_ = 0, share_ = 0;
};

/// Returns the tokens trained on, or the seconds passed, at the end of each pixel column of `range`.
std::vector<double> walk(const StepColumns& steps, XAxis axis, const StepRange& range, int columns) {
    std::vector<double> out(static_cast<size_t>(columns), 0);
    const StepRange known = known_part(steps, {steps.first(), range.to});
    const double first_s = steps.value(steps.first(), Measure::StepSeconds);
    const double begin = steps.time(steps.first()) - (std::isnan(first_s) ? 0 : first_s);
    double at = 0;
    size_t column = 0;
    std::array<double, kBlock> times{};
    auto fill_up_to = [&](int64_t step) {  // fills the columns that end before `step`
        while (column < out.size() && steps_of_column(range, columns, static_cast<int>(column)).to < step)
            out[column++] = at;
    };
    each_piece(steps, Measure::Tokens, known, [&](const float* tokens, int64_t count, int64_t step) {
        const int64_t row = step % kBlock;
        steps.read_times(step / kBlock, times.data());
        for (int64_t i = 0; i < count; ++i) {
            const double t = times[static_cast<size_t>(row + i)];
            if (std::isnan(t)) continue;
            if (step + i >= range.from) fill_up_to(step + i);
            if (axis == XAxis::Seconds) at = std::max(at, t - begin);
            if (axis == XAxis::Tokens && !std::isnan(tokens[i])) at += static_cast<double>(tokens[i]);
        }
    });
    while (column < out.size()) out[column++] = at;
    return out;
}

}  // namespace

StepRange steps_of_column(const StepRange& range, int columns, int column) {
    const int64_t count = range.count();
    // A column's first step is the lowest one for which `(step - from) * columns / count` is that column.
    auto first = [&](int64_t c) { return range.from + (c * count + columns - 1) / columns; };
    return {first(column), first(column + 1) - 1};
}

Curve reduce(const StepColumns& steps, Measure figure, const StepRange& range, int width) {
    ColumnMaker maker(range, columns_of(range, width));
    const StepRange known = known_part(steps, range);
    if (known.count() == 0) return maker.finish();
    each_piece(steps, figure, known,
               [&](const float* values, int64_t count, int64_t step) { maker.take(values, count, step); });
    return maker.finish();
}

std::vector<float> smoothed(const StepColumns& steps, Measure figure, const StepRange& range, int width,
                            double weight) {
    const int columns = columns_of(range, width);
    std::vector<float> out(static_cast<size_t>(columns), kMissing);
    if (steps.empty() || columns == 0) return out;
    Average average(weight);
    each_piece(steps, figure, known_part(steps, {steps.first(), range.to}),
               [&](const float* values, int64_t count, int64_t step) {
                   for (int64_t i = 0; i < count; ++i) {
                       if (std::isnan(values[i])) continue;
                       average.take(static_cast<double>(values[i]));
                       if (step + i < range.from) continue;
                       out[static_cast<size_t>((step + i - range.from) * columns / range.count())] =
                           average.value();
                   }
               });
    return out;
}

std::vector<float> smoothed(const std::vector<float>& values, double weight, double steps_a_column) {
    Average average(weight);
    std::vector<float> out(values.size(), kMissing);
    for (size_t i = 0; i < values.size(); ++i) {
        if (std::isnan(values[i])) continue;
        average.take(static_cast<double>(values[i]), steps_a_column);
        out[i] = average.value();
    }
    return out;
}

std::vector<double> positions(const StepColumns& steps, XAxis axis, const StepRange& range, int width) {
    const int columns = columns_of(range, width);
    if (axis != XAxis::Step && !steps.empty()) return walk(steps, axis, range, columns);
    std::vector<double> out;
    for (int column = 0; column < columns; ++column)
        out.push_back(static_cast<double>(steps_of_column(range, columns, column).to));
    return out;
}

float median_of(std::vector<float>& values) {
    std::erase_if(values, [](float value) { return std::isnan(value); });
    if (values.empty()) return kMissing;
    const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
    std::nth_element(values.begin(), middle, values.end());
    if (values.size() % 2 == 1) return *middle;
    return (*middle + *std::max_element(values.begin(), middle)) / 2;
}

Spread spread_of(const std::vector<Curve>& ranks) {
    Spread spread;
    const size_t columns = ranks.empty() ? 0 : ranks.front().size();
    for (auto* part : {&spread.low, &spread.high, &spread.median}) part->assign(columns, kMissing);
    std::vector<float> means;
    for (size_t column = 0; column < columns; ++column) {
        means.clear();
        for (const Curve& rank : ranks) {
            means.push_back(rank.mean[column]);
            spread.low[column] = std::fmin(spread.low[column], rank.low[column]);
            spread.high[column] = std::fmax(spread.high[column], rank.high[column]);
        }
        spread.median[column] = median_of(means);
    }
    return spread;
}

std::vector<size_t> outliers(const std::vector<Curve>& ranks, const Spread& spread, size_t most) {
    std::vector<std::pair<double, size_t>> distances;
    for (size_t rank = 0; rank < ranks.size(); ++rank) {
        double sum = 0, count = 0;
        for (size_t column = 0; column < spread.median.size(); ++column) {
            const double away = std::abs(ranks[rank].mean[column] - spread.median[column]);
            if (!std::isnan(away)) sum += away, ++count;
        }
        if (sum > 0) distances.emplace_back(sum / count, rank);
    }
    std::stable_sort(distances.begin(), distances.end(),
                     [](const auto& a, const auto& b) { return a.first > b.first; });
    std::vector<size_t> found;
    for (size_t i = 0; i < std::min(most, distances.size()); ++i) found.push_back(distances[i].second);
    return found;
}

}  // namespace ringmaster
