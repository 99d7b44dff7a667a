/// Keeps the steps of one rank as columns of floats, in blocks found by the step's number. So a later line
/// can replace an earlier one in place, and steps can arrive in any order (the newest first, the rest
/// afterwards).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/events/event.h"
#include "engine/events/limits.h"

namespace ringmaster {

/// The figures of a step that a chart or a table can show.
enum class Measure {
    // Stored as the event reports them.
    Loss,
    RankLoss,
    Tokens,
    LearningRate,
    GradNorm,
    StepSeconds,
    ComputeSeconds,
    CommSeconds,
    ExposedSeconds,
    DataSeconds,
    MemoryBytes,
    PeakMemoryBytes,
    // The following measures are stored only if the run has them. Their names are those of the event's fields
    // (engine/events/step_fields.h).
    RouterLoss,
    RewardsChosen,
    RewardsRejected,
    RewardMargin,
    RewardAccuracy,
    Kl,
    Nll,
    ClipShare,
    SamplerGap,
    Reward,
    RewardStd,
    CompletionTokens,
    CutShare,
    EvenShare,
    FunctionReward,  ///< reward of the first reward function; the other functions' rewards follow
    LastFunctionReward = FunctionReward + 7,
    // Computed from the stored figures.
    WorkSeconds,      ///< step − exposed communication: the part for which other ranks wait
    OtherSeconds,     ///< step − data − compute − exposed communication
    ExposedShare,     ///< exposed communication ÷ step time
    Overlap,          ///< share of the communication hidden behind compute
    TokensPerSecond,  ///< tokens ÷ step time
};
constexpr size_t kStoredMeasures = 12;  ///< number of figures that every step has
constexpr size_t kOptionalMeasures = static_cast<size_t>(Measure::LastFunctionReward) + 1 - kStoredMeasures;
constexpr size_t kMostFunctions =
    static_cast<size_t>(Measure::LastFunctionReward) - static_cast<size_t>(Measure::FunctionReward) + 1;

/// Returns the column's name in a CSV, with its unit: "exposed_comm_s".
const char* to_string(Measure figure);

/// Returns whether only some runs have a figure, which is then the same on all ranks.
constexpr bool is_optional(Measure figure) {
    return figure >= Measure::RouterLoss && figure <= Measure::LastFunctionReward;
}

/// Returns the measure of a reward function, by its index in StepColumns::functions().
constexpr Measure reward_of_function(size_t index) {
    return static_cast<Measure>(static_cast<size_t>(Measure::FunctionReward) + index);
}

struct StepRange {
    int64_t from = 1, to = 0;  ///< inclusive bounds; empty if to < from

    int64_t count() const { return to < from ? 0 : to - from + 1; }
    bool operator==(const StepRange&) const = default;
};

class StepColumns {
  public:
    static constexpr int64_t kBlock = 256;  ///< steps per block
    static constexpr int64_t kMostSteps = limits::kSteps;

    /// Stores a step. Returns false for an invalid one: below 1, or so far from the others that storing it
    /// would take more memory than a damaged file may take. `keep_existing` keeps a step that is already
    /// stored.
    bool put(double t, const StepEvent& event, bool keep_existing = false);

    /// Sets how many blocks may be kept beyond those that a file without gaps fills: at most 512, the
    /// default.
    void spare(int64_t blocks) { spare_ = std::min(blocks, kSpareBlocks); }

    /// From now on, leaves out figures that only some runs have, because they are the same on all ranks.
    void leave_out_optional() { keeps_optional_ = false; }

    /// Keeps only about the last `steps` steps from now on. Without this call, all are kept.
    void keep(int64_t steps) { most_blocks_ = std::max<int64_t>(1, steps / kBlock) + 1; }

    bool empty() const { return blocks_.empty(); }
    int64_t first() const { return first_; }  ///< lowest step stored; 0: none
    int64_t last() const { return last_; }
    int64_t count() const { return count_; }
    bool has(int64_t step) const;

    bool has(Measure figure) const;  ///< true if any stored step has this optional figure
    /// Names of the reward functions, in the order of their first events; at most kMostFunctions.
    const std::vector<std::string>& functions() const { return functions_; }

    double time(int64_t step) const;                  ///< Unix seconds; NaN if the step is not stored
    float value(int64_t step, Measure figure) const;  ///< NaN if unknown

    /// Returns the stored figures of the step's event. Unknown figures are NaN, unknown counts 0.
    StepEvent event(int64_t step) const;

    /// Returns the first existing block from `block` on.
    std::optional<int64_t> next_block(int64_t block) const;
    /// Writes `figure` of the kBlock steps from `block` × kBlock on; returns false and leaves `out` untouched
    /// if the block does not exist.
    bool read_block(int64_t block, Measure figure, float* out) const;
    /// Writes the times of the block's steps, as read_block does; NaN for each step that is not stored.
    bool read_times(int64_t block, double* out) const;

    size_t bytes() const;  ///< total memory used, in bytes

  private:
    static constexpr int64_t kSpareBlocks = 512;
    using Column = std::array<float, kBlock>;
    using OptionalColumns = std::array<Column, kOptionalMeasures>;
    struct Block {
        std::array<double, kBlock> t;
        std::array<Column, kStoredMeasures> values;
        std::unique_ptr<OptionalColumns> optional;  ///< null if no step of the block has such a figure
        Block();
        const Column* column_of(Measure stored) const;  ///< null if the block has none
        float at(Measure stored, size_t row) const;
    };
    const Block* block_of(int64_t block) const;
    bool has_room(int64_t blocks) const;
    void put_optional(const StepEvent& event, size_t row);
    std::optional<size_t> place_of(const std::string& function);
    void drop_far_from(int64_t block);

    std::map<int64_t, std::unique_ptr<Block>> blocks_;
    std::array<bool, kOptionalMeasures> has_optional_{};
    std::vector<std::string> functions_;
    bool keeps_optional_ = true;
    int64_t optional_blocks_ = 0;  ///< blocks with optional columns
    Block* recent_ = nullptr;      ///< block written last; its number is recent_block_
    int64_t recent_block_ = -1;
    int64_t first_ = 0, last_ = 0, count_ = 0, taken_ = 0;
    int64_t spare_ = kSpareBlocks;
    int64_t most_blocks_ = kMostSteps;
};

}  // namespace ringmaster
