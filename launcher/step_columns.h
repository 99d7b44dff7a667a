/// The steps of one rank as columns of floats, in blocks that are found by the step's number: so that a later
/// line replaces an earlier one in place, and steps may come in any order (the newest first, the rest
/// behind).
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

/// What a chart or a table can show of a step.
enum class Measure {
    // As the event tells them.
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
    // Made of those.
    WorkSeconds,      ///< step less exposed communication: what the others wait for
    OtherSeconds,     ///< step less data, compute and exposed communication
    ExposedShare,     ///< exposed communication ÷ step
    Overlap,          ///< share of the communication that computation hid
    TokensPerSecond,  ///< tokens ÷ step
};
constexpr size_t kStoredMeasures = 12;

/// The column's name in a CSV, with its unit: "exposed_comm_s".
const char* to_string(Measure figure);

struct StepRange {
    int64_t from = 1, to = 0;  ///< both inclusive; empty where to < from

    int64_t count() const { return to < from ? 0 : to - from + 1; }
    bool operator==(const StepRange&) const = default;
};

class StepColumns {
  public:
    static constexpr int64_t kBlock = 256;  ///< steps
    static constexpr int64_t kMostSteps = limits::kSteps;

    /// False, and nothing kept, for a step that cannot be: below 1, or so far from the others that keeping it
    /// would cost more than a damaged file may. `keep_existing`: a step that is there stays as it is.
    bool put(double t, const StepEvent& event, bool keep_existing = false);

    /// How many blocks may be kept beyond those that a whole file fills; 512 at most, which is the default.
    void spare(int64_t blocks) { spare_ = std::min(blocks, kSpareBlocks); }

    bool empty() const { return blocks_.empty(); }
    int64_t first() const { return first_; }  ///< of all that are there
    int64_t last() const { return last_; }
    int64_t count() const { return count_; }
    bool has(int64_t step) const;

    double time(int64_t step) const;                  ///< Unix seconds; NaN where the step is not there
    float value(int64_t step, Measure figure) const;  ///< NaN where it is not known

    /// What is kept of the step's event; NaN (0 for a count) where it is not known.
    StepEvent event(int64_t step) const;

    /// The first block from `block` on that is there.
    std::optional<int64_t> next_block(int64_t block) const;
    /// `figure` of the kBlock steps from `block` × kBlock on; false, and `out` untouched, where none is
    /// there.
    bool read_block(int64_t block, Measure figure, float* out) const;
    /// The same for the time; NaN where a step is not there.
    bool read_times(int64_t block, double* out) const;

    size_t bytes() const;  ///< of memory, everything counted

  private:
    static constexpr int64_t kSpareBlocks = 512;
    struct Block {
        std::array<double, kBlock> t;
        std::array<std::array<float, kBlock>, kStoredMeasures> values;
        Block();
    };
    const Block* block_of(int64_t block) const;

    std::map<int64_t, std::unique_ptr<Block>> blocks_;
    Block* recent_ = nullptr;  ///< the last written, and which it is
    int64_t recent_block_ = -1;
    int64_t first_ = 0, last_ = 0, count_ = 0, taken_ = 0;
    int64_t spare_ = kSpareBlocks;
};

}  // namespace ringmaster
