#include "launcher/alerts/detector.h"

#include <algorithm>
#include <cmath>

namespace ringmaster {

namespace {

constexpr size_t kSettled = 30;
constexpr double kFar = 6, kVeryFar = 8;  // deviations above the median
// Minimum distance above the median, as a share of the median
constexpr double kFarShare = 0.2, kVeryFarShare = 0.5;
constexpr size_t kJudgedLosses = 3;
constexpr double kLeastSilence_s = 60, kSilentSteps = 10, kLongSilence_s = 1800;
constexpr size_t kKnownSteps = 5;
constexpr size_t kBlock = 50, kLeastBlocks = 10;
constexpr double kProgress = 0.005, kLowRate = 0.2;
constexpr size_t kJudgedSteps = 20;
constexpr int64_t kJudgeEach = 10;
constexpr double kSlow = 0.15, kRecovered = 0.08;
constexpr int64_t kCoolSteps = 100;
constexpr double kCool_s = 600;
constexpr int kMostAlerts = 200;      // maximum alerts per run
constexpr size_t kMostRows = 16'384;  // maximum steps that wait for other ranks' events
constexpr double kOfMedian = 1.25;    // standard error of a median ÷ that of a mean

template <class T>
void push(std::deque<T>& values, T value, size_t most) {
    values.push_back(std::move(value));
    if (values.size() > most) values.pop_front();
}

double median_of(const std::deque<RankWait>& waits, double RankWait::*member) {
    std::vector<double> values;
    for (const RankWait& wait : waits) values.push_back(wait.*member);
    return median(std::move(values));
}

}  // namespace

void AlertDetector::begin(int64_t start_step, double t) {
    rows_.clear();
    reached_.clear();
    losses_.drop_after(start_step);
    seconds_.drop_after(0);
    above_.clear();
    block_.clear();
    blocks_.resize(std::min(blocks_.size(), static_cast<size_t>(std::max<int64_t>(0, start_step)) / kBlock));
    waits_.clear();
    suspect_ = slow_ = std::nullopt;
    last_step_ = last_row_ = start_step;
    heard(t);
}

void AlertDetector::phase(const std::string& name, double t) {
    heard(t);
    trains_ = name == "train" || name.empty();
}

void AlertDetector::heard(double t) {
    if (!std::isfinite(t) || t <= heard_) return;
    heard_ = t;
    silent_ = false;
}

void AlertDetector::take(const EventLine& line) {
    if (const auto* hello = std::get_if<HelloEvent>(&line.event)) {
        if (line.rank == 0) return begin(hello->start_step, line.t);
    } else if (const auto* phase_event = std::get_if<PhaseEvent>(&line.event)) {
        if (line.rank == 0) return phase(phase_event->name, line.t);
    } else if (const auto* done = std::get_if<StepEvent>(&line.event)) {
        return step(
            {line.rank, done->step, line.t, done->loss, done->lr, done->step_s, done->exposed_comm_s});
    }
    heard(line.t);
}

void AlertDetector::step(const RankStep& done) {
    if (done.rank < 0 || done.rank >= ranks_ || !std::isfinite(done.t)) return;
    if (done.rank == 0 && done.step > last_step_) judge(done);
    heard(done.t);
    if (ranks_ < 2 || done.step <= last_row_) return;
    int64_t& reached = reached_[done.rank];
    reached = std::max(reached, done.step);
    std::vector<RankStep>& row = rows_[done.step];
    row.push_back(done);
    if (row.size() == static_cast<size_t>(ranks_)) {
        last_row_ = done.step;
        judge_waits(row);
        rows_.erase(rows_.begin(), rows_.upper_bound(done.step));
    }
    if (rows_.size() > kMostRows) rows_.erase(rows_.begin());
}

void AlertDetector::judge(const RankStep& step) {
    judge_gap(step);
    last_step_ = step.step;
    judge_loss(step);
    judge_plateau(step);
    if (std::isfinite(step.step_s)) seconds_.add(step.step, step.step_s);
    trains_ = true;  // no phase event says that training continues after an evaluation
}

/// Returns the longest silence, in seconds, that is still normal.
double AlertDetector::longest_silence() const {
    if (!trains_ || seconds_.size() < kKnownSteps) return kLongSilence_s;
    return std::max(kLeastSilence_s, kSilentSteps * seconds_.middle());
}

/// Returns the rank that has finished fewer steps than another one; nothing if all are at the same step.
std::optional<int> AlertDetector::behind() const {
    if (reached_.empty()) return std::nullopt;
    const auto by_step = [](const auto& a, const auto& b) { return a.second < b.second; };
    const auto [low, high] = std::minmax_element(reached_.begin(), reached_.end(), by_step);
    return low->second < high->second ? std::optional(low->first) : std::nullopt;
}

void AlertDetector::judge_gap(const RankStep& step) {
    if (heard_ <= 0 || silent_ || step.t - heard_ <= longest_silence()) return;
    add({AlertKind::Stall, step.t, last_step_, std::nullopt, step.t - heard_});
}

void AlertDetector::look(double now) {
    if (heard_ <= 0 || silent_ || now - heard_ <= longest_silence()) return;
    silent_ = add({AlertKind::Stall, now, last_step_, behind(), now - heard_});
}

void AlertDetector::judge_loss(const RankStep& step) {
    if (!std::isfinite(step.loss)) {
        if (!broken_) broken_ = add({AlertKind::NotANumber, step.t, step.step, std::nullopt, step.loss});
        return;
    }
    broken_ = false;
    bool very_far = false;
    const double usual = losses_.size() > 0 ? losses_.middle() : step.loss;
    if (losses_.size() >= kSettled) {
        const double above = step.loss - usual, level = std::abs(usual);
        // Measuring the noise needs a sort, so it is done only for a loss far above the median.
        const double noise = above > kFarShare * level ? deviation(losses_.sorted(), usual) : 0;
        push(above_, above > std::max(kFar * noise, kFarShare * level), kJudgedLosses);
        very_far = above > std::max(kVeryFar * noise, kVeryFarShare * level);
    }
    if (very_far || std::count(above_.begin(), above_.end(), true) > 1) {
        if (add({AlertKind::Spike, step.t, step.step, std::nullopt, step.loss, usual})) above_.clear();
    }
    losses_.add(step.step, step.loss);
}

void AlertDetector::judge_plateau(const RankStep& step) {
    highest_lr_ = std::max(highest_lr_, step.lr);
    if (std::isfinite(step.loss)) block_.push_back(step.loss);
    if (block_.size() < kBlock) return;
    blocks_.push_back(median(std::exchange(block_, {})));
    const size_t count = std::max(kLeastBlocks, blocks_.size() / 4);
    if (blocks_.size() < 2 * count) return;
    const auto split = blocks_.end() - static_cast<std::ptrdiff_t>(count);
    const std::vector<double> last(split, blocks_.end());
    const double now = median(last), before = median({split - static_cast<std::ptrdiff_t>(count), split});
    const double noise = kOfMedian * deviation(last, now) / std::sqrt(static_cast<double>(count));
    const double least = kProgress * std::abs(before);
    if (flat_at_ && now < *flat_at_ - least) flat_at_.reset();
    const bool flat = 2 * noise < least && before - now + 2 * noise < least;
    if (flat_at_ || step.lr < kLowRate * highest_lr_ || !flat) return;
    Alert alert{AlertKind::Plateau, step.t, step.step, std::nullopt, now};
    alert.steps = static_cast<int64_t>(count * kBlock);
    if (add(alert)) flat_at_ = now;
}

void AlertDetector::judge_waits(const std::vector<RankStep>& row) {
    const RankStep& at = row.front();
    for (const RankStep& step : row)
        push(waits_[step.rank], {step.rank, step.wait_s, step.step_s}, kJudgedSteps);
    if (at.step % kJudgeEach != 0 || waits_.begin()->second.size() < kJudgedSteps) return;
    std::vector<RankWait> waits;
    for (const auto& [rank, of_rank] : waits_) {
        const RankWait wait{rank, median_of(of_rank, &RankWait::wait_s),
                            median_of(of_rank, &RankWait::step_s)};
        if (std::isnan(wait.wait_s) || !(wait.step_s > 0)) return;
        waits.push_back(wait);
    }
    const SlowRank found = slowest_rank(waits);
    if (found.share < kRecovered) slow_.reset();
    const std::optional<int> slow = found.share >= kSlow ? std::optional(found.rank) : std::nullopt;
    const bool again = slow && slow == suspect_;
    suspect_ = slow;
    if (!again || slow == slow_) return;
    Alert alert{AlertKind::SlowRank, at.t, at.step, slow, found.share};
    alert.steps = static_cast<int64_t>(kJudgedSteps);
    // A different rank is slow now, so this alert is not a repetition.
    if (slow_) last_[static_cast<size_t>(AlertKind::SlowRank)].reset();
    if (add(alert)) slow_ = slow;
}

/// Adds an alert, unless one of its kind was added shortly before. Returns whether it was added.
bool AlertDetector::add(const Alert& alert) {
    std::optional<Last>& last = last_[static_cast<size_t>(alert.kind)];
    // A stalled run completes no steps, so steps cannot measure the time.
    const int64_t least = alert.kind == AlertKind::Stall ? 0 : kCoolSteps;
    const bool is_new = !last || (alert.step - last->step >= least && alert.t - last->t >= kCool_s);
    if (!is_new || count_ >= kMostAlerts) return false;
    last = {alert.t, alert.step};
    ++count_;
    alerts_.push_back(alert);
    return true;
}

}  // namespace ringmaster
