#include "launcher/cli/run_view.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>

#include "launcher/base/format.h"
#include "launcher/history/curves.h"

namespace ringmaster {

namespace {

constexpr int kMostRankRows = 16;
constexpr int kMostOutliers = 3;
constexpr int kWidestBar = 48;
constexpr double kOutlier = 0.1;  ///< least excess of a rank's compute time over the median, as a share of it

std::string state_word(const RunState& state, const TextStyle& ink) {
    const std::string word = to_string(state.state);
    switch (state.state) {
        case RunPhase::Running:
            return ink.green(word);
        case RunPhase::Completed:
            return ink.green(word);
        case RunPhase::Failed:
            return ink.red(word);
        case RunPhase::Stopping:
        case RunPhase::Stopped:
            return ink.yellow(word);
        default:
            return ink.blue(word);
    }
}

/// Draws each stretch of steps as one column at its mean, scaled from the lowest mean to the highest.
std::string sparkline(const StepColumns& steps, int width) {
    static const std::array<const char*, 8> kBlocks = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
    const std::vector<float> means =
        reduce(steps, Measure::Loss, {steps.first(), steps.last()}, std::max(width, 1)).mean;
    const auto [low, high] = std::minmax_element(means.begin(), means.end());
    std::string line;
    for (const float mean : means) {
        const float height = *high > *low ? (mean - *low) / (*high - *low) * 7 : 0;
        line += std::isfinite(height) && std::isfinite(mean)
                    ? kBlocks[static_cast<size_t>(std::lround(std::clamp(height, 0.0F, 7.0F)))]
                    : "?";
    }
    return line;
}

/// Returns a figure of the rank's last step; nullopt if it is not known.
std::optional<double> last_value(const RankHistory& rank, Measure measure) {
    const float value = rank.steps.value(rank.last_step, measure);
    return std::isnan(value) ? std::nullopt : std::optional(static_cast<double>(value));
}

/// A figure of a rank's last step.
struct Figure {
    const char* name;
    std::function<std::optional<double>(const RankHistory&)> value;
    std::string (*format)(double);
};

const std::vector<Figure>& figures() {
    using Rank = RankHistory;
    static const std::vector<Figure> kFigures = {
        {"own loss", [](const Rank& r) { return last_value(r, Measure::RankLoss); }, format_loss},
        {"compute", [](const Rank& r) { return last_value(r, Measure::ComputeSeconds); }, format_duration},
        {"overhead", [](const Rank& r) { return recent_sums(r).overhead(); }, format_percent},
        {"peak memory",
         [](const Rank& r) {
             return r.peak_bytes > 0 ? std::optional(static_cast<double>(r.peak_bytes)) : std::nullopt;
         },
         [](double bytes) { return format_bytes(static_cast<int64_t>(bytes)); }}};
    return kFigures;
}

class Picture {
  public:
    Picture(const RunHistory& run, std::optional<int64_t> total_steps, bool goes_on, const Terminal& terminal)
        : run_(run),
          now_(headline(run, total_steps)),
          ink_(terminal.ink),
          width_(terminal.width),
          height_(terminal.height) {
        if (!goes_on) now_.eta_s.reset();
    }

    std::vector<std::string> lines(const std::string& note) {
        header();
        progress();
        figures_line();
        loss_curve();
        tail(note);
        const int room = height_ - 1 - static_cast<int>(top_.size() + bottom_.size()) - 2;
        ranks(room);
        top_.insert(top_.end(), bottom_.begin(), bottom_.end());
        for (std::string& line : top_) line = fit(line, width_);
        if (static_cast<int>(top_.size()) > height_ - 1)
            top_.resize(static_cast<size_t>(std::max(1, height_ - 1)));
        return top_;
    }

  private:
    void add(const std::string& line) { top_.push_back(line); }

    void header() {
        const RunState& state = run_.state();
        std::string text = ink_.bold(printable(state.name)) + "  " + state_word(state, ink_);
        text += "  " + std::to_string(state.ranks) + (state.ranks == 1 ? " rank" : " ranks");
        if (state.attempt > 1) text += "  attempt " + std::to_string(state.attempt);
        if (now_.phase) text += "  " + ink_.dim(printable(now_.phase->name) + " …");
        add(text);
    }

    void progress() {
        const bool known = now_.total_steps && *now_.total_steps > 0;
        const double share =
            known ? static_cast<double>(now_.step) / static_cast<double>(*now_.total_steps) : 0;
        std::string text = "step " + format_count(now_.step);
        if (known) text += "/" + format_count(*now_.total_steps) + "  " + format_percent(share);
        if (now_.eta_s && *now_.eta_s > 0) text += "  " + format_duration(*now_.eta_s) + " left";
        const int width = std::min(kWidestBar, width_ - display_width(text) - 3);
        add((known && width > 8 ? ink_.green(bar(share, width)) + "  " : "") + text);
    }

