#include "launcher/history/figures.h"

#include <algorithm>
#include <cmath>

namespace ringmaster {

namespace {

constexpr int64_t kPaceSteps = 50;  ///< steps that the remaining time is estimated from

/// Returns the seconds per step by the clock within one attempt, saving and evaluation included; NaN if
/// unknown.
double pace(const RankHistory& rank) {
    const int64_t began = rank.hello ? rank.hello->start_step : 0;
    for (int64_t first = std::max(began + 1, rank.last_step - kPaceSteps); first < rank.last_step; ++first) {
        if (!rank.steps.has(first)) continue;
        const double took = rank.steps.time(rank.last_step) - rank.steps.time(first);
        return std::max(0.0, took) / static_cast<double>(rank.last_step - first);
    }
    return static_cast<double>(rank.steps.value(rank.last_step, Measure::StepSeconds));
}

}  // namespace

void StepSums::add(const StepEvent& step) {
    if (!(step.step_s > 0) || !std::isfinite(step.step_s)) return;
    step_s += step.step_s;
    tokens += static_cast<double>(step.tokens);
    exposed_s += std::isfinite(step.exposed_comm_s) ? step.exposed_comm_s : 0;
    ++steps;
}

StepSums sums_of(const StepEvent& step) {
    StepSums sums;
    sums.add(step);
    return sums;
}

StepSums recent_sums(const RankHistory& rank) {
    StepSums sums;
    for (int64_t step = std::max<int64_t>(1, rank.last_step - kRecentSteps + 1); step <= rank.last_step;
         ++step)
        sums.add(rank.steps.event(step));
    return sums;
}

std::optional<double> mean_overhead(const std::vector<StepSums>& ranks) {
    double sum = 0;
    int known = 0;
    for (const StepSums& rank : ranks) {
        if (const auto overhead = rank.overhead()) sum += *overhead, ++known;
    }
    return known > 0 ? std::optional(sum / known) : std::nullopt;
}

const RankHistory* reference(const RunHistory& history) {
    const RankHistory* longest = nullptr;
    for (const RankHistory& rank : history.ranks()) {
        if (!rank.steps.empty() && (longest == nullptr || rank.steps.count() > 2 * longest->steps.count()))
            longest = &rank;
    }
    return longest;
}

Headline headline(const RunHistory& run, std::optional<int64_t> total_steps) {
    Headline line;
    line.total_steps = total_steps;
    if (run.ranks().empty()) return line;
    const RankHistory& first = run.ranks().front();
    const bool over = is_over(run.state().state);
    if (first.phase && first.phase->name != "train" && !over) line.phase = first.phase;
    if (first.hello) line.step = first.hello->start_step;
    if (!first.steps.has(first.last_step)) return line;
    const StepEvent last = first.steps.event(first.last_step);
    line.step = last.step;
    line.loss = last.loss;
    line.lr = last.lr;
    line.grad_norm = last.grad_norm;
    std::vector<StepSums> ranks;
    for (const RankHistory& rank : run.ranks()) ranks.push_back(recent_sums(rank));
    line.tokens_per_s = ranks.front().tokens_per_s();
    line.overhead = mean_overhead(ranks);
    const double seconds = pace(first);
    if (total_steps && !over && !std::isnan(seconds))
        line.eta_s = static_cast<double>(std::max<int64_t>(0, *total_steps - line.step)) * seconds;
    return line;
}

double ran_before_s(const RunDirectory& run, const RunState& state) {
    if (state.attempt < 2) return 0;
    EventReader reader(run.events() / event_file_name(0));
    double ran = 0, began = 0, last = 0;
    for (std::vector<EventLine> lines = reader.poll(); !lines.empty(); lines = reader.poll()) {
        for (const EventLine& line : lines) {
            if (std::holds_alternative<HelloEvent>(line.event)) {
                if (began > 0) ran += std::max(0.0, last - began);
                began = line.t;
            }
            last = line.t;
        }
    }
    return ran;
}

std::optional<double> duration_s(const RunState& state, double ran_before_s, double now) {
    if (!(state.started > 0)) return std::nullopt;
    const double end = is_over(state.state) ? (state.ended > 0 ? state.ended : state.updated) : now;
    return end >= state.started ? std::optional(ran_before_s + end - state.started) : std::nullopt;
}

}  // namespace ringmaster
