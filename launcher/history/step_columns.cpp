#include "launcher/history/step_columns.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/events/step_fields.h"

namespace ringmaster {

namespace {

constexpr float kMissing = std::numeric_limits<float>::quiet_NaN();
/// One block is allowed per 128 steps taken, in addition to `spare_`. A file without gaps needs one block per
/// kBlock steps, and one more for optional figures. Sampled or damaged files may need more, but only up to
/// this limit.
constexpr int64_t kLinesABlock = 128;

size_t column(Measure figure) {
    return static_cast<size_t>(figure);
}

/// Computes a figure from the stored ones; `at` returns a stored figure of the step.
float made(Measure figure, const auto& at) {
    switch (figure) {
        case Measure::OtherSeconds: {
            const float rest = at(Measure::StepSeconds) - at(Measure::DataSeconds) -
                               at(Measure::ComputeSeconds) - at(Measure::ExposedSeconds);
            return rest < 0 ? 0.0F : rest;  // negative only by rounding; a NaN stays NaN
        }
        case Measure::WorkSeconds:
            return at(Measure::StepSeconds) - at(Measure::ExposedSeconds);
        case Measure::ExposedShare: {
            const float whole = at(Measure::StepSeconds);
            return whole > 0 ? at(Measure::ExposedSeconds) / whole : kMissing;
        }
        case Measure::Overlap: {
            const float comm = at(Measure::CommSeconds);
            return comm > 0 ? std::clamp(1 - at(Measure::ExposedSeconds) / comm, 0.0F, 1.0F) : kMissing;
        }
        case Measure::TokensPerSecond: {
            const float whole = at(Measure::StepSeconds);
            return whole > 0 ? at(Measure::Tokens) / whole : kMissing;
        }
        default:
            return at(figure);
    }
}

/// Calls `take(measure, value)` for each optional figure of a step, and `take_function(name, value)` for each
/// reward function's reward.
template <class Take, class TakeFunction>
struct OptionalFigures {
    const Take& take;
    const TakeFunction& take_function;