    void figures_line() {
        std::string text;
        auto put = [&](const char* name, const std::string& value) {
            text += (text.empty() ? "" : "   ") + ink_.dim(name) + " " + value;
        };
        if (now_.loss) put("loss", ink_.bold(format_loss(*now_.loss)));
        if (now_.tokens_per_s) put("tokens/s", format_rate(*now_.tokens_per_s));
        if (now_.overhead) put("overhead", format_percent(*now_.overhead));
        if (now_.lr) put("lr", format_number(*now_.lr, 3));
        if (now_.grad_norm) put("grad norm", format_number(*now_.grad_norm, 3));
        if (!text.empty()) add(text);
    }

    void loss_curve() {
        if (run_.ranks().empty() || run_.ranks().front().steps.count() < 2) return;
        const StepColumns& steps = run_.ranks().front().steps;
        const auto loss_at = [&](int64_t step) {
            return format_loss(static_cast<double>(steps.value(step, Measure::Loss)));
        };
        const std::string first = loss_at(steps.first()) + " ";
        const int width = std::min(kWidestBar, width_ - display_width(first) - 12);
        if (width < 8) return;
        add(ink_.dim(first) + ink_.cyan(sparkline(steps, width)) + ink_.dim(" " + loss_at(steps.last())));
    }

    void tail(const std::string& note) {
        std::string text;
        if (const auto* saved = run_.newest<CheckpointEvent>())
            text = "saved step " + format_count(saved->step) + " (" + format_duration(saved->seconds) + ")";
        if (const auto* eval = run_.newest<EvalEvent>())
            text += (text.empty() ? "" : "   ") + std::string("evaluation ") + format_loss(eval->loss) +
                    " at step " + format_count(eval->step);
        if (!text.empty()) bottom_.push_back(text);
        if (const auto* warning = run_.newest<WarningEvent>()) {
            const std::string message = printable(warning->message);
            bottom_.push_back(ink_.yellow("! " + message.substr(0, message.find('\n'))));
        }
        if (!note.empty()) bottom_.push_back(ink_.dim(note));
    }

    void ranks(int room) {
        const auto count = static_cast<int>(run_.ranks().size());
        const bool any = std::any_of(run_.ranks().begin(), run_.ranks().end(),
                                     [](const RankHistory& r) { return r.steps.has(r.last_step); });
        if (!any || room < 1) return;
        if (count <= kMostRankRows && count <= room) {
            rank_rows();
        } else {
            spread();
            outliers(room - 3);
        }
    }

    void rank_rows() {
        add(ink_.dim("rank  own loss  step       compute    overhead                peak memory"));
        for (const RankHistory& rank : run_.ranks()) {
            std::string row = right_aligned(std::to_string(rank.rank), 4) + "  ";
            if (!rank.steps.has(rank.last_step)) {
                add(row + ink_.dim("nothing yet"));
                continue;
            }
            const StepEvent last = rank.steps.event(rank.last_step);
            const double share = recent_sums(rank).overhead().value_or(0);
            row += padded(last.rank_loss ? format_loss(*last.rank_loss) : "–", 10);
            row += padded(format_duration(last.step_s), 11) + padded(format_duration(last.compute_s), 11);
            row += ink_.red(bar(share, 12)) + right_aligned(format_percent(share), 8) + "    ";
            add(row + format_bytes(rank.peak_bytes));
        }
    }

    void spread() {
        add(ink_.dim("               least      median     most"));
        for (const Figure& figure : figures()) {
            std::vector<std::pair<double, int>> values;
            for (const RankHistory& rank : run_.ranks()) {
                if (const auto value = figure.value(rank)) values.emplace_back(*value, rank.rank);
            }
            if (values.empty()) continue;
            std::sort(values.begin(), values.end());
            const auto& [most, at] = values.back();
            add(padded(figure.name, 15) + padded(figure.format(values.front().first), 11) +
                padded(figure.format(values[values.size() / 2].first), 11) + figure.format(most) +
                ink_.dim(" (rank " + std::to_string(at) + ")"));
        }
    }

    /// Adds the ranks that compute longest: the others wait for them.
    void outliers(int room) {
        std::vector<std::pair<double, int>> work;
        for (const RankHistory& rank : run_.ranks()) {
            if (const auto compute_s = last_value(rank, Measure::ComputeSeconds))
                work.emplace_back(*compute_s, rank.rank);
        }
        if (work.size() < 3) return;
        std::sort(work.begin(), work.end());
        const double median = work[work.size() / 2].first;
        std::string text;
        for (int i = 0; i < kMostOutliers && i < static_cast<int>(work.size()); ++i) {
            const auto& [seconds, rank] = work[work.size() - 1 - static_cast<size_t>(i)];
            if (median <= 0 || seconds < median * (1 + kOutlier)) break;
            text += (text.empty() ? "" : ", ") + std::string("rank ") + std::to_string(rank) + " +" +
                    format_percent(seconds / median - 1);
        }
        if (!text.empty() && room > 0) add(ink_.yellow("slower than the median: " + text));
    }

