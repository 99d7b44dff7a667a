/// Keeps the steps of one rank as columns of floats, in blocks found by the step's number. A later line can
/// thus replace an earlier one in place, and steps can arrive in any order (the newest first, the rest
/// afterwards).
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>

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
    // Computed from the stored ones.
    WorkSeconds,      ///< step − exposed communication: what other ranks wait for
    OtherSeconds,     ///< step − data − compute − exposed communication
    ExposedShare,     ///< exposed communication ÷ step time
    Overlap,          ///< share of the communication hidden behind compute
    TokensPerSecond,  ///< tokens ÷ step time
};
constexpr size_t kStoredMeasures = 12;

/// Returns the column's name in a CSV, with its unit: "exposed_comm_s".
const char* to_string(Measure figure);

struct StepRange {
    int64_t from = 1, to = 0;  ///< inclusive bounds; empty if to < from

    int64_t count() const { return to < from ? 0 : to - from + 1; }
    bool operator==(const StepRange&) const = default;
};

class StepColumns {
  public:
    static constexpr int64_t kBlock = 256;  ///< steps per block
    static constexpr int64_t kMostSteps = limits::kSteps;

    /// Stores a step. Returns false for an invalid one: below 1, or so far from the others that it would cost
    /// more memory than a damaged file may. `keep_existing` keeps a step that is already stored.
    bool put(double t, const StepEvent& event, bool keep_existing = false);

    /// Sets how many blocks may be kept beyond those that a whole file fills: at most 512, the default.
    void spare(int64_t blocks) { spare_ = std::min(blocks, kSpareBlocks); }

    /// Keeps only about the last `steps` steps from now on. Without this call, all are kept.
    void keep(int64_t steps) { most_blocks_ = std::max<int64_t>(1, steps / kBlock) + 1; }

    bool empty() const { return blocks_.empty(); }
    int64_t first() const { return first_; }  ///< lowest step stored; 0: none
    int64_t last() const { return last_; }
    int64_t count() const { return count_; }
    bool has(int64_t step) const;

    double time(int64_t step) const;                  ///< Unix seconds; NaN if the step is not stored
    float value(int64_t step, Measure figure) const;  ///< NaN if unknown

    /// Returns what is stored of the step's event; NaN (0 for a count) if unknown.
    StepEvent event(int64_t step) const;

    /// Returns the first block that exists, starting with `block`.
    std::optional<int64_t> next_block(int64_t block) const;
    /// Writes `figure` of the kBlock steps from `block` × kBlock on; returns false and leaves `out` untouched
    /// if the block does not exist.
    bool read_block(int64_t block, Measure figure, float* out) const;
    /// Writes the times of the block's steps, as read_block does; NaN for each step that is not stored.
    bool read_times(int64_t block, double* out) const;

    size_t bytes() const;  ///< memory used in all, in bytes

  private:
    static constexpr int64_t kSpareBlocks = 512;
    struct Block {
        std::array<double, kBlock> t;
        std::array<std::array<float, kBlock>, kStoredMeasures> values;
        Block();
    };
    const Block* block_of(int64_t block) const;
    void drop_far_from(int64_t block);

    std::map<int64_t, std::unique_ptr<Block>> blocks_;
    Block* recent_ = nullptr;  ///< block written last; its number is recent_block_
    int64_t recent_block_ = -1;
    int64_t first_ = 0, last_ = 0, count_ = 0, taken_ = 0;
    int64_t spare_ = kSpareBlocks;
    int64_t most_blocks_ = kMostSteps;
};

}  // namespace ringmaster
