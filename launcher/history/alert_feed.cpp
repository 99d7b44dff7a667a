#include "launcher/history/alert_feed.h"

#include <algorithm>
#include <cmath>

#include "launcher/history/history.h"

namespace ringmaster {

namespace {

constexpr int64_t kChunk = StepColumns::kBlock;
constexpr double kLongGap_s = 60;

/// Returns the time of the newest event, other than a step, that was written between the previous step and
/// this one; 0 if there is none.
double heard_before(const RunHistory& run, int64_t step, double after, double until) {
    double heard = 0;
    const auto& others = run.happenings();
    const auto end = std::lower_bound(others.begin(), others.end(), until,
                                      [](const Happening& one, double t) { return one.t < t; });
    if (end != others.begin() && std::prev(end)->t > after) heard = std::prev(end)->t;
    const auto eval = run.evaluations().find(step - 1);
    return eval == run.evaluations().end() ? heard : std::max(heard, eval->second.first);
}

RankStep step_of(const RankHistory& rank, int64_t step) {
    const auto value = [&](Measure measure) { return static_cast<double>(rank.steps.value(step, measure)); };
    RankStep made{rank.rank, step, rank.steps.time(step)};
    if (rank.rank == 0) {
        made.loss = value(Measure::Loss);
        made.lr = value(Measure::LearningRate);
    }
    made.step_s = value(Measure::StepSeconds);
    made.wait_s = value(Measure::ExposedSeconds);
    return made;
}

}  // namespace

void AlertFeed::take(const std::vector<EventLine>& lines, int ranks, bool looks, double now) {
    detector_.set_ranks(ranks);
    for (const EventLine& line : lines) detector_.take(line);
    if (looks && lines.empty()) detector_.look(now);
    keep(detector_.take_alerts());
}

void AlertFeed::advance(const RunHistory& run, bool looks, double now) {
    const std::vector<RankHistory>& ranks = run.ranks();
    if (ranks.empty() || ranks.front().steps.empty()) return;
    detector_.set_ranks(static_cast<int>(ranks.size()));
    next_.resize(ranks.size(), next_.empty() ? 1 : next_.front());
    learn_attempts(run);
    const int64_t last = run.last_step();
    for (int64_t from = *std::min_element(next_.begin(), next_.end()); from <= last;) {
        int64_t to = std::min(last, from + kChunk - 1);
        const auto boundary = begins_.lower_bound(from);
        if (boundary != begins_.end()) to = std::min(to, *boundary);
        feed(run, from, to);
        if (begins_.erase(to) > 0) begin(to, ranks.front().steps.time(to));
        from = to + 1;
    }
    if (looks) {
        detector_.phase(ranks.front().phase ? ranks.front().phase->name : "", run.last_heard());
        detector_.look(now);
    }
    keep(detector_.take_alerts());
}

/// Starts over if there is a new attempt. In a recorded run, only those attempts count whose steps no later
/// attempt has replaced.
void AlertFeed::learn_attempts(const RunHistory& run) {
    if (run.attempts().empty()) return;
    const auto& [newest, hello] = *run.attempts().rbegin();
    if (newest <= attempt_) return;
    if (std::exchange(attempt_, newest) > 0 || next_.front() > 1) {
        const int64_t start = std::max<int64_t>(0, hello.start_step);
        begin(start, run.ranks().front().steps.time(start));
        return;
    }
    int64_t lowest = StepColumns::kMostSteps;
    for (auto one = run.attempts().rbegin(); one != run.attempts().rend(); ++one) {
        const int64_t start = one->second.start_step;
        if (start >= lowest || start < 1) continue;
        begins_.insert(start);
        lowest = start;
    }
}

void AlertFeed::begin(int64_t start_step, double t) {
    detector_.begin(start_step, t);
    std::fill(next_.begin(), next_.end(), start_step + 1);
}

void AlertFeed::feed(const RunHistory& run, int64_t from, int64_t to) {
    for (const RankHistory& rank : run.ranks()) {
        int64_t& next = next_[static_cast<size_t>(rank.rank)];
        for (next = std::max(next, from); next <= std::min(to, rank.last_step); ++next) {
            const RankStep step = step_of(rank, next);
            if (std::isnan(step.t)) continue;
            const double before = rank.rank == 0 && next > 1 ? rank.steps.time(next - 1) : step.t;
            if (step.t - before > kLongGap_s) detector_.heard(heard_before(run, next, before, step.t));
            detector_.step(step);
        }
    }
}

void AlertFeed::keep(std::vector<Alert> found) {
    for (const Alert& alert : found) {
        const auto at = std::upper_bound(all_.begin(), all_.end(), alert,
                                         [](const Alert& a, const Alert& b) { return a.t < b.t; });
        all_.insert(at, alert);
        news_.push_back(alert);
    }
}

std::vector<Alert> AlertFeed::take_news() {
    return std::exchange(news_, {});
}

}  // namespace ringmaster