    const RunHistory& run_;
    Headline now_;
    TextStyle ink_;
    int width_, height_;
    std::vector<std::string> top_, bottom_;
};

/// Returns the losses of the ranks; nothing if none has one, as in training on preferences.
std::string rank_losses(const RunHistory& run, int64_t step) {
    std::vector<double> losses;
    std::string each;
    for (const RankHistory& rank : run.ranks()) {
        const auto loss = static_cast<double>(rank.steps.value(step, Measure::RankLoss));
        if (!std::isnan(loss)) losses.push_back(loss);
        each += (each.empty() ? "" : " ") + (std::isnan(loss) ? "–" : format_loss(loss));
    }
    if (losses.empty()) return "";
    if (run.ranks().size() <= 8) return each;
    const auto [low, high] = std::minmax_element(losses.begin(), losses.end());
    return format_loss(*low) + "…" + format_loss(*high);
}

/// Returns the line for an event other than a step: warnings and errors of any rank, all else of rank 0.
std::string other_line(const EventLine& line) {
    const std::string rank = "rank " + std::to_string(line.rank) + ": ";
    if (const auto* warning = std::get_if<WarningEvent>(&line.event))
        return "warning: " + rank + printable(warning->message);
    if (const auto* error = std::get_if<ErrorEvent>(&line.event))
        return "error: " + rank + printable(error->message);
    if (line.rank != 0) return "";
    if (const auto* eval = std::get_if<EvalEvent>(&line.event)) {
        return "evaluation at step " + format_count(eval->step) + ": loss " + format_loss(eval->loss) +
               " over " + format_count(eval->tokens) + " labels";
    }
    if (const auto* saved = std::get_if<CheckpointEvent>(&line.event)) {
        return "saved step " + format_count(saved->step) + " in " + format_duration(saved->seconds) + ": " +
               printable(saved->path);
    }
    if (const auto* samples = std::get_if<SamplesEvent>(&line.event))
        return "samples of step " + format_count(samples->step) + " are in " + kSamplesFile;
    if (const auto* phase = std::get_if<PhaseEvent>(&line.event)) {
        return phase->name == "train" || phase->done > 0 ? "" : printable(phase->name) + " …";
    }
    return "";
}

}  // namespace

std::vector<std::string> run_picture(const RunHistory& run, std::optional<int64_t> total_steps, bool goes_on,
                                     const Terminal& terminal, const std::string& note) {
    return Picture(run, total_steps, goes_on, terminal).lines(note);
}

std::vector<std::string> RunLines::take(const RunHistory& run, const std::vector<EventLine>& events) {
    std::vector<std::string> lines;
    auto print_ready = [&](bool all) {
        while (!waiting_.empty()) {
            const int64_t step = waiting_.front().step;
            const bool told = std::all_of(run.ranks().begin(), run.ranks().end(),
                                          [step](const RankHistory& rank) { return rank.last_step >= step; });
            if (!told && !all) break;
            lines.push_back(step_line(run, waiting_.front()));
            waiting_.pop_front();
        }
    };
    for (const EventLine& line : events) {
        if (const auto* step = std::get_if<StepEvent>(&line.event)) {
            if (line.rank == 0 && is_wanted(step->step)) waiting_.push_back(*step);
        } else if (std::string text = other_line(line); !text.empty()) {
            print_ready(false);
            lines.push_back(std::move(text));
        }
    }
    print_ready(is_over(run.state().state));
    return lines;
}

bool RunLines::is_wanted(int64_t step) const {
    return step == 1 || step % interval_ == 0 || (total_steps_ && step == *total_steps_);
}

std::string RunLines::step_line(const RunHistory& run, const StepEvent& step) const {
    const double overhead = sums_of(step).overhead().value_or(0);
    const std::string total = total_steps_ ? std::to_string(*total_steps_) : "";
    std::string text = "step " + right_aligned(std::to_string(step.step), static_cast<int>(total.size())) +
                       (total_steps_ ? "/" + total : "") + "  loss " + format_loss(step.loss);
    if (step.router_loss) text += "  router loss " + format_loss(*step.router_loss);
    if (step.preference.margin) text += "  reward margin " + format_number(*step.preference.margin, 3);
    if (step.preference.accuracy) text += "  chosen first " + format_percent(*step.preference.accuracy);
    if (step.sampling.reward) text += "  reward " + format_number(*step.sampling.reward, 3);
    if (step.sampling.completion_tokens)
        text += "  tokens/completion " + format_number(*step.sampling.completion_tokens, 3);
    const std::string of_ranks = run.ranks().size() > 1 ? rank_losses(run, step.step) : "";
    if (!of_ranks.empty()) text += "  ranks " + of_ranks;
    text += "  overhead " + right_aligned(format_percent(overhead), 5);
    text += right_aligned(format_duration(step.step_s), 8) +
            right_aligned(format_rate(step.tokens_per_s), 7) + " tokens/s";
    text += "  lr " + padded(format_number(step.lr, 3), 8) + "  grad norm " +
            padded(format_number(step.grad_norm, 3), 6);
    if (step.skipped && step.loss_scale)
        text += "  skipped, loss scale " + format_number(*step.loss_scale / 2, 3) + "  ";
    const auto left = headline(run, total_steps_).eta_s;
    if (left && *left > 0) text += format_duration(*left) + " left";
    text.erase(text.find_last_not_of(' ') + 1);
    return text;
}

}  // namespace ringmaster
