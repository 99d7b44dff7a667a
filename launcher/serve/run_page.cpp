#include "launcher/serve/run_page.h"

#include <algorithm>
#include <cmath>

#include "launcher/history/curves.h"
#include "launcher/history/diagnosis.h"
#include "launcher/history/figures.h"

namespace ringmaster {

using nlohmann::json;

namespace {

constexpr size_t kMostLines = 200;

json number(double value) {
    return std::isfinite(value) ? json(value) : json();
}

json numbers(const std::vector<float>& values) {
    json list = json::array();
    for (const float value : values) list.push_back(number(static_cast<double>(value)));
    return list;
}

json global_curve(const RankHistory& rank, Measure measure, const StepRange& range, int points) {
    const Curve curve = reduce(rank.steps, measure, range, points);
    return {{"low", numbers(curve.low)}, {"mean", numbers(curve.mean)}, {"high", numbers(curve.high)}};
}

/// Returns the curves of the minimum, the median and the maximum among the ranks.
json rank_curve(const RunHistory& history, Measure measure, const StepRange& range, int points) {
    std::vector<Curve> ranks;
    for (const RankHistory& rank : history.ranks())
        ranks.push_back(reduce(rank.steps, measure, range, points));
    const Spread spread = spread_of(ranks);
    return {{"low", numbers(spread.low)}, {"mean", numbers(spread.median)}, {"high", numbers(spread.high)}};
}

json curves(const RunHistory& history, int points) {
    const RankHistory* first = reference(history);
    const StepRange range{history.first_step(), history.last_step()};
    if (first == nullptr || range.count() == 0) return json::object();
    json made;
    json x = json::array();
    for (const double at : positions(first->steps, XAxis::Step, range, points)) x.push_back(number(at));
    made["step"] = std::move(x);
    made["loss"] = global_curve(*first, Measure::Loss, range, points);
    made["tokens_per_s"] = global_curve(*first, Measure::TokensPerSecond, range, points);
    made["grad_norm"] = global_curve(*first, Measure::GradNorm, range, points);
    made["lr"] = global_curve(*first, Measure::LearningRate, range, points);
    made["step_s"] = rank_curve(history, Measure::StepSeconds, range, points);
    made["exposed"] = rank_curve(history, Measure::ExposedShare, range, points);
    // Events of the other ranks leave these figures out.
    const RankHistory& optional = history.ranks().front();
    for (size_t i = 0; i < kOptionalMeasures - kMostFunctions; ++i) {
        const auto one = static_cast<Measure>(kStoredMeasures + i);
        if (optional.steps.has(one)) made[to_string(one)] = global_curve(optional, one, range, points);
    }
    made["memory"] = rank_curve(history, Measure::PeakMemoryBytes, range, points);
    return made;
}

std::string words_of(const Event& event) {
    if (const auto* error = std::get_if<ErrorEvent>(&event)) return "error: " + error->message;
    if (const auto* warning = std::get_if<WarningEvent>(&event)) return "warning: " + warning->message;
    if (const auto* saved = std::get_if<CheckpointEvent>(&event))
        return "checkpoint of step " + std::to_string(saved->step);
    if (const auto* samples = std::get_if<SamplesEvent>(&event))
        return "samples of step " + std::to_string(samples->step);
    if (const auto* eval = std::get_if<EvalEvent>(&event))
        return "evaluation: loss " + std::to_string(eval->loss);
    if (const auto* phase = std::get_if<PhaseEvent>(&event)) return "phase: " + phase->name;
    if (std::holds_alternative<HelloEvent>(event)) return "started";
    return std::holds_alternative<DoneEvent>(event) ? "done" : std::string();
}

json lines_of(const RunHistory& history) {
    const auto& all = history.happenings();
    json lines = json::array();
    for (size_t at = all.size() > kMostLines ? all.size() - kMostLines : 0; at < all.size(); ++at) {
        const std::string words = words_of(all[at].event);
        if (!words.empty()) lines.push_back({{"t", all[at].t}, {"rank", all[at].rank}, {"text", words}});
    }
    for (const Alert& alert : history.alerts())
        lines.push_back(
            {{"t", alert.t}, {"rank", alert.rank.value_or(0)}, {"text", "alert: " + text_of(alert)}});
    std::stable_sort(lines.begin(), lines.end(), [](const json& a, const json& b) {
        return a["t"].get<double>() < b["t"].get<double>();
    });
    return lines;
}

const char* word_of(Urgency urgency) {
    constexpr const char* kWords[] = {"none", "good", "warning", "critical"};
    return kWords[static_cast<size_t>(urgency)];
}

void add_figures(json& page, const RunHistory& history) {
    const RankHistory* first = reference(history);
    if (first == nullptr || !first->steps.has(first->last_step)) return;
    const auto shown = [](const std::optional<double>& value) { return value ? number(*value) : json(); };
    const StepSums recent = recent_sums(*first);
    const Headline now = headline(history, std::nullopt);
    page["step"] = first->last_step;
    page["loss"] = number(static_cast<double>(first->steps.value(first->last_step, Measure::Loss)));
    page["tokens_per_s"] = shown(recent.tokens_per_s());
    page["step_s"] = shown(recent.seconds());
    page["exposed"] = shown(now.overhead);
}

}  // namespace

json run_page(const RunHistory& history, const Plan* plan, double now, int points) {
    const RunState& state = history.state();
    Evidence evidence = evidence_of(history, now);
    if (plan != nullptr) add_plan(evidence, *plan);
    const Diagnosis diagnosis = diagnose(evidence);
    const DiagnosisText said = text_of(diagnosis);
    json page{{"name", history.run().name()},
              {"state", to_string(state.state)},
              {"incomplete", diagnosis.is_cut_short()},
              {"reason", state.reason},
              {"ranks", state.ranks},
              {"attempt", state.attempt},
              {"started", state.started},
              {"ended", state.ended},
              {"urgency", word_of(diagnosis.urgency)},
              {"verdict", said.verdict},
              {"why", said.why},
              {"next", said.next},
              {"step", nullptr},
              {"total_steps",
               plan != nullptr && plan->batch.total_steps ? json(*plan->batch.total_steps) : json()}};
    add_figures(page, history);
    json checkpoints = json::array();
    for (const auto& [step, saved] : history.checkpoints()) checkpoints.push_back(step);
    page["checkpoints"] = std::move(checkpoints);
    json alerts = json::array();
    for (const Alert& alert : history.alerts()) alerts.push_back(to_json(alert));
    page["alerts"] = std::move(alerts);
    page["curves"] = curves(history, points);
    page["lines"] = lines_of(history);
    return page;
}

}  // namespace ringmaster
