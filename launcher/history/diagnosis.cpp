#include "launcher/history/diagnosis.h"

#include <algorithm>
#include <cmath>

#include "launcher/alerts/robust.h"
#include "launcher/base/format.h"
#include "launcher/history/figures.h"
#include "launcher/run/recorded_run.h"

namespace ringmaster {

namespace {

constexpr size_t kRecent = 100;  ///< most recent steps of each rank to look at
constexpr size_t kJudged = 20;   ///< fewest steps that the straggler rule needs
constexpr double kSlow = 0.1, kVerySlow = 0.2;
/// Maximum steps searched backwards for the step at which a rank became slow.
constexpr int64_t kMostFollowed = 10'000;
constexpr double kLeastHang_s = 60, kHangSteps = 10;
constexpr double kLongPhase_s = 300;  ///< loading and saving may stay silent for this long
constexpr double kFullMemory = 0.95;
constexpr double kHighOverhead = 0.25;  ///< share of a step; it must also exceed 1.5 × the planned share
constexpr double kDrop = 0.2;
constexpr size_t kSettled = 30;  ///< fewest steps before a spike or a drop can be detected

std::vector<double> last_of(const RankEvidence& rank, size_t count, auto value) {
    std::vector<double> values;
    const size_t begin = rank.recent.size() > count ? rank.recent.size() - count : 0;
    for (size_t i = begin; i < rank.recent.size(); ++i) values.push_back(value(rank.recent[i].event));
    return values;
}

double wait_of(const StepEvent& step) {
    return step.exposed_comm_s;
}
double seconds_of(const StepEvent& step) {
    return step.step_s;
}

double last_step_time(const Evidence& run) {
    double last = 0;
    for (const RankEvidence& rank : run.ranks) {
        if (!rank.recent.empty()) last = std::max(last, rank.recent.back().t);
    }
    return last;
}

double last_heard(const Evidence& run) {
    double last = 0;
    for (const RankEvidence& rank : run.ranks) last = std::max(last, rank.last_heard);
    return last;
}

/// Returns the rank at the lowest step; of several, the one that has been silent longest.
const RankEvidence* last_in_line(const Evidence& run) {
    const auto key = [](const RankEvidence& rank) {
        return std::pair(rank.recent.empty() ? 0 : rank.recent.back().event.step, rank.last_heard);
    };
    const auto found = std::min_element(run.ranks.begin(), run.ranks.end(),
                                        [&](const auto& a, const auto& b) { return key(a) < key(b); });
    return found == run.ranks.end() ? nullptr : &*found;
}

using Maybe = std::optional<Diagnosis>;

/// Returns the highest last step of any rank.
int64_t last_step(const Evidence& run) {
    int64_t last = 0;
    for (const RankEvidence& rank : run.ranks)
        if (!rank.recent.empty()) last = std::max(last, rank.recent.back().event.step);
    return last;
}

/// Reports a run that has ended and whose files have since vanished or broken. Ignores what was read from the
/// files earlier.
Maybe gone(const Evidence& run) {
    if (run.problem.empty() || !is_over(run.state.state)) return {};
    Diagnosis found{Finding::Gone, Urgency::Warning};
    found.text = run.problem;
    return found;
}

Maybe ended(const Evidence& run) {
    Diagnosis end;
    end.text = run.state.reason;
    end.why = run.state.why;
    end.code = run.state.code;
    switch (run.state.state) {
        case RunPhase::Completed:
            end.finding = Finding::Completed;
            end.urgency = Urgency::Good;
            end.text = run.output_dir;
            if (is_cut_short(run.state.state, run.is_done, last_step(run), run.total_steps)) {
                end.urgency = Urgency::Warning;
                end.step = last_step(run);
            }
            return end;
        case RunPhase::Stopped:
            end.finding = Finding::Stopped;
            end.step = run.checkpoint;
            return end;
        case RunPhase::Failed:
            end.finding = Finding::Failed;
            end.urgency = Urgency::Critical;
            end.step = run.checkpoint;
            end.rank = run.state.failed_rank >= 0 ? std::optional(run.state.failed_rank) : run.error_rank;
            if (end.text.empty()) end.text = run.error_message;
            return end;
        default:
            return {};
    }
}

Maybe disconnected(const Evidence& run) {
    const double silence = run.now - std::max(last_heard(run), run.state.updated);
    const bool waits = run.state.state == RunPhase::Queued;
    const bool is_elsewhere =
        !waits && !run.state.writer.host.empty() && run.state.writer.host != this_host();
    const bool is_silent = is_elsewhere && silence > std::max(hang_seconds(run.ranks), 120.0);
    if (run.problem.empty() && !is_silent) return {};
    Diagnosis found{Finding::Disconnected, Urgency::None};
    found.seconds = std::max(silence, 0.0);
    found.text = run.problem;
    found.host = run.state.writer.host;
    return found;
}

Maybe not_a_number(const Evidence& run) {
    if (run.ranks.empty() || run.ranks.front().recent.empty()) return {};
    const auto& steps = run.ranks.front().recent;
    if (!std::isnan(steps.back().event.loss)) return {};
    Diagnosis found{Finding::NotANumber, Urgency::Critical};
    for (auto step = steps.rbegin(); step != steps.rend() && std::isnan(step->event.loss); ++step)
        found.step = step->event.step;
    found.text.clear();
    if (run.checkpoint && *run.checkpoint < *found.step) found.text = std::to_string(*run.checkpoint);
    return found;
}

bool awaits_rollouts(const Evidence& run) {
    return !run.ranks.empty() && run.ranks.front().phase == "rollouts";
}

/// Returns true if the rank has finished fewer steps than another, or has been silent for longest, by more
/// than a second.
bool is_behind(const RankEvidence& rank, const Evidence& run) {
    constexpr double kApart_s = 1;
    const auto step = [](const RankEvidence& of) {
        return of.recent.empty() ? 0 : of.recent.back().event.step;
    };
    if (step(rank) < last_step(run)) return true;
    return run.ranks.size() > 1 &&
           std::all_of(run.ranks.begin(), run.ranks.end(), [&](const RankEvidence& other) {
               return &other == &rank || other.last_heard > rank.last_heard + kApart_s;
           });
}

Maybe hanging(const Evidence& run) {
    const RankEvidence* behind = last_in_line(run);
    if (behind == nullptr) return {};
    const double heard = last_heard(run);
    // Rank 0 alone reports the wait for rollouts, in which all ranks are silent.
    const std::string& phase = awaits_rollouts(run) ? run.ranks.front().phase : behind->phase;
    const bool trains = phase == "train" || phase.empty();
    const double silence = run.now - (trains ? std::max(last_step_time(run), heard) : heard);
    if (heard == 0 || silence <= (trains ? hang_seconds(run.ranks) : kLongPhase_s)) return {};
    Diagnosis found{Finding::Hanging, Urgency::Critical};
    found.seconds = silence;
    if (is_behind(*behind, run)) {
        found.rank = behind->rank;
        found.host = behind->host;
    }
    found.text = phase;
    if (!behind->recent.empty()) found.step = behind->recent.back().event.step;
    return found;
}

Maybe between_steps(const Evidence& run) {
    if (run.state.state == RunPhase::Stopping) return Diagnosis{Finding::Stopping, Urgency::None};
    if (run.state.state != RunPhase::Running) return Diagnosis{Finding::Waiting, Urgency::None};
    if (awaits_rollouts(run)) return Diagnosis{Finding::AwaitingRollouts, Urgency::None};
    const std::string phase = run.ranks.empty() ? "" : run.ranks.front().phase;
    const bool steps = !run.ranks.empty() && !run.ranks.front().recent.empty();
    if (steps && (phase == "train" || phase.empty())) return {};
    Diagnosis found{phase == "export" ? Finding::Saving : Finding::Starting, Urgency::None};
    found.text = phase;
    return found;
}

Maybe straggling(const Evidence& run, double from) {
    const auto slow = find_straggler(run.ranks);
    if (!slow || slow->score < from) return {};
    Diagnosis found{Finding::Straggler, slow->score < kVerySlow ? Urgency::Warning : Urgency::Critical};
    found.rank = slow->rank;
    found.share = slow->score;
    found.step = slow->since_step;
    found.may_be_earlier = slow->may_be_earlier;
    for (const RankEvidence& rank : run.ranks) {
        if (rank.rank == slow->rank) found.host = rank.host;
    }
    return found;
}

Maybe memory_nearly_full(const Evidence& run) {
    Diagnosis found{Finding::MemoryNearlyFull, Urgency::Warning};
    for (const RankEvidence& rank : run.ranks) {
        if (rank.recent.empty() || run.device_bytes <= 0) continue;
        const double share = static_cast<double>(rank.recent.back().event.peak_memory_bytes) /
                             static_cast<double>(run.device_bytes);
        if (share <= found.share) continue;
        found.share = share;
        found.rank = rank.rank;
        found.host = rank.host;
    }
    return found.share > kFullMemory ? Maybe(found) : Maybe();
}

Maybe loss_spike(const Evidence& run) {
    if (run.ranks.empty()) return {};
    std::vector<double> losses =
        last_of(run.ranks.front(), kRecent, [](const StepEvent& s) { return s.loss; });
    if (losses.size() <= kSettled) return {};
    const double last = losses.back();
    losses.pop_back();
    const double usual = median(losses);
    if (!(last > usual + std::max(6 * deviation(losses, usual), 0.2 * std::abs(usual)))) return {};
    Diagnosis found{Finding::LossSpike, Urgency::Warning};
    found.step = run.ranks.front().recent.back().event.step;
    found.share = last / usual - 1;
    return found;
}

Maybe throughput_drop(const Evidence& run) {
    if (run.ranks.empty()) return {};
    const auto rate = [](const StepEvent& step) {
        return sums_of(step).tokens_per_s().value_or(std::nan(""));
    };
    std::vector<double> rates = last_of(run.ranks.front(), kRecent, rate);
    if (rates.size() < kSettled + kJudged / 2) return {};
    const auto split = rates.end() - static_cast<std::ptrdiff_t>(kJudged / 2);
    const double now = median({split, rates.end()}), before = median({rates.begin(), split});
    if (!(now < before * (1 - kDrop))) return {};
    Diagnosis found{Finding::ThroughputDrop, Urgency::Warning};
    found.share = 1 - now / before;
    return found;
}

double overhead(const Evidence& run) {
    std::vector<StepSums> ranks;
    for (const RankEvidence& rank : run.ranks) {
        StepSums& sums = ranks.emplace_back();
        const size_t begin = rank.recent.size() - std::min(rank.recent.size(), size_t{kRecentSteps});
        for (size_t i = begin; i < rank.recent.size(); ++i) sums.add(rank.recent[i].event);
    }
    return mean_overhead(ranks).value_or(0);
}

Maybe high_overhead(const Evidence& run) {
    Diagnosis found{Finding::HighOverhead, Urgency::Warning};
    found.share = overhead(run);
    found.advice = run.layout_advice;
    const bool enough = !run.ranks.empty() && run.ranks.front().recent.size() >= kJudged;
    const double limit = std::max(kHighOverhead, 1.5 * run.planned_overhead.value_or(0));
    return enough && found.share > limit ? Maybe(found) : Maybe();
}

Diagnosis running_well(const Evidence& run) {
    Diagnosis well{Finding::RunningWell, Urgency::Good};
    well.share = overhead(run);
    const RankEvidence& first = run.ranks.front();
    well.step = first.recent.back().event.step;
    well.seconds = median(last_of(first, kRecent, seconds_of)) *
                   static_cast<double>(run.total_steps.value_or(*well.step) - *well.step);
    return well;
}

struct StepTimes {
    double step_s = 0, wait_s = 0;
};
/// Returns the times of a rank's step; nullopt if the step is not known.
std::optional<StepTimes> times_of(const RankEvidence& rank, int64_t step) {
    if (rank.steps != nullptr) {
        if (!rank.steps->has(step)) return {};
        return StepTimes{double(rank.steps->value(step, Measure::StepSeconds)),
                         double(rank.steps->value(step, Measure::ExposedSeconds))};
    }
    for (const TimedStep& one : rank.recent)
        if (one.event.step == step) return StepTimes{one.event.step_s, one.event.exposed_comm_s};
    return {};
}

/// Follows the stretch in which the other rank waits for the culprit back to its first step.
void set_begin(Straggler& found, const RankEvidence& culprit, const RankEvidence& other) {
    const int64_t last = std::min(culprit.recent.back().event.step, other.recent.back().event.step);
    for (int64_t step = last; step > culprit.start_step; --step) {
        const auto own = times_of(culprit, step), waiting = times_of(other, step);
        found.may_be_earlier = !own || !waiting || last - step >= kMostFollowed;
        if (found.may_be_earlier) break;
        if (!(waiting->wait_s - own->wait_s >= kSlow / 2 * waiting->step_s)) break;
        found.since_step = step;
    }
    if (found.since_step == 0) found.since_step = culprit.recent[culprit.recent.size() - kJudged].event.step;
}

std::string whose(const Diagnosis& found) {
    const std::string name = found.rank ? "rank " + std::to_string(*found.rank) : "a rank";
    return found.host.empty() ? name : name + " on " + found.host;
}

std::string at_step(const Diagnosis& found) {
    return found.step ? " at step " + format_count(*found.step) : "";
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

}  // namespace

double hang_seconds(const std::vector<RankEvidence>& ranks) {
    if (ranks.empty()) return kLeastHang_s;
    const double usual = median(last_of(ranks.front(), kRecent, seconds_of));
    return std::isnan(usual) ? kLeastHang_s : std::max(kLeastHang_s, kHangSteps * usual);
}

std::optional<Straggler> find_straggler(const std::vector<RankEvidence>& ranks) {
    if (ranks.size() < 2) return {};
    std::vector<RankWait> waits;
    for (size_t i = 0; i < ranks.size(); ++i) {
        if (ranks[i].recent.size() < kJudged) return {};
        const RankWait wait{static_cast<int>(i), median(last_of(ranks[i], kJudged, wait_of)),
                            median(last_of(ranks[i], kJudged, seconds_of))};
        if (std::isnan(wait.wait_s) || !(wait.step_s > 0)) return {};
        waits.push_back(wait);
    }
    const SlowRank slow = slowest_rank(waits);
    const RankEvidence& culprit = ranks[static_cast<size_t>(slow.rank)];
    Straggler found{culprit.rank, slow.share};
    set_begin(found, culprit, ranks[static_cast<size_t>(slow.waiting)]);
    return found;
}

Diagnosis diagnose(const Evidence& run) {
    if (Maybe found = gone(run)) return *found;
    if (Maybe found = ended(run)) return *found;
    if (Maybe found = disconnected(run)) return *found;
    if (Maybe found = not_a_number(run)) return *found;
    if (run.state.state == RunPhase::Running) {
        if (Maybe found = hanging(run)) return *found;
    }
    if (Maybe found = between_steps(run)) return *found;
    if (Maybe found = straggling(run, kVerySlow)) return *found;
    if (Maybe found = memory_nearly_full(run)) return *found;
    if (Maybe found = loss_spike(run)) return *found;
    if (Maybe found = straggling(run, kSlow)) return *found;
    if (Maybe found = throughput_drop(run)) return *found;
    if (Maybe found = high_overhead(run)) return *found;
    return running_well(run);
}

DiagnosisText text_of(const Diagnosis& found) {
    const std::string share = format_percent(found.share);
    const std::string resume =
        found.step ? "resume from step " + format_count(*found.step) : "resume starts it from the beginning";
    switch (found.finding) {
        case Finding::Waiting:
            return {"Waiting to start.", "", ""};
        case Finding::Starting:
            return {"Starting.", found.text.empty() ? "" : "It is in the phase " + found.text + ".", ""};
        case Finding::AwaitingRollouts:
            return {"Waiting for rollouts.", "The next step begins when its files are in the folder.", ""};
        case Finding::RunningWell:
            return {"Running well.", share + " of a step is exposed communication.", ""};
        case Finding::Saving:
            return {"Saving the final model.", "", ""};
        case Finding::Stopping:
            return {"Stopping.", "The step is finished and a checkpoint saved.", ""};
        case Finding::NotANumber:
            return {"The loss is not a number.", "It began" + at_step(found) + ".",
                    "Stop now, lower the learning rate or the gradient's bound" +
                        (found.text.empty() ? "." : ", and resume from step " + found.text + ".")};
        case Finding::Hanging:
            return {"No step for " + format_duration(found.seconds) + ".",
                    (found.rank ? whose(found) + " stopped first" : "No rank is behind another") +
                        at_step(found) + (found.text.empty() ? "" : ", in the phase " + found.text) + ".",
                    "Look at the log; stop now and resume if it does not come back."};
        case Finding::MemoryNearlyFull:
            return {"Memory is nearly full.", share + " of the device at the peak of " + whose(found) + ".",
                    "A longer sequence or batch would not fit."};
        case Finding::Straggler:
            return {whose(found) + " is slow.",
                    "The others wait " + share + " of a step for it since step " +
                        format_count(found.step.value_or(0)) + (found.may_be_earlier ? " or earlier." : "."),
                    "Check that device: temperature, clock, other programs."};
        case Finding::LossSpike:
            return {"The loss has jumped.", "It is " + share + " above the usual" + at_step(found) + ".",
                    "Watch the gradient norm; lower the learning rate if it stays."};
        case Finding::ThroughputDrop:
            return {"It has become slower.", "Tokens per second fell by " + share + ".",
                    "Look for other programs on the nodes, and at the data's wait."};
        case Finding::HighOverhead:
            return {"Much waiting for communication.", share + " of a step is exposed.",
                    found.advice ? found.advice->hint : "The plan's alternatives may expose less."};
        case Finding::Disconnected:
            return {"Disconnected.", "Last heard " + format_duration(found.seconds) + " ago.",
                    found.text.empty() ? "The run may well go on; nothing is lost." : found.text};
        case Finding::Completed:
            return {"Completed.", found.text.empty() ? "" : "The model is in " + found.text + ".",
                    found.is_cut_short() ? cut_short_text(*found.step) : ""};
        case Finding::Gone:
            return {"Its files cannot be read any more.", found.text, "What is shown was read before."};
        case Finding::Stopped:
            return {"Stopped.", found.text, "To go on, " + resume + "."};
        case Finding::Failed:
            return {"Failed.", first_line(found.text), "To go on, " + resume + "."};
    }
    return {};
}

Evidence evidence_of(const RunHistory& history, double now) {
    Evidence evidence;
    evidence.state = history.state();
    evidence.problem = history.problem();
    evidence.now = now;
    for (const Happening& one : history.happenings()) {
        if (completes_run(one.event)) evidence.is_done = true;
    }
    for (const RankHistory& rank : history.ranks()) {
        RankEvidence& of_rank = evidence.ranks.emplace_back();
        of_rank.rank = rank.rank;
        of_rank.host = rank.hello ? rank.hello->host : "";
        of_rank.phase = rank.phase ? rank.phase->name : "";
        of_rank.last_heard = rank.last_heard;
        of_rank.start_step = rank.hello ? rank.hello->start_step : 0;
        of_rank.steps = &rank.steps;
        const int64_t first =
            std::max(of_rank.start_step, rank.last_step - static_cast<int64_t>(kRecent)) + 1;
        for (int64_t step = first; step <= rank.last_step; ++step) {
            if (rank.steps.has(step))
                of_rank.recent.push_back({rank.steps.time(step), rank.steps.event(step)});
        }
    }
    if (!history.checkpoints().empty()) evidence.checkpoint = history.checkpoints().rbegin()->first;
    if (const auto& error = history.first_error()) {
        evidence.error_message = std::get<ErrorEvent>(error->event).message;
        evidence.error_rank = error->rank;
    }
    return evidence;
}

void add_plan(Evidence& evidence, const Plan& plan) {
    evidence.total_steps = plan.batch.total_steps;
    if (plan.memory) evidence.device_bytes = plan.memory->device_bytes;
    if (plan.time && plan.time->step_s > 0) evidence.planned_overhead = plan.time->overhead();
    evidence.output_dir = plan.config.output_dir;
    for (const Diagnostic& finding : plan.diagnostics) {
        if (finding.code == "CP-BATCH-RING" || finding.code == "CP-ULYSSES-STAGE")
            evidence.layout_advice = finding;
    }
}

}  // namespace ringmaster
