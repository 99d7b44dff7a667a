#include "launcher/history/compare.h"

#include <algorithm>
#include <atomic>
#include <cmath>
#include <future>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/config/document.h"
#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/events/event_log.h"
#include "launcher/alerts/detector.h"
#include "launcher/base/bounded_file.h"
#include "launcher/history/figures.h"
#include "launcher/history/run_details.h"
#include "launcher/run/recorded_run.h"

namespace ringmaster {

using nlohmann::json;

namespace {

/// Largest difference that counts as noise: 0.5 %, or 0.5 percentage points of a share.
constexpr double kSame = 0.005;
constexpr size_t kMostEvaluations = 100'000;  ///< older evaluations are dropped
/// Runs read at the same time; each holds up to 60 MB of events
constexpr unsigned kMostReaders = 4;
constexpr int64_t kMostPlanBytes = 64 << 20;
constexpr JsonLimits kPlanLimits{kMostPlanBytes, 64, 1 << 20};
constexpr size_t kLongestValue = 400;
constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();

using Flat = std::map<std::string, std::string>;

void flatten(const json& value, const std::string& path, Flat& into) {
    if (value.is_object() && !value.empty()) {
        for (const auto& [key, member] : value.items())
            flatten(member, path.empty() ? key : path + "." + key, into);
    } else if (value.is_array() && !value.empty()) {
        for (size_t index = 0; index < value.size(); ++index)
            flatten(value[index], path + "." + std::to_string(index), into);
    } else {
        std::string text = value.is_string() ? value.get<std::string>()
                                             : value.dump(-1, ' ', false, json::error_handler_t::replace);
        if (text.size() > kLongestValue) text = text.substr(0, kLongestValue) + "…";
        into[path] = text;
    }
}

/// Returns the values of the run's configuration file, overridden by --set and by the form.
Flat asked_for(const RunDirectory& run) {
    Flat flat;
    Document document;
    Diagnostics said;
    try {
        if (read_document(read_bounded(run.config(), kMaxConfigBytes), document, said))
            flatten(document.values, "", flat);
    } catch (const Error&) {  // the file is missing; the run's row reports that
    }
    try {
        for (const auto& [key, setting] : recorded_settings(recorded_options(run))) {
            json value;
            if (read_value(setting, value, said)) flatten(value, key, flat);
        }
    } catch (const Error&) {
    }
    return flat;
}

/// Returns the plan's values that a user reads; leaves out paths, rows and diagnostics.
Flat planned(const RunDirectory& run) {
    Flat flat;
    try {
        const json plan = try_bounded_json(read_bounded(run.plan(), kMostPlanBytes), kPlanLimits);
        if (!plan.is_object()) return flat;
        for (const char* key : {"ranks", "nodes", "device", "zero_stage", "mesh", "context_parallel", "batch",
                                "sequence", "verdict"}) {
            if (plan.contains(key)) flatten(plan[key], key, flat);
        }
    } catch (const Error&) {
    }
    return flat;
}

std::vector<DifferingLine> differing(const std::vector<Flat>& all, bool from_plan) {
    Flat keys;
    for (const Flat& flat : all) keys.insert(flat.begin(), flat.end());
    std::vector<DifferingLine> lines;
    for (const auto& [key, unused] : keys) {
        DifferingLine line{key, {}, from_plan};
        for (const Flat& flat : all) {
            const auto found = flat.find(key);
            line.values.push_back(found == flat.end() ? std::nullopt : std::optional(found->second));
        }
        const auto other = [&](const auto& value) { return value != line.values.front(); };
        if (std::any_of(line.values.begin(), line.values.end(), other)) lines.push_back(std::move(line));
    }
    return lines;
}

std::optional<double> known(double value) {
    return std::isfinite(value) ? std::optional(value) : std::nullopt;
}

std::optional<double> ratio(const auto& measured, const auto& planned) {
    if (!measured || !planned || !(*planned > 0)) return std::nullopt;
    return static_cast<double>(*measured) / static_cast<double>(*planned);
}

std::optional<double> value_of(ComparedFigure figure, const ComparedRun& run) {
    const MeasuredFigures& measured = run.row.measured;
    const PlannedFigures& plan = run.row.planned;
    switch (figure) {
        case ComparedFigure::LastLoss:
            return measured.last_loss ? known(*measured.last_loss) : std::nullopt;
        case ComparedFigure::BestLoss:
            return known(run.curves.best_loss);
        case ComparedFigure::LastEvalLoss:
            return run.curves.eval_loss.empty() ? std::nullopt : known(run.curves.eval_loss.back());
        case ComparedFigure::LastReward:
            return run.curves.last_reward();
        case ComparedFigure::TokensPerSecond:
            return measured.tokens_per_s;
        case ComparedFigure::StepTime:
            return measured.step_s;
        case ComparedFigure::Overhead:
            return measured.overhead;
        case ComparedFigure::PeakMemory:
            return measured.peak_memory_bytes
                       ? std::optional(static_cast<double>(*measured.peak_memory_bytes))
                       : std::nullopt;
        case ComparedFigure::Duration:
            return run.row.duration_s(unix_now());
        case ComparedFigure::MemoryOverEstimate:
            return ratio(measured.peak_memory_bytes, plan.memory_bytes);
        case ComparedFigure::TimeOverEstimate:
            return ratio(measured.step_s, plan.step_s);
    }
    return std::nullopt;
}

std::vector<FigureRow> figures_of(const std::vector<ComparedRun>& runs) {
    std::vector<FigureRow> rows;
    for (const ComparedFigure figure :
         {ComparedFigure::LastLoss, ComparedFigure::BestLoss, ComparedFigure::LastEvalLoss,
          ComparedFigure::LastReward, ComparedFigure::TokensPerSecond, ComparedFigure::StepTime,
          ComparedFigure::Overhead, ComparedFigure::PeakMemory, ComparedFigure::Duration,
          ComparedFigure::MemoryOverEstimate, ComparedFigure::TimeOverEstimate}) {
        const bool of_peak =
            figure == ComparedFigure::PeakMemory || figure == ComparedFigure::MemoryOverEstimate;
        FigureRow row{figure, {}, {}, {}};
        for (const ComparedRun& run : runs) {
            row.values.push_back(value_of(figure, run));
            row.sampled.push_back(of_peak && run.row.measured.peak_is_sampled);
        }
        for (size_t index = 0; index < runs.size(); ++index)
            row.changes.push_back(index == 0 ? Change::Unknown
                                             : change_of(figure, row.values[0], row.values[index]));
        const auto is_known = [](const auto& value) { return value.has_value(); };
        if (std::any_of(row.values.begin(), row.values.end(), is_known)) rows.push_back(std::move(row));
    }
    return rows;
}

}  // namespace

const std::vector<double>& RunCurves::along(Along axis) const {
    return axis == Along::Step ? step : axis == Along::Tokens ? tokens : time_s;
}

std::optional<double> RunCurves::last_reward() const {
    double sum = 0;
    size_t count = 0;
    for (auto at = reward.rbegin(); at != reward.rend() && count < kRewardSteps; ++at) {
        if (!std::isfinite(*at)) continue;
        sum += *at;
        ++count;
    }
    return count > 0 ? std::optional(sum / static_cast<double>(count)) : std::nullopt;
}

namespace {

void keep_every_second(std::vector<double>& column) {
    for (size_t i = 0; 2 * i < column.size(); ++i) column[i] = column[2 * i];
    column.resize((column.size() + 1) / 2);
}

}  // namespace

RunCurves read_curves(const RunDirectory& run) {
    RunCurves curves;
    double tokens = 0, time_s = 0;
    int64_t count = 0, each = 1;
    AlertDetector detector(1);
    std::map<int64_t, double> evaluations;
    const auto take = [&](int, const Timed<StepEvent>& timed) {
        const StepEvent& step = timed.event;
        detector.heard(timed.t);  // other events are not read, so silence must not count as a stall
        detector.step({0, step.step, timed.t, step.loss, step.lr, step.step_s, step.exposed_comm_s});
        tokens += static_cast<double>(step.tokens);
        if (std::isfinite(step.step_s)) time_s += step.step_s;
        curves.best_loss = std::fmin(curves.best_loss, step.loss);
        if (count++ % each != 0) return;
        curves.step.push_back(static_cast<double>(step.step));
        curves.tokens.push_back(tokens);
        curves.time_s.push_back(time_s);
        curves.loss.push_back(step.loss);
        curves.grad_norm.push_back(step.grad_norm);
        const StepSums sums = sums_of(step);
        curves.tokens_per_s.push_back(sums.tokens_per_s().value_or(kNaN));
        curves.overhead.push_back(sums.overhead().value_or(kNaN));
        curves.reward.push_back(step.sampling.reward.value_or(step.preference.margin.value_or(kNaN)));
        curves.clip_share.push_back(step.preference.clip_share.value_or(kNaN));
        curves.sampler_gap.push_back(step.preference.sampler_gap.value_or(kNaN));
        if (curves.step.size() < kMostCurvePoints) return;
        each *= 2;
        for (std::vector<double>* column : curves.of_steps()) keep_every_second(*column);
    };
    for_each_step(run, {0}, take, kMostEventsHeld, [&](const EventLine& line) {
        const auto* eval = std::get_if<EvalEvent>(&line.event);
        if (eval == nullptr) return;
        evaluations[eval->step] = eval->loss;
        if (evaluations.size() > kMostEvaluations) evaluations.erase(evaluations.begin());
    });
    curves.alerts = detector.take_alerts();
    for (const auto& [step, loss] : evaluations) {
        curves.eval_step.push_back(static_cast<double>(step));
        curves.eval_loss.push_back(loss);
    }
    return curves;
}

bool less_is_better(ComparedFigure figure) {
    return figure != ComparedFigure::TokensPerSecond && figure != ComparedFigure::LastReward;
}

bool is_share(ComparedFigure figure) {
    return figure == ComparedFigure::Overhead || figure == ComparedFigure::MemoryOverEstimate ||
           figure == ComparedFigure::TimeOverEstimate;
}

bool has_better(ComparedFigure figure) {
    return figure != ComparedFigure::Duration && figure != ComparedFigure::MemoryOverEstimate &&
           figure != ComparedFigure::TimeOverEstimate;
}

Change change_of(ComparedFigure figure, std::optional<double> first, std::optional<double> other) {
    if (!first || !other) return Change::Unknown;
    const double whole = is_share(figure) ? 1 : std::max(std::abs(*first), std::abs(*other));
    if (std::abs(*other - *first) <= kSame * whole) return Change::Same;
    if (!has_better(figure)) return Change::Differs;
    return (*other < *first) == less_is_better(figure) ? Change::Better : Change::Worse;
}

std::vector<DifferingLine> differing_lines(const std::vector<RunDirectory>& runs) {
    std::vector<Flat> asked, plans;
    for (const RunDirectory& run : runs) {
        asked.push_back(asked_for(run));
        plans.push_back(planned(run));
    }
    std::vector<DifferingLine> lines = differing(asked, false);
    for (DifferingLine& line : differing(plans, true)) lines.push_back(std::move(line));
    return lines;
}

namespace {

/// Reads the runs on up to kMostReaders threads, because a long run takes half a second.
std::vector<ComparedRun> read_runs(const std::vector<RunDirectory>& runs) {
    std::vector<ComparedRun> read(runs.size());
    std::atomic<size_t> next = 0;
    const auto work = [&] {
        for (size_t at; (at = next++) < runs.size();) read[at] = {read_row(runs[at]), read_curves(runs[at])};
    };
    std::vector<std::future<void>> others;
    for (unsigned other = 1; other < std::clamp(std::thread::hardware_concurrency(), 1U, kMostReaders);
         ++other)
        others.push_back(std::async(std::launch::async, work));
    work();
    for (std::future<void>& one : others) one.get();
    return read;
}

}  // namespace

Comparison compare_runs(const std::vector<RunDirectory>& runs) {
    if (runs.size() < 2 || runs.size() > kMostCompared)
        throw Error(Failure::Usage, Code("ARGUMENT-VALUE"),
                    "two to eight runs can be compared, not " + std::to_string(runs.size()));
    Comparison comparison;
    comparison.runs = read_runs(runs);
    comparison.lines = differing_lines(runs);
    comparison.figures = figures_of(comparison.runs);
    return comparison;
}

}  // namespace ringmaster
