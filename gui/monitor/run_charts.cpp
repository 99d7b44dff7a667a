#include "gui/monitor/run_charts.h"

#include <QCoreApplication>
#include <algorithm>

#include "gui/look/numbers.h"
#include "gui/session/alert_words.h"

namespace ringmaster {

namespace {

using namespace Qt::Literals::StringLiterals;

struct Monitor {
    Q_DECLARE_TR_FUNCTIONS(Monitor)
};

/// The chart shows the capacity only if a value exceeds this share of it; a limit far above the values would
/// flatten the curves.
constexpr double kLimitInSight = 0.4;

ColourOf ofRank(int rank) {
    return [rank](const Colours& c) { return rankColour(rank, c); };
}
QColor textColour(const Colours& c) {
    return c.text;
}
QColor accentColour(const Colours& c) {
    return c.accent;
}
/// Returns a grey, because every hue stands for a rank.
QColor bandColour(const Colours& c) {
    return c.faint;
}

QString rankName(int rank) {
    return Monitor::tr("rank %1").arg(rank);
}

ChartMark markOf(const ChartMoment& mark) {
    if (mark.alert) return {mark.x, alertText(*mark.alert), true};
    const QString step = show::count(mark.step);
    if (mark.attempt == 0) return {mark.x, Monitor::tr("checkpoint of step %1").arg(step), false};
    QString text = Monitor::tr("attempt %1, from step %2").arg(mark.attempt).arg(step);
    if (mark.ranks != mark.ranks_before)
        text = Monitor::tr("attempt %1, from step %2, on %3 ranks in place of %4")
                   .arg(mark.attempt)
                   .arg(step)
                   .arg(mark.ranks)
                   .arg(mark.ranks_before);
    return {mark.x, text, true};
}

ChartData emptyChart(const RunCharts& charts) {
    ChartData chart;
    chart.x = charts.x;
    for (const ChartMoment& mark : charts.marks) chart.marks.push_back(markOf(mark));
    //: a legend's name of the moments at which a checkpoint was saved
    chart.markName = Monitor::tr("checkpoint");
    const auto any = [&](auto is) { return std::any_of(charts.marks.begin(), charts.marks.end(), is); };
    //: a legend's name of the moments at which an alert was raised
    const QString alert = Monitor::tr("alert");
    //: a legend's name of the moments at which a run was resumed
    const QString resumed = Monitor::tr("new attempt");
    chart.strongName =
        show::listed({any([](const ChartMoment& mark) { return bool(mark.alert); }) ? alert : QString(),
                      any([](const ChartMoment& mark) { return mark.attempt != 0; }) ? resumed : QString()});
    chart.bridgeGaps = charts.bridge_gaps;
    switch (charts.request.axis) {
        case XAxis::Step:
            chart.xName = Monitor::tr("step");
            // A fixed start keeps the axis still while the first column fills.
            if (!chart.x.empty()) chart.xLow = std::min(double(charts.range.from), chart.x.front());
            break;
        case XAxis::Tokens:
            chart.xName = Monitor::tr("tokens");
            break;
        case XAxis::Seconds:
            chart.xUnit = Unit::Seconds;
            chart.xName = Monitor::tr("time");
            break;
    }
    return chart;
}

ChartSeries lineOf(const QString& name, const Curve& curve, const std::vector<float>& smooth,
                   ColourOf colour) {
    ChartSeries line;
    line.name = name;
    line.colour = std::move(colour);
    line.value = curve.mean;
    line.low = curve.low;
    line.high = curve.high;
    line.smooth = smooth;
    return line;
}

void addRanks(ChartData& chart, const RankCurves& ranks, int chosen, int count) {
    if (ranks.spread) {
        ChartSeries band;
        band.mark = Mark::Band;
        //: name in a legend: median of %n ranks as a line, with the area between the least and the greatest
        band.name = Monitor::tr("median and range of %n ranks", nullptr, count);
        band.colour = bandColour;
        band.value = ranks.spread->median;
        band.low = ranks.spread->low;
        band.high = ranks.spread->high;
        band.smooth = ranks.smooth_median;
        chart.series.push_back(std::move(band));
    }
    const std::vector<float> none;
    for (size_t i = 0; i < ranks.ranks.size(); ++i) {
        const int rank = ranks.ranks[i];
        ChartSeries line = lineOf(rankName(rank), ranks.curves[i],
                                  i < ranks.smooth.size() ? ranks.smooth[i] : none, ofRank(rank));
        line.rank = rank;
        line.strong = rank == chosen;
        line.faint = chosen >= 0 && rank != chosen;
        if (ranks.spread) line.low.clear(), line.high.clear();  // the band shows the spread
        chart.series.push_back(std::move(line));
    }
}

void addLevel(ChartData& chart, const QString& name, double value, Mark mark, ColourOf colour) {
    if (chart.x.empty()) return;
    ChartSeries level;
    level.name = name;
    level.mark = mark;
    level.colour = std::move(colour);
    level.x = {std::isnan(chart.xLow) ? chart.x.front() : chart.xLow, chart.x.back()};
    level.value = {float(value), float(value)};
    chart.series.push_back(std::move(level));
}

void lossChart(ChartData& chart, const RunCharts& charts, int ranks) {
    chart.yUnit = Unit::Loss;
    addRanks(chart, charts.rank_loss, charts.request.chosen_rank, ranks);
    ChartSeries global = lineOf(Monitor::tr("global"), charts.loss, charts.loss_smooth, textColour);
    global.strong = true;
    chart.series.push_back(std::move(global));
    if (charts.evaluations.empty()) return;
    ChartSeries evaluations;
    evaluations.name = Monitor::tr("evaluation");
    evaluations.mark = Mark::Points;
    evaluations.colour = [](const Colours& c) { return c.good; };
    for (const auto& [x, loss] : charts.evaluations) {
        evaluations.x.push_back(x);
        evaluations.value.push_back(float(loss));
    }
    chart.series.push_back(std::move(evaluations));
}

void stepTimeChart(ChartData& chart, const RunCharts& charts) {
    chart.yUnit = Unit::Seconds;
    chart.fromZero = true;
    const auto add = [&](const QString& name, const std::vector<float>& values, TimePart part) {
        ChartSeries area;
        area.name = name;
        area.mark = Mark::Stacked;
        area.colour = [part](const Colours& c) { return timeColour(part, c); };
        area.value = values;
        chart.series.push_back(std::move(area));
    };
    add(Monitor::tr("data"), charts.data_s, TimePart::Data);
    add(Monitor::tr("compute"), charts.compute_s, TimePart::Compute);
    add(Monitor::tr("exposed communication"), charts.exposed_s, TimePart::ExposedCommunication);
    const bool hasOther =
        std::any_of(charts.other_s.begin(), charts.other_s.end(), [](float s) { return s > 1e-4F; });
    if (hasOther) add(Monitor::tr("other"), charts.other_s, TimePart::Other);
}

void memoryChart(ChartData& chart, const RunCharts& charts, const RunPicture& picture) {
    chart.yUnit = Unit::Bytes;
    const int ranks = int(picture.ranks.size());
    addRanks(chart, charts.memory, charts.request.chosen_rank, ranks);
    for (ChartSeries& series : chart.series) {
        if (series.mark == Mark::Line) series.value = series.high.empty() ? series.value : series.high;
    }
    const double most = double(picture.fullest_bytes);
    if (most <= 0) return;
    if (picture.expected_bytes > 0)
        addLevel(chart, Monitor::tr("expected"), double(picture.expected_bytes), Mark::Dashed, textColour);
    if (double(picture.capacity_bytes) * kLimitInSight < std::max(most, double(picture.expected_bytes)) &&
        picture.capacity_bytes > 0) {
        addLevel(chart, Monitor::tr("capacity"), double(picture.capacity_bytes), Mark::Line,
                 [](const Colours& c) { return c.error; });
    }
}

/// Returns a line's name in a legend. `functions` are names of reward functions.
QString optionalName(Measure measure, const std::vector<std::string>& functions) {
    switch (measure) {
        case Measure::Reward:
            return Monitor::tr("reward");
        case Measure::RewardsChosen:
            return Monitor::tr("chosen");
        case Measure::RewardsRejected:
            return Monitor::tr("rejected");
        case Measure::RewardMargin:
            return Monitor::tr("margin");
        case Measure::RewardAccuracy:
            return Monitor::tr("chosen above rejected");
        case Measure::ClipShare:
            return Monitor::tr("clipped");
        case Measure::CutShare:
            return Monitor::tr("cut at the longest length");
        case Measure::EvenShare:
            return Monitor::tr("in a group of equal rewards");
        case Measure::CompletionTokens:
            return Monitor::tr("mean length");
        case Measure::Kl:
            return Monitor::tr("divergence");
        case Measure::SamplerGap:
            return Monitor::tr("gap");
        case Measure::Nll:
            return Monitor::tr("NLL of the chosen");
        case Measure::RouterLoss:
            return Monitor::tr("router loss");
        default:
            break;
    }
    const size_t function = size_t(measure) - size_t(Measure::FunctionReward);
    return function < functions.size() ? QString::fromStdString(functions[function]) : QString();
}

void optionalChart(ChartData& chart, ChartKind kind, const RunCharts& charts) {
    chart.yUnit = kind == ChartKind::RewardShares ? Unit::Percent
                  : kind == ChartKind::LossParts  ? Unit::Loss
                                                  : Unit::Plain;
    chart.fromZero = kind == ChartKind::RewardShares || kind == ChartKind::CompletionLength ||
                     kind == ChartKind::SamplerGap;
    int place = 0;
    for (const Measure measure : optional_measures(kind)) {
        const auto found = charts.optional.find(measure);
        if (found == charts.optional.end()) continue;
        ChartSeries line = lineOf(optionalName(measure, charts.functions), found->second.curve,
                                  found->second.smooth, place == 0 ? ColourOf(accentColour) : ofRank(place));
        line.strong = measure == Measure::Reward || measure == Measure::RewardMargin;
        chart.series.push_back(std::move(line));
        ++place;
    }
}

}  // namespace

QString chartTitle(ChartKind kind) {
    switch (kind) {
        case ChartKind::Loss:
            return Monitor::tr("Loss");
        case ChartKind::StepTime:
            return Monitor::tr("Step time");
        case ChartKind::Exposed:
            return Monitor::tr("Exposed communication");
        case ChartKind::Memory:
            return Monitor::tr("Memory");
        case ChartKind::Heat:
            return Monitor::tr("Ranks over time");
        case ChartKind::Throughput:
            return Monitor::tr("Throughput");
        case ChartKind::Overlap:
            return Monitor::tr("Overlap");
        case ChartKind::GradNorm:
            return Monitor::tr("Gradient norm");
        case ChartKind::LearningRate:
            return Monitor::tr("Learning rate");
        case ChartKind::Rewards:
            return Monitor::tr("Rewards");
        case ChartKind::RewardShares:
            return Monitor::tr("Shares of the completions");
        case ChartKind::CompletionLength:
            return Monitor::tr("Completion length");
        case ChartKind::Divergence:
            return Monitor::tr("Divergence from the reference");
        case ChartKind::LossParts:
            return Monitor::tr("Parts of the loss");
        case ChartKind::SamplerGap:
            return Monitor::tr("Gap to the sampling server");
    }
    return {};
}

QString chartSubtitle(ChartKind kind, const RunPicture& picture) {
    const int chosen = picture.charts ? picture.charts->request.chosen_rank : -1;
    switch (kind) {
        case ChartKind::Loss:
            return picture.ranks.size() > 1 ? Monitor::tr("global, and each rank's own")
                                            : Monitor::tr("global");
        case ChartKind::StepTime:
            if (chosen >= 0) return Monitor::tr("of rank %1").arg(chosen);
            return picture.ranks.size() > 1 ? Monitor::tr("median of the ranks") : QString();
        case ChartKind::Exposed:
            return Monitor::tr("waiting share of a step");
        case ChartKind::Memory:
            if (picture.capacity_bytes > 0)
                return Monitor::tr("tensors at the peak, of %1").arg(show::bytes(picture.capacity_bytes));
            return Monitor::tr("tensors at the peak");
        case ChartKind::Heat:
            return Monitor::tr("own work against the median");
        case ChartKind::Throughput:
            return Monitor::tr("tokens per second, all ranks");
        case ChartKind::Overlap:
            return Monitor::tr("hidden share of communication");
        case ChartKind::GradNorm:
            return Monitor::tr("before clipping");
        case ChartKind::Rewards:
        case ChartKind::RewardShares:
        case ChartKind::Divergence:
            return Monitor::tr("means over a step");
        case ChartKind::CompletionLength:
            return Monitor::tr("tokens of a sampled completion");
        case ChartKind::SamplerGap:
            return Monitor::tr("mean, in log-probability");
        case ChartKind::LearningRate:
        case ChartKind::LossParts:
            return {};
    }
    return {};
}

QString chartName(ChartKind kind) {
    constexpr const char16_t* kNames[kChartKinds] = {
        u"lossChart",         u"stepTimeChart",   u"exposedChart",      u"memoryChart",
        u"heatMap",           u"throughputChart", u"overlapChart",      u"gradNormChart",
        u"learningRateChart", u"rewardsChart",    u"rewardSharesChart", u"completionLengthChart",
        u"divergenceChart",   u"lossPartsChart",  u"samplerGapChart"};
    return QString::fromUtf16(kNames[int(kind)]);
}

ChartData chartOf(ChartKind kind, const RunPicture& picture, bool logY) {
    if (!picture.charts) return {};
    const RunCharts& charts = *picture.charts;
    ChartData chart = emptyChart(charts);
    const int ranks = int(picture.ranks.size());
    switch (kind) {
        case ChartKind::Loss:
            lossChart(chart, charts, ranks);
            break;
        case ChartKind::StepTime:
            stepTimeChart(chart, charts);
            break;
        case ChartKind::Exposed:
            chart.yUnit = Unit::Percent;
            chart.fromZero = true;
            addRanks(chart, charts.exposed, charts.request.chosen_rank, ranks);
            break;
        case ChartKind::Overlap:
            chart.yUnit = Unit::Percent;
            addRanks(chart, charts.overlap, charts.request.chosen_rank, ranks);
            break;
        case ChartKind::Memory:
            memoryChart(chart, charts, picture);
            break;
        case ChartKind::Throughput:
            chart.yUnit = Unit::Rate;
            chart.fromZero = true;
            chart.series.push_back(lineOf(Monitor::tr("tokens per second"), charts.throughput,
                                          charts.throughput_smooth, accentColour));
            break;
        case ChartKind::GradNorm:
            chart.series.push_back(lineOf(Monitor::tr("gradient norm"), charts.grad_norm,
                                          charts.grad_norm_smooth, accentColour));
            break;
        case ChartKind::LearningRate:
            chart.series.push_back(lineOf(Monitor::tr("learning rate"), charts.lr, {}, accentColour));
            break;
        case ChartKind::Heat:
            break;
        case ChartKind::Rewards:
        case ChartKind::RewardShares:
        case ChartKind::CompletionLength:
        case ChartKind::Divergence:
        case ChartKind::LossParts:
        case ChartKind::SamplerGap:
            optionalChart(chart, kind, charts);
            break;
    }
    // Stacked areas cannot be read on a logarithmic axis.
    chart.logY = logY && kind != ChartKind::StepTime;
    return chart;
}

HeatData heatOf(const RunPicture& picture) {
    HeatData heat;
    if (!picture.charts) return heat;
    const ChartData like = emptyChart(*picture.charts);
    heat.xUnit = like.xUnit;
    heat.xName = like.xName;
    heat.x = picture.charts->heat_x;
    heat.rows = picture.charts->heat;
    heat.median = picture.charts->heat_median;
    for (size_t rank = 0; rank < heat.rows.size(); ++rank) heat.names.push_back(rankName(int(rank)));
    return heat;
}

std::vector<Measure> measuresOf(ChartKind kind) {
    switch (kind) {
        case ChartKind::Loss:
            return {Measure::Loss, Measure::RankLoss};
        case ChartKind::StepTime:
            return {Measure::StepSeconds, Measure::DataSeconds, Measure::ComputeSeconds,
                    Measure::ExposedSeconds, Measure::OtherSeconds};
        case ChartKind::Exposed:
            return {Measure::ExposedSeconds, Measure::StepSeconds, Measure::ExposedShare};
        case ChartKind::Memory:
            return {Measure::MemoryBytes, Measure::PeakMemoryBytes};
        case ChartKind::Heat:
            return {Measure::WorkSeconds, Measure::StepSeconds};
        case ChartKind::Throughput:
            return {Measure::Tokens, Measure::StepSeconds, Measure::TokensPerSecond};
        case ChartKind::Overlap:
            return {Measure::CommSeconds, Measure::ExposedSeconds, Measure::Overlap};
        case ChartKind::GradNorm:
            return {Measure::GradNorm};
        case ChartKind::LearningRate:
            return {Measure::LearningRate};
        default:
            return optional_measures(kind);
    }
}

StepRange stepsBetween(const RunCharts& charts, double low, double high) {
    if (charts.x.empty()) return charts.range;
    const auto columns = int(charts.x.size());
    if (charts.request.axis == XAxis::Step)
        return {std::llround(std::floor(low)), std::llround(std::ceil(high))};
    const auto first = std::lower_bound(charts.x.begin(), charts.x.end(), low) - charts.x.begin();
    const auto last = std::upper_bound(charts.x.begin(), charts.x.end(), high) - charts.x.begin() - 1;
    const int from = std::clamp(int(first), 0, columns - 1), to = std::clamp(int(last), from, columns - 1);
    StepRange range{steps_of_column(charts.range, columns, from).from,
                    steps_of_column(charts.range, columns, to).to};
    if (low < charts.x.front()) range.from = std::max<int64_t>(1, range.from - range.count());
    if (high > charts.x.back()) range.to += range.count();
    return range;
}

}  // namespace ringmaster
