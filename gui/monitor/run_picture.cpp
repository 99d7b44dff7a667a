#include "gui/monitor/run_picture.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "gui/session/progress_words.h"
#include "launcher/history/figures.h"

namespace ringmaster {

namespace {

/// Maximum number of pixel columns of a chart, summed over its lines, so that it draws fast enough. Each
/// column has at most two points, or three if it is smoothed.
constexpr int kColumns = 3000, kSmoothColumns = 2400;
constexpr size_t kOutliers = 3;
constexpr size_t kMostMarks = 60;
const double kUnknown = std::nan("");

class ChartMaker {
  public:
    ChartMaker(const RunHistory& history, const ChartRequest& request) : history_(history) {
        charts_.request = request;
        charts_.range = shown_range(history, request);
        charts_.bridge_gaps = !history.progress().whole();
        const size_t ranks = history.ranks().size();
        const auto lines = static_cast<int>(ranks > kMostLines ? kOutliers + 2 : ranks);
        const int columns = request.smoothing > 0 ? kSmoothColumns : kColumns;
        width_ = std::min(std::max(request.width, 64), std::max(columns / std::max(lines, 1), 150));
    }

    RunCharts make() {
        first_ = reference(history_);
        if (first_ == nullptr || charts_.range.count() == 0) return std::move(charts_);
        charts_.x = positions(first_->steps, charts_.request.axis, charts_.range, width_);
        if (wants(ChartKind::Loss)) losses();
        if (wants(ChartKind::StepTime)) step_times();
        if (wants(ChartKind::Exposed)) charts_.exposed = of_ranks(Measure::ExposedShare);
        if (wants(ChartKind::Overlap)) charts_.overlap = of_ranks(Measure::Overlap);
        if (wants(ChartKind::Memory)) charts_.memory = of_ranks(Measure::PeakMemoryBytes, false);
        if (wants(ChartKind::Throughput))
            charts_.throughput = global(Measure::TokensPerSecond, &charts_.throughput_smooth);
        if (wants(ChartKind::GradNorm))
            charts_.grad_norm = global(Measure::GradNorm, &charts_.grad_norm_smooth);
        if (wants(ChartKind::LearningRate)) charts_.lr = global(Measure::LearningRate, nullptr);
        if (wants(ChartKind::Heat)) heat();
        optional();
        marks();
        return std::move(charts_);
    }

  private:
    bool wants(ChartKind kind) const { return (charts_.request.charts & bit(kind)) != 0; }

    Curve global(Measure measure, std::vector<float>* smooth) const {
        const double weight = charts_.request.smoothing;
        if (smooth != nullptr && weight > 0)
            *smooth = smoothed(first_->steps, measure, charts_.range, width_, weight);
        return reduce(first_->steps, measure, charts_.range, width_);
    }

    void losses() {
        charts_.loss = global(Measure::Loss, &charts_.loss_smooth);
        if (history_.ranks().size() > 1) charts_.rank_loss = of_ranks(Measure::RankLoss);
        for (const auto& [step, eval] : history_.evaluations()) {
            if (step < charts_.range.from || step > charts_.range.to) continue;
            charts_.evaluations.emplace_back(place_of(step), eval.second.loss);
        }
    }

    RankCurves of_ranks(Measure measure, bool smooth = true) const {
        std::vector<Curve> all;
        for (const RankHistory& rank : history_.ranks())
            all.push_back(reduce(rank.steps, measure, charts_.range, width_));
        RankCurves curves;
        const double weight = smooth ? charts_.request.smoothing : 0;
        std::vector<size_t> kept;
        if (all.size() > kMostLines) {
            curves.spread = spread_of(all);
            kept = outliers(all, *curves.spread, kOutliers);
            const auto chosen = static_cast<size_t>(std::max(charts_.request.chosen_rank, 0));
            const bool wanted = charts_.request.chosen_rank >= 0 && chosen < all.size();
            if (wanted && std::find(kept.begin(), kept.end(), chosen) == kept.end()) kept.push_back(chosen);
            std::sort(kept.begin(), kept.end());
            const double steps =
                static_cast<double>(charts_.range.count()) / std::max<double>(1, double(charts_.x.size()));
            if (weight > 0) curves.smooth_median = smoothed(curves.spread->median, weight, steps);
        } else {
            for (size_t rank = 0; rank < all.size(); ++rank) kept.push_back(rank);
        }
        for (size_t rank : kept) {
            curves.ranks.push_back(static_cast<int>(rank));
            curves.curves.push_back(std::move(all[rank]));
            if (weight > 0) {
                curves.smooth.push_back(
                    smoothed(history_.ranks()[rank].steps, measure, charts_.range, width_, weight));
            }
        }
        return curves;
    }

    std::vector<float> median_of_ranks(Measure measure) const {
        const int chosen = charts_.request.chosen_rank;
        if (chosen >= 0 && static_cast<size_t>(chosen) < history_.ranks().size())
            return reduce(history_.ranks()[static_cast<size_t>(chosen)].steps, measure, charts_.range, width_)
                .mean;
        std::vector<Curve> all;
        for (const RankHistory& rank : history_.ranks())
            all.push_back(reduce(rank.steps, measure, charts_.range, width_));
        return spread_of(all).median;
    }

