#include "launcher/follower.h"

#include <algorithm>
#include <fstream>

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kReadBytes = 4 << 20;   ///< limit per rank in one poll
constexpr int64_t kPollBytes = 16 << 20;  ///< limit for all ranks in one poll
constexpr size_t kKeptWarnings = 20;
constexpr size_t kShownLine = 8 << 10;  ///< bytes of a log line that are shown; longer lines are cut
constexpr int64_t kRecentSteps = 10;  ///< steps that rates are averaged over
constexpr int64_t kPaceSteps = 50;    ///< steps that the remaining time is estimated from

bool by_step(const TimedStep& a, int64_t step) {
    return a.event.step < step;
}

/// Returns a rank's last `count` steps, up to the step of its newest line.
std::vector<const TimedStep*> recent(const RankProgress& rank, int64_t count) {
    std::vector<const TimedStep*> steps;
    const int64_t first = rank.last_step - count + 1;
    auto at = std::lower_bound(rank.steps.begin(), rank.steps.end(), first, by_step);
    for (; at != rank.steps.end() && at->event.step <= rank.last_step; ++at) steps.push_back(&*at);
    return steps;
}

/// Returns the seconds per step by the clock within one attempt, saving and evaluation included.
std::optional<double> pace(const RankProgress& rank) {
    const auto steps = recent(rank, kPaceSteps);
    if (steps.empty()) return std::nullopt;
    const int64_t began = rank.hello ? rank.hello->start_step : 0;
    const TimedStep* first = nullptr;
    for (const TimedStep* step : steps) {
        if (step->event.step > began && first == nullptr) first = step;
    }
    if (first == nullptr || first == steps.back()) return steps.back()->event.step_s;
    const auto count = static_cast<double>(steps.back()->event.step - first->event.step);
    return std::max(0.0, steps.back()->t - first->t) / count;
}

std::optional<double> tokens_per_s(const RankProgress& rank) {
    double tokens = 0, seconds = 0;
    for (const TimedStep* step : recent(rank, kRecentSteps)) {
        tokens += static_cast<double>(step->event.tokens);
        seconds += step->event.step_s;
    }
    return seconds > 0 ? std::optional(tokens / seconds) : std::nullopt;
}

}  // namespace

const TimedStep* RankProgress::find(int64_t step) const {
    const auto at = std::lower_bound(steps.begin(), steps.end(), step, by_step);
    return at != steps.end() && at->event.step == step ? &*at : nullptr;
}

RunFollower::RunFollower(RunDirectory run, size_t kept_steps)
    : run_(std::move(run)), kept_steps_(kept_steps) {
    state_ = read_run_state(run_.dir);
}

std::vector<EventLine> RunFollower::poll() {
    state_ = read_run_state(run_.dir);  // read before the events: a run that is over has written them all
    look_for_ranks();
    std::vector<EventLine> lines;
    int64_t left = kPollBytes;
    for (size_t tried = 0; tried < readers_.size() && left > 0; ++tried) {
        EventReader& reader = readers_[next_reader_];
        next_reader_ = (next_reader_ + 1) % readers_.size();
        const int64_t before = reader.offset();
        std::vector<EventLine> of_rank = reader.poll(std::min(left, kReadBytes));
        left -= std::max<int64_t>(0, reader.offset() - before);
        lines.insert(lines.end(), std::make_move_iterator(of_rank.begin()),
                     std::make_move_iterator(of_rank.end()));
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const EventLine& a, const EventLine& b) { return a.t < b.t; });
    for (const EventLine& line : lines) take(line);
    return lines;
}

void RunFollower::look_for_ranks() {
    const auto count = static_cast<size_t>(std::max(state_.ranks, 0));
    if (ranks_.size() > count) ranks_.resize(count);  // the run resumed on fewer ranks
    while (ranks_.size() < count) {
        const auto rank = static_cast<int>(ranks_.size());
        ranks_.emplace_back().rank = rank;
    }
    while (readers_.size() < count) {
        readers_.emplace_back(run_.events() / event_file_name(static_cast<int>(readers_.size())));
    }
}