    void operator()(const char* /*name*/, const auto& /*value*/) const {}
    void if_any(const char* /*name*/, const auto& /*value*/) const {}
    void if_any(const char* name, const std::optional<double>& value) const {
        if (!value) return;
        for (size_t i = 0; i < kOptionalMeasures - kMostFunctions; ++i) {
            const auto figure = static_cast<Measure>(kStoredMeasures + i);
            if (std::string_view(name) == to_string(figure)) take(figure, *value);
        }
    }
    void if_any(const char* /*name*/, const std::map<std::string, double>& values) const {
        for (const auto& [name, value] : values) take_function(name, value);
    }
};

}  // namespace

const char* to_string(Measure figure) {
    constexpr const char* kWords[] = {"loss",
                                      "rank_loss",
                                      "tokens",
                                      "lr",
                                      "grad_norm",
                                      "step_s",
                                      "compute_s",
                                      "comm_s",
                                      "exposed_comm_s",
                                      "data_s",
                                      "memory_bytes",
                                      "peak_memory_bytes",
                                      "router_loss",
                                      "rewards_chosen",
                                      "rewards_rejected",
                                      "reward_margin",
                                      "reward_accuracy",
                                      "kl",
                                      "nll",
                                      "clip_share",
                                      "sampler_gap",
                                      "reward",
                                      "reward_std",
                                      "completion_tokens",
                                      "cut_share",
                                      "even_share",
                                      "reward_function_1",
                                      "reward_function_2",
                                      "reward_function_3",
                                      "reward_function_4",
                                      "reward_function_5",
                                      "reward_function_6",
                                      "reward_function_7",
                                      "reward_function_8",
                                      "work_s",
                                      "other_s",
                                      "overhead",
                                      "overlap",
                                      "tokens_per_s"};
    static_assert(std::size(kWords) == static_cast<size_t>(Measure::TokensPerSecond) + 1);
    return kWords[static_cast<size_t>(figure)];
}

StepColumns::Block::Block() {
    t.fill(std::numeric_limits<double>::quiet_NaN());
    for (auto& column_of : values) column_of.fill(kMissing);
}

const StepColumns::Column* StepColumns::Block::column_of(Measure stored) const {
    if (!is_optional(stored)) return &values[column(stored)];
    return optional ? &(*optional)[column(stored) - kStoredMeasures] : nullptr;
}

float StepColumns::Block::at(Measure stored, size_t row) const {
    const Column* of = column_of(stored);
    return of == nullptr ? kMissing : (*of)[row];
}

const StepColumns::Block* StepColumns::block_of(int64_t block) const {
    if (block == recent_block_) return recent_;
    const auto found = blocks_.find(block);
    return found == blocks_.end() ? nullptr : found->second.get();
}

bool StepColumns::put(double t, const StepEvent& event, bool keep_existing) {
    if (event.step < 1 || event.step > kMostSteps || !std::isfinite(t)) return false;
    ++taken_;
    const int64_t block = event.step / kBlock;
    if (block != recent_block_) {
        auto found = blocks_.find(block);
        if (found == blocks_.end()) {
            if (!has_room(static_cast<int64_t>(blocks_.size()) + optional_blocks_)) return false;
            found = blocks_.emplace(block, std::make_unique<Block>()).first;
        }
        recent_ = found->second.get();
        recent_block_ = block;
        if (static_cast<int64_t>(blocks_.size()) > most_blocks_) drop_far_from(block);
    }
    const auto row = static_cast<size_t>(event.step % kBlock);
    const bool is_new = std::isnan(recent_->t[row]);
    if (!is_new && keep_existing) return true;
    recent_->t[row] = t;
    const auto counted = [](int64_t n) { return n > 0 ? static_cast<double>(n) : kMissing; };
    const std::array<double, kStoredMeasures> values = {event.loss,
                                                        event.rank_loss.value_or(kMissing),
                                                        counted(event.tokens),
                                                        event.lr,
                                                        event.grad_norm,
                                                        event.step_s,
                                                        event.compute_s,
                                                        event.comm_s,
                                                        event.exposed_comm_s,
                                                        event.data_s,
                                                        counted(event.memory_bytes),
                                                        counted(event.peak_memory_bytes)};
    for (size_t i = 0; i < kStoredMeasures; ++i) {
        const auto value = static_cast<float>(values[i]);  // values beyond a float's range count as unknown
        recent_->values[i][row] = std::isfinite(value) ? value : kMissing;
    }
    put_optional(event, row);
    if (is_new) {
        first_ = count_ == 0 ? event.step : std::min(first_, event.step);
        last_ = std::max(last_, event.step);
        ++count_;
    }
    return true;
}

bool StepColumns::has_room(int64_t blocks) const {
    return blocks <= spare_ + taken_ / kLinesABlock;
}

std::optional<size_t> StepColumns::place_of(const std::string& function) {
    const auto found = std::find(functions_.begin(), functions_.end(), function);
    if (found != functions_.end()) return static_cast<size_t>(found - functions_.begin());
    if (functions_.size() == kMostFunctions) return std::nullopt;
    functions_.push_back(function);
    return functions_.size() - 1;
}

void StepColumns::put_optional(const StepEvent& event, size_t row) {
    if (recent_->optional) {
        for (Column& of : *recent_->optional) of[row] = kMissing;
    }
    if (!keeps_optional_) return;
    const auto take = [&](Measure figure, double value) {
        const auto number = static_cast<float>(value);
        if (!std::isfinite(number)) return;
        if (!recent_->optional) {
            if (!has_room(static_cast<int64_t>(blocks_.size()) + optional_blocks_)) return;
            recent_->optional = std::make_unique<OptionalColumns>();
            for (Column& of : *recent_->optional) of.fill(kMissing);
            ++optional_blocks_;
        }
        (*recent_->optional)[column(figure) - kStoredMeasures][row] = number;
        has_optional_[column(figure) - kStoredMeasures] = true;
    };
    const auto take_function = [&](const std::string& name, double value) {
        if (const auto place = place_of(name)) take(reward_of_function(*place), value);
    };
    OptionalFigures figures{take, take_function};
    each_field(figures, event);
}

bool StepColumns::has(Measure figure) const {
    return is_optional(figure) && has_optional_[column(figure) - kStoredMeasures];
}

/// Drops the block whose steps are farthest from those of `block`.
void StepColumns::drop_far_from(int64_t block) {
    const auto lowest = blocks_.begin(), highest = std::prev(blocks_.end());
    const auto far = block - lowest->first >= highest->first - block ? lowest : highest;
    for (const double t : far->second->t) count_ -= std::isnan(t) ? 0 : 1;
    optional_blocks_ -= far->second->optional ? 1 : 0;
    blocks_.erase(far);
    const auto is_step = [](double t) { return !std::isnan(t); };
    const auto step_of = [](const auto& in, auto row) { return in.first * kBlock + row; };
    const auto &head = *blocks_.begin(), &tail = *blocks_.rbegin();
    const auto &first = head.second->t, &last = tail.second->t;
    first_ = step_of(head, std::find_if(first.begin(), first.end(), is_step) - first.begin());
    last_ = step_of(tail, last.rend() - std::find_if(last.rbegin(), last.rend(), is_step) - 1);
}

bool StepColumns::has(int64_t step) const {
    return !std::isnan(time(step));
}

double StepColumns::time(int64_t step) const {
    const Block* block = step < 1 ? nullptr : block_of(step / kBlock);
    return block == nullptr ? std::numeric_limits<double>::quiet_NaN()
                            : block->t[static_cast<size_t>(step % kBlock)];
}

float StepColumns::value(int64_t step, Measure figure) const {
    const Block* block = step < 1 ? nullptr : block_of(step / kBlock);
    if (block == nullptr) return kMissing;
    const auto row = static_cast<size_t>(step % kBlock);
    return made(figure, [&](Measure stored) { return block->at(stored, row); });
}

StepEvent StepColumns::event(int64_t step) const {
    const auto number = [&](Measure figure) { return static_cast<double>(value(step, figure)); };
    const auto count = [&](Measure figure) {
        const double known = number(figure);
        return std::isnan(known) ? 0 : std::llround(std::min(known, 9e18));
    };
    StepEvent event;
    event.step = step;
    event.loss = number(Measure::Loss);
    if (const double own = number(Measure::RankLoss); !std::isnan(own)) event.rank_loss = own;
    event.tokens = count(Measure::Tokens);
    event.lr = number(Measure::LearningRate);
    event.grad_norm = number(Measure::GradNorm);
    event.step_s = number(Measure::StepSeconds);
    event.compute_s = number(Measure::ComputeSeconds);
    event.comm_s = number(Measure::CommSeconds);
    event.exposed_comm_s = number(Measure::ExposedSeconds);
    event.data_s = number(Measure::DataSeconds);
    event.memory_bytes = count(Measure::MemoryBytes);
    event.peak_memory_bytes = count(Measure::PeakMemoryBytes);
    event.tokens_per_s = number(Measure::TokensPerSecond);
    return event;
}

std::optional<int64_t> StepColumns::next_block(int64_t block) const {
    const auto found = blocks_.lower_bound(block);
    return found == blocks_.end() ? std::nullopt : std::optional(found->first);
}

bool StepColumns::read_block(int64_t number, Measure figure, float* out) const {
    const Block* block = block_of(number);
    if (block == nullptr) return false;
    if (figure > Measure::LastFunctionReward) {
        for (size_t row = 0; row < static_cast<size_t>(kBlock); ++row)
            out[row] = made(figure, [&](Measure stored) { return block->at(stored, row); });
    } else if (const Column* stored = block->column_of(figure)) {
        std::copy_n(stored->data(), kBlock, out);
    } else {
        std::fill_n(out, kBlock, kMissing);
    }
    return true;
}

bool StepColumns::read_times(int64_t number, double* out) const {
    const Block* block = block_of(number);
    if (block == nullptr) return false;
    std::copy_n(block->t.data(), kBlock, out);
    return true;
}

size_t StepColumns::bytes() const {
    constexpr size_t kNode = 64;  // a map's node and the allocator's overhead per block
    return sizeof *this + blocks_.size() * (sizeof(Block) + kNode) +
           static_cast<size_t>(optional_blocks_) * sizeof(OptionalColumns);
}

}  // namespace ringmaster