    void step_times() {
        charts_.data_s = median_of_ranks(Measure::DataSeconds);
        charts_.compute_s = median_of_ranks(Measure::ComputeSeconds);
        charts_.exposed_s = median_of_ranks(Measure::ExposedSeconds);
        charts_.other_s = median_of_ranks(Measure::OtherSeconds);
    }

    void heat() {
        if (history_.ranks().size() < 2) return;
        const int columns = charts_.request.heat_columns;
        charts_.heat_x = positions(first_->steps, charts_.request.axis, charts_.range, columns);
        for (const RankHistory& rank : history_.ranks())
            charts_.heat.push_back(reduce(rank.steps, Measure::WorkSeconds, charts_.range, columns).mean);
        std::vector<float> values;
        for (size_t column = 0; column < charts_.heat_x.size(); ++column) {
            values.clear();
            for (const auto& row : charts_.heat) values.push_back(row[column]);
            charts_.heat_median.push_back(median_of(values));
        }
    }

    double place_of(int64_t step) const {
        return positions(first_->steps, charts_.request.axis, {step, step}, 1).front();
    }

    void marks() {
        const StepRange& range = charts_.range;
        const auto is_shown = [&](int64_t step) { return step >= range.from && step <= range.to; };
        std::vector<int64_t> saved;
        for (const auto& [step, checkpoint] : history_.checkpoints()) {
            if (is_shown(step)) saved.push_back(step);
        }
        // Shows no marks if there are more: they would merge into a band, and finding the place of each takes
        // time.
        if (saved.size() > kMostMarks) saved.clear();
        for (const int64_t step : saved) charts_.marks.push_back({place_of(step), step});
        int ranks = 0;
        for (const auto& [attempt, hello] : history_.attempts()) {
            const int before = std::exchange(ranks, hello.world_size);
            const bool is_first = before == 0 || attempt <= 1;
            if (is_first || !is_shown(hello.start_step) || charts_.marks.size() > 2 * kMostMarks) continue;
            charts_.marks.push_back({place_of(hello.start_step), hello.start_step, attempt, ranks, before});
        }
        const std::vector<Alert>& alerts = history_.alerts();
        for (size_t at = alerts.size() > kMostMarks ? alerts.size() - kMostMarks : 0; at < alerts.size();
             ++at) {
            if (is_shown(alerts[at].step))
                charts_.marks.push_back({place_of(alerts[at].step), alerts[at].step, 0, 0, 0, alerts[at]});
        }
    }

    void optional() {
        // Only rank 0 reports these figures.
        const StepColumns& steps = history_.ranks().front().steps;
        charts_.functions = steps.functions();
        for (int kind = int(kFirstOptional); kind < kChartKinds; ++kind) {
            if (!wants(ChartKind(kind))) continue;
            for (const Measure measure : optional_measures(ChartKind(kind))) {
                if (!steps.has(measure)) continue;
                OptionalCurve& made = charts_.optional[measure];
                made.curve = reduce(steps, measure, charts_.range, width_);
                if (charts_.request.smoothing > 0)
                    made.smooth = smoothed(steps, measure, charts_.range, width_, charts_.request.smoothing);
            }
        }
    }