void RunFollower::take(const EventLine& line) {
    if (const auto* warning = std::get_if<WarningEvent>(&line.event)) {
        const bool known = std::any_of(warnings_.begin(), warnings_.end(),
                                       [&](const WarningEvent& w) { return w.message == warning->message; });
        if (!known) warnings_.push_back(*warning);
        if (warnings_.size() > kKeptWarnings) warnings_.erase(warnings_.begin());
    }
    if (line.rank < 0 || static_cast<size_t>(line.rank) >= ranks_.size()) return;
    RankProgress& rank = ranks_[static_cast<size_t>(line.rank)];
    if (const auto* step = std::get_if<StepEvent>(&line.event)) take_step(rank, line, *step);
    if (const auto* hello = std::get_if<HelloEvent>(&line.event)) rank.hello = *hello;
    if (const auto* phase = std::get_if<PhaseEvent>(&line.event)) rank.phase = *phase;
    if (const auto* device = std::get_if<DeviceEvent>(&line.event)) rank.device = *device;
    if (const auto* eval = std::get_if<EvalEvent>(&line.event)) last_eval_ = *eval;
    if (const auto* saved = std::get_if<CheckpointEvent>(&line.event)) last_checkpoint_ = *saved;
}

void RunFollower::take_step(RankProgress& rank, const EventLine& line, const StepEvent& step) {
    std::vector<TimedStep>& steps = rank.steps;
    const auto at = std::lower_bound(steps.begin(), steps.end(), step.step, by_step);
    if (at != steps.end() && at->event.step == step.step) {
        *at = {line.t, step};
    } else {
        steps.insert(at, {line.t, step});
    }
    rank.last_step = step.step;
    if (steps.size() / 2 > kept_steps_)
        steps.erase(steps.begin(), steps.end() - static_cast<std::ptrdiff_t>(kept_steps_));
}

std::optional<double> overhead_of(const RankProgress& rank) {
    double exposed = 0, whole = 0;
    for (const TimedStep* step : recent(rank, kRecentSteps)) {
        exposed += step->event.exposed_comm_s;
        whole += step->event.step_s;
    }
    return whole > 0 ? std::optional(exposed / whole) : std::nullopt;
}

Headline headline(const RunFollower& run, std::optional<int64_t> total_steps) {
    Headline line;
    line.total_steps = total_steps;
    if (run.ranks().empty()) return line;
    const RankProgress& first = run.ranks().front();
    if (first.phase && first.phase->name != "train") line.phase = first.phase->name;
    if (first.hello) line.step = first.hello->start_step;
    const TimedStep* last = first.last();
    if (last == nullptr) return line;
    line.step = last->event.step;
    line.loss = last->event.loss;
    line.lr = last->event.lr;
    line.grad_norm = last->event.grad_norm;
    line.tokens_per_s = tokens_per_s(first);
    double overhead = 0;
    int counted = 0;
    for (const RankProgress& rank : run.ranks()) {
        if (const auto share = overhead_of(rank)) overhead += *share, ++counted;
    }
    if (counted > 0) line.overhead = overhead / counted;
    const auto seconds_a_step = pace(first);
    if (total_steps && seconds_a_step && !is_over(run.state().state)) {
        line.eta_s = static_cast<double>(std::max<int64_t>(0, *total_steps - line.step)) * *seconds_a_step;
    }
    return line;
}

std::vector<std::string> LogFollower::poll(int64_t max_bytes) {
    std::vector<std::string> lines;
    std::error_code none;
    const auto size = static_cast<int64_t>(fs::file_size(file_, none));
    if (none || !fs::is_regular_file(file_, none)) return lines;
    if (size < offset_) offset_ = 0;  // the file was replaced
    std::ifstream in(file_, std::ios::binary);
    if (!in.seekg(offset_)) return lines;
    std::string text(static_cast<size_t>(std::min(max_bytes, size - offset_)), '\0');
    in.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<size_t>(in.gcount()));
    size_t begin = 0;
    const auto shown = [&](size_t from, size_t length) {
        return text.substr(from, std::min(length, kShownLine)) + (length > kShownLine ? "…" : "");
    };
    for (size_t end; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
        lines.push_back(shown(begin, end - begin));
    if (begin == 0 && static_cast<int64_t>(text.size()) == max_bytes) {  // the line is longer than one read
        lines.push_back(shown(0, text.size()));
        begin = text.size();
    }
    offset_ += static_cast<int64_t>(begin);
    return lines;
}

}  // namespace ringmaster
