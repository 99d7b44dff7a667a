#include "launcher/history/history.h"

#include <algorithm>
#include <cmath>
#include <future>
#include <thread>
#include <utility>

#include "engine/error.h"
#include "launcher/base/bounded_file.h"
#include "launcher/history/figures.h"
#include "launcher/run/recorded_run.h"

namespace ringmaster {

namespace {

constexpr int64_t kReadWhole = 1 << 20;  ///< files up to this size are read at once
constexpr int64_t kTail = 128 << 10;     ///< bytes read first from the end of a longer file
constexpr int kSamples = 96;             ///< number of places sampled in the rest of a longer file
constexpr int64_t kSampleBytes = 8 << 10;
constexpr int64_t kBite = 1 << 20;
constexpr int64_t kPollBytes = 16 << 20;  ///< maximum bytes read from all ranks in one poll
constexpr int64_t kRankBytes = 4 << 20;   ///< maximum bytes read from one rank in one poll
constexpr int64_t kSpareBlocks = 8192;    ///< maximum spare blocks of all ranks together: about 150 MB
constexpr size_t kKeptEvaluations = 100'000;
constexpr size_t kKeptCheckpoints = 4096;
constexpr size_t kKeptAttempts = 1000;
constexpr unsigned kMostReaders = 4;
constexpr size_t kKeptHappenings = 4000;
constexpr size_t kKeptErrors = 1000;  ///< errors that events of other kinds do not displace
constexpr int kMostRanks = 8192;
constexpr size_t kKeptNews = 1000;

/// Returns the offset of the first line that begins after `offset` in a file of `size` bytes.
int64_t line_after(const std::filesystem::path& file, int64_t offset, int64_t size) {
    const size_t end = read_part(file, offset, kTail).value_or("").find('\n');
    return end == std::string::npos ? size : offset + static_cast<int64_t>(end) + 1;
}

/// Takes the steps from the complete lines in [offset, offset + kSampleBytes).
void sample(const std::filesystem::path& file, int64_t offset, RankHistory& rank) {
    for (const EventLine& line : events_in(file, offset, kSampleBytes)) {
        const auto* step = std::get_if<StepEvent>(&line.event);
        if (step != nullptr && line.rank == rank.rank) rank.steps.put(line.t, *step);
    }
}

/// Removes the oldest event that is not an error; the oldest of all if the first kKeptErrors are errors.
void drop_oldest(std::vector<Happening>& happenings) {
    const auto end =
        happenings.begin() + static_cast<std::ptrdiff_t>(std::min(kKeptErrors, happenings.size()));
    const auto at = std::find_if(happenings.begin(), end, [](const Happening& one) {
        return !std::holds_alternative<ErrorEvent>(one.event);
    });
    happenings.erase(at == end ? happenings.begin() : at);
}

/// Holds the events other than steps from a part of a rank's backlog. The steps of that part are already in
/// the rank's columns.
struct Bite {
    bool is_empty = true;
    int64_t steps = 0;
    std::vector<EventLine> others;
};

bool same(const Happening& a, const EventLine& b) {
    return a.t == b.t && a.rank == b.rank && a.event.index() == b.event.index();
}

}  // namespace

RunHistory::RunHistory(RunDirectory run, int64_t kept_steps)
    : run_(std::move(run)), kept_steps_(kept_steps), samples_(run_.dir / kSamplesFile) {
    state_ = read_run_state(run_.dir);
}

bool RunHistory::read(std::chrono::milliseconds budget) {
    const auto until = std::chrono::steady_clock::now() + budget;
    read_state();  // read before the events: a run that is over has written them all
    look_for_ranks(true);
    const bool news = read_newest();
    const bool wrote = samples_.poll();
    const bool more = read_backlog(until);
    if (progress().whole()) alerts_.advance(*this, silence_counts(), unix_now());
    return more || news || wrote;
}

std::vector<EventLine> RunHistory::poll() {
    state_ = read_run_state(run_.dir);  // read before the events: a run that is over has written them all
    look_for_ranks(false);
    std::vector<EventLine> lines;
    int64_t left = kPollBytes;
    for (size_t tried = 0; tried < sources_.size() && left > 0; ++tried) {
        const size_t rank = next_source_ % sources_.size();
        next_source_ = rank + 1;
        EventReader& reader = sources_[rank].newest;
        const int64_t before = reader.offset();
        std::vector<EventLine> of_rank = reader.poll(std::min(left, kRankBytes));
        left -= std::max<int64_t>(0, reader.offset() - before);
        take(rank, of_rank, true);
        lines.insert(lines.end(), std::make_move_iterator(of_rank.begin()),
                     std::make_move_iterator(of_rank.end()));
    }
    std::stable_sort(lines.begin(), lines.end(),
                     [](const EventLine& a, const EventLine& b) { return a.t < b.t; });
    alerts_.take(lines, static_cast<int>(ranks_.size()), silence_counts(), unix_now());
    return lines;
}

/// Returns whether a silence counts as the run's: a run on another machine may be silent only because the
/// connection to it is lost.
bool RunHistory::silence_counts() const {
    return state_.state == RunPhase::Running && state_.writer.host == this_host();
}

void RunHistory::read_state() {
    try {
        state_ = read_run_state(run_.dir);
        problem_.clear();
        if (state_.attempt != std::exchange(ran_before_attempt_, state_.attempt))
            ran_before_s_ = ringmaster::ran_before_s(run_, state_);
    } catch (const Error& problem) {
        problem_ = problem.text();
    }
}

void RunHistory::look_for_ranks(bool from_end) {
    const auto count = static_cast<size_t>(std::clamp(state_.ranks, 0, kMostRanks));
    if (ranks_.size() > count) {  // the run resumed on fewer ranks
        ranks_.resize(count);
        sources_.resize(count, {EventReader({}), {}, 0, {}});
    }
    while (ranks_.size() < count) {
        RankHistory& rank = ranks_.emplace_back();
        rank.rank = static_cast<int>(ranks_.size()) - 1;
        rank.steps.spare(kSpareBlocks / static_cast<int64_t>(count));
        rank.steps.keep(kept_steps_ + StepColumns::kBlock);  // the newest block may hold a single step
        if (rank.rank > 0) rank.steps.leave_out_optional();
        sources_.push_back(open_source(rank, from_end));
    }
}

RunHistory::Source RunHistory::open_source(RankHistory& rank, bool from_end) const {
    const std::filesystem::path path = run_.events() / event_file_name(rank.rank);
    const int64_t size = stamp_of(path).bytes;
    if (size <= kReadWhole || !from_end) return {EventReader(path), {}, 0, {}};
    const int64_t tail = line_after(path, size - kTail, size);
    for (int place = 0; place < kSamples; ++place) sample(path, tail / kSamples * place, rank);
    return {EventReader(path, tail), EventReader(path), tail, {}};
}

bool RunHistory::read_newest() {
    bool came = false;
    for (size_t rank = 0; rank < sources_.size(); ++rank) {
        const std::vector<EventLine> lines = sources_[rank].newest.poll(kBite);
        came = came || !lines.empty();
        take(rank, lines, true);
    }
    return came;
}

/// Returns the ranks whose backlogs have been read the least, at most kMostReaders.
std::vector<size_t> RunHistory::next_backlogs() const {
    std::vector<size_t> behind;
    for (size_t rank = 0; rank < sources_.size(); ++rank) {
        if (sources_[rank].backlog) behind.push_back(rank);
    }
    const size_t most = std::clamp(std::thread::hardware_concurrency(), 1U, kMostReaders);
    const auto end = behind.begin() + static_cast<std::ptrdiff_t>(std::min(most, behind.size()));
    std::partial_sort(behind.begin(), end, behind.end(), [&](size_t a, size_t b) {
        return sources_[a].backlog->offset() < sources_[b].backlog->offset();
    });
    behind.erase(end, behind.end());
    return behind;
}

bool RunHistory::read_backlog(std::chrono::steady_clock::time_point until) {
    // Several threads may take steps at once, because each takes those of another rank.
    const auto bite_of = [this](size_t rank) {
        RankHistory& history = ranks_[rank];
        Bite bite;
        sources_[rank].backlog->poll(kBite, [&](EventLine& line) {
            bite.is_empty = false;
            const auto* step = std::get_if<StepEvent>(&line.event);
            if (step == nullptr) {
                bite.others.push_back(std::move(line));
            } else if (line.rank == history.rank && std::isfinite(line.t)) {
                ++bite.steps;
                history.last_heard = std::max(history.last_heard, line.t);
                take_step(rank, line, *step, false);
            }
        });
        return bite;
    };
    bool came = false;
    for (auto ranks = next_backlogs(); !ranks.empty(); ranks = next_backlogs()) {
        std::vector<std::future<Bite>> bites;
        for (size_t i = 1; i < ranks.size(); ++i)
            bites.push_back(std::async(std::launch::async, bite_of, ranks[i]));
        for (size_t i = 0; i < ranks.size(); ++i) {
            Source& source = sources_[ranks[i]];
            const Bite bite = i == 0 ? bite_of(ranks[0]) : bites[i - 1].get();
            events_ += bite.steps;
            take(ranks[i], bite.others, false);
            if (bite.is_empty || source.backlog->offset() >= source.backlog_end) source.backlog.reset();
        }
        came = true;
        if (std::chrono::steady_clock::now() >= until) break;
    }
    return came;
}

void RunHistory::take(size_t rank, const std::vector<EventLine>& lines, bool is_newest) {
    RankHistory& history = ranks_[rank];
    for (const EventLine& line : lines) {
        if (line.rank != history.rank || !std::isfinite(line.t)) continue;
        ++events_;
        history.last_heard = std::max(history.last_heard, line.t);
        if (const auto* step = std::get_if<StepEvent>(&line.event)) {
            take_step(rank, line, *step, is_newest);
        } else {
            take_other(history, line, is_newest);
        }
    }
}

void RunHistory::take_step(size_t rank, const EventLine& line, const StepEvent& step, bool is_newest) {
    RankHistory& history = ranks_[rank];
    StepRange& newest = sources_[rank].newest_steps;
    const bool told_since = !is_newest && step.step >= newest.from && step.step <= newest.to;
    if (!history.steps.put(line.t, step, told_since)) {
        ++history.odd_lines;
        return;
    }
    history.peak_bytes = std::max(history.peak_bytes, step.peak_memory_bytes);
    if (!is_newest) return;
    newest = newest.count() == 0
                 ? StepRange{step.step, step.step}
                 : StepRange{std::min(newest.from, step.step), std::max(newest.to, step.step)};
    history.last_step = step.step;
}

void RunHistory::take_other(RankHistory& rank, const EventLine& line, bool is_newest) {
    if (const auto* device = std::get_if<DeviceEvent>(&line.event)) {
        rank.device = *device;
        return;
    }
    if (const auto* hello = std::get_if<HelloEvent>(&line.event)) {
        if (rank.rank == 0) {
            attempts_[hello->attempt] = *hello;
            if (attempts_.size() > kKeptAttempts) attempts_.erase(attempts_.begin());
        }
        if (!rank.hello || hello->attempt >= rank.hello->attempt) {
            rank.hello = *hello;
            rank.hello->start_step = std::clamp<int64_t>(hello->start_step, 0, StepColumns::kMostSteps);
            if (is_newest) rank.last_step = std::min(rank.hello->start_step, rank.steps.last());
        }
    }
    if (const auto* phase = std::get_if<PhaseEvent>(&line.event)) {
        if (line.t >= rank.phase_since) {
            rank.phase = *phase;
            rank.phase_since = line.t;
        }
    }
    if (const auto* eval = std::get_if<EvalEvent>(&line.event)) {
        auto& kept = evaluations_[eval->step];
        if (line.t >= kept.first) kept = {line.t, *eval};
        if (evaluations_.size() > kKeptEvaluations) evaluations_.erase(evaluations_.begin());
    }
    if (const auto* saved = std::get_if<CheckpointEvent>(&line.event)) {
        checkpoints_[saved->step] = *saved;
        if (checkpoints_.size() > kKeptCheckpoints) checkpoints_.erase(checkpoints_.begin());
    }
    note(line);
}

void RunHistory::note(const EventLine& line) {
    const Happening happening{line.t, line.rank, line.event};
    if (std::holds_alternative<ErrorEvent>(line.event) && line.t >= state_.started - 1 &&
        (!first_error_ || line.t < first_error_->t || first_error_->t < state_.started - 1))
        first_error_ = happening;
    const auto at = std::upper_bound(happenings_.begin(), happenings_.end(), line.t,
                                     [](double t, const Happening& other) { return t < other.t; });
    for (auto before = at; before != happenings_.begin() && std::prev(before)->t == line.t; --before) {
        if (same(*std::prev(before), line)) return;
    }
    const bool is_error = std::holds_alternative<ErrorEvent>(line.event);
    const bool is_full = happenings_.size() >= kKeptHappenings;
    if (is_full && at == happenings_.begin() && !is_error) return;
    happenings_.insert(at, happening);
    if (news_.size() < (is_error ? 2 * kKeptNews : kKeptNews)) news_.push_back(happening);
    if (is_full) drop_oldest(happenings_);
}

std::vector<Happening> RunHistory::take_news() {
    return std::exchange(news_, {});
}

ReadProgress RunHistory::progress() const {
    ReadProgress progress;
    for (const Source& source : sources_) {
        progress.total_bytes += source.backlog_end;
        progress.read_bytes +=
            source.backlog ? std::min(source.backlog->offset(), source.backlog_end) : source.backlog_end;
    }
    return progress;
}

int64_t RunHistory::first_step() const {
    int64_t first = 0;
    for (const RankHistory& rank : ranks_) {
        if (!rank.steps.empty())
            first = first == 0 ? rank.steps.first() : std::min(first, rank.steps.first());
    }
    return std::max<int64_t>(first, 1);
}

int64_t RunHistory::last_step() const {
    int64_t last = 0;
    for (const RankHistory& rank : ranks_) last = std::max(last, rank.last_step);
    return last;
}

std::optional<double> RunHistory::duration_s(double now) const {
    return ringmaster::duration_s(state_, ran_before_s_, now);
}

double RunHistory::last_heard() const {
    double last = 0;
    for (const RankHistory& rank : ranks_) last = std::max(last, rank.last_heard);
    return last;
}

size_t RunHistory::bytes() const {
    size_t bytes =
        happenings_.size() * sizeof(Happening) + sources_.size() * sizeof(Source) + samples_.bytes();
    for (const RankHistory& rank : ranks_)
        bytes += sizeof(RankHistory) - sizeof(StepColumns) + rank.steps.bytes();
    return bytes;
}

}  // namespace ringmaster