    const RunHistory& history_;
    RunCharts charts_;
    int width_ = 0;
    const RankHistory* first_ = nullptr;
};

float recent_median(const RankHistory& rank, Measure measure) {
    std::vector<float> values;
    for (int64_t step = std::max<int64_t>(1, rank.last_step - kRecentSteps + 1); step <= rank.last_step;
         ++step)
        values.push_back(rank.steps.value(step, measure));
    return median_of(values);
}

RankRow row_of(const RankHistory& rank, const Plan* plan) {
    RankRow row{rank.rank,      "", "", {}, {}, 0, {}, kUnknown, kUnknown, kUnknown, kUnknown, kUnknown, 0, 0,
                rank.last_heard};
    if (rank.hello) {
        row.host = rank.hello->host;
        row.device = rank.hello->device;
    }
    if (plan != nullptr && rank.rank < plan->mesh.ranks()) {
        row.mesh = plan->mesh;
        row.place = plan->mesh.coordinates(rank.rank);
        row.zero_stage = plan->zero_stage;
    }
    if (plan != nullptr && plan->memory) {
        for (const RankMemory& memory : plan->memory->per_rank) {
            if (memory.rank == rank.rank) row.expected_bytes = expected_tensor_bytes(memory);
        }
    }
    if (!rank.steps.has(rank.last_step)) return row;
    row.step = rank.last_step;
    row.loss = static_cast<double>(rank.steps.value(rank.last_step, Measure::RankLoss));
    row.step_s = static_cast<double>(recent_median(rank, Measure::StepSeconds));
    row.wait_s = static_cast<double>(recent_median(rank, Measure::ExposedSeconds));
    row.comm_s = static_cast<double>(recent_median(rank, Measure::CommSeconds));
    row.exposed = recent_sums(rank).overhead().value_or(kUnknown);
    row.peak_bytes = rank.peak_bytes;
    return row;
}

void add_ranks(RunPicture& picture, const RunHistory& history, const Plan* plan) {
    for (const RankHistory& rank : history.ranks()) {
        RankRow row = row_of(rank, plan);
        if (picture.state.state == RunPhase::Queued) row.last_heard = 0;  // no rank runs
        picture.odd_lines += rank.odd_lines;
        if (row.peak_bytes > picture.fullest_bytes) {
            picture.fullest_bytes = row.peak_bytes;
            picture.fullest_rank = row.rank;
            picture.expected_bytes = row.expected_bytes;
        }
        picture.ranks.push_back(row);
    }
    if (picture.expected_bytes > 0 || plan == nullptr || !plan->memory) return;
    for (const RankMemory& memory : plan->memory->per_rank)
        picture.expected_bytes = std::max(picture.expected_bytes, expected_tensor_bytes(memory));
}

unsigned optional_charts(const RunHistory& history) {
    unsigned charts = 0;
    if (history.ranks().empty()) return charts;
    for (int kind = int(kFirstOptional); kind < kChartKinds; ++kind) {
        const std::vector<Measure> measures = optional_measures(ChartKind(kind));
        const StepColumns& steps = history.ranks().front().steps;
        if (std::any_of(measures.begin(), measures.end(), [&](Measure one) { return steps.has(one); }))
            charts |= bit(ChartKind(kind));
    }
    return charts;
}

void add_headline(RunPicture& picture, const RunHistory& history) {
    if (history.ranks().empty()) return;
    const Headline now = headline(history, picture.total_steps);
    picture.phase = now.phase;
    if (now.loss || history.ranks().front().hello) picture.step = now.step;
    picture.loss = now.loss;
    picture.tokens_per_s = now.tokens_per_s;
    picture.overhead = now.overhead;
    picture.eta_s = now.eta_s;
}

}  // namespace

int64_t expected_tensor_bytes(const RankMemory& memory) {
    return memory.total - memory.runtime;
}

std::vector<Measure> optional_measures(ChartKind kind) {
    switch (kind) {
        case ChartKind::Rewards: {
            std::vector<Measure> all = {Measure::Reward, Measure::RewardsChosen, Measure::RewardsRejected,
                                        Measure::RewardMargin};
            for (size_t i = 0; i < kMostFunctions; ++i) all.push_back(reward_of_function(i));
            return all;
        }
        case ChartKind::RewardShares:
            return {Measure::RewardAccuracy, Measure::ClipShare, Measure::CutShare, Measure::EvenShare};
        case ChartKind::CompletionLength:
            return {Measure::CompletionTokens};
        case ChartKind::Divergence:
            return {Measure::Kl};
        case ChartKind::SamplerGap:
            return {Measure::SamplerGap};
        case ChartKind::LossParts:
            return {Measure::Nll, Measure::RouterLoss};
        default:
            return {};
    }
}

StepRange shown_range(const RunHistory& history, const ChartRequest& request) {
    StepRange all{history.first_step(), history.last_step()};
    if (all.count() == 0) return {};
    if (request.tail > 0) return {std::max(all.from, all.to - request.tail + 1), all.to};
    if (!request.range) return all;
    StepRange shown{std::clamp(request.range->from, all.from, all.to),
                    std::clamp(request.range->to, all.from, all.to)};
    if (shown.from == shown.to) shown.from = std::max(all.from, shown.to - 1);
    return shown;
}

RunCharts make_charts(const RunHistory& history, const ChartRequest& request) {
    return ChartMaker(history, request).make();
}

RunPicture make_picture(const RunHistory& history, const Plan* plan, double now) {
    RunPicture picture;
    picture.state = history.state();
    picture.dir = history.run().dir.string();
    picture.reading = history.progress();
    Evidence evidence = evidence_of(history, now);
    if (plan != nullptr) {
        add_plan(evidence, *plan);
        picture.total_steps = plan->batch.total_steps;
        if (plan->memory) picture.capacity_bytes = plan->memory->device_bytes;
    }
    picture.diagnosis = diagnose(evidence);
    picture.last_heard = history.last_heard();
    picture.duration_s = history.duration_s(now);
    picture.can_resume =
        history.state().state == RunPhase::Failed || history.state().state == RunPhase::Stopped;
    picture.first_error = history.first_error();
    picture.alerts = history.alerts();
    add_headline(picture, history);
    if (picture.phase && counts_seconds(*picture.phase)) {  // rank 0 reports its wait only from time to time
        const auto since = int64_t(std::max(0.0, now - history.ranks().front().last_heard));
        picture.phase->done = std::min(picture.phase->total, picture.phase->done + since);
    }
    add_ranks(picture, history, plan);
    picture.optional_charts = optional_charts(history);
    picture.goes_on = goes_on(picture.diagnosis.finding);
    if (!picture.goes_on) picture.eta_s.reset();
    return picture;
}

}  // namespace ringmaster
