/// Defines the Plan: what a Config means on a number of ranks. The app and the launcher show and launch the
/// same Plan that the engine follows. The engine trains with exactly the plan's mesh, layout, batch and
/// padding, and refuses a plan that has an error.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/config/diagnostic.h"
#include "engine/config/read_config.h"
#include "engine/device.h"
#include "engine/families/model_config.h"
#include "engine/layout/mesh.h"
#include "engine/plan/calibration.h"

namespace ringmaster {

enum class Verdict { Fits, Tight, WillNotFit, Invalid, Unknown };

struct ContextParallel {
    int size = 1;
    std::vector<int> valid_sizes;                   ///< divisors of ranks above 1
    RingAttnFunc layout = RingAttnFunc::BatchRing;  ///< resolved, never Default
    int64_t heads_k_stride = 1;
};

struct Batch {
    int64_t micro = 1;
    int64_t accumulation = 1;
    int64_t global = 1;             ///< rows per step: micro × accumulation × data-parallel groups
    int64_t global_without_cp = 1;  ///< micro × accumulation × ranks
    std::optional<int64_t> tokens_per_step;
    std::optional<int64_t> rows;  ///< training rows, after packing and dropping
    std::optional<int64_t> steps_per_epoch;
    std::optional<int64_t> total_steps;
};

struct SequencePlan {
    int64_t length = 0;
    int64_t padded_length = 0;
    int64_t per_rank = 0;  ///< tokens in the largest shard
    int64_t chunks = 1;    ///< parts of a shard that are computed one after the other
    int64_t chunk_tokens() const { return (per_rank + chunks - 1) / chunks; }
};

/// Prompts that several answers of a micro-batch have in common are computed once
/// (engine/data/shared_prompts.h). The ratios below are counted in the prepared rows; only a prompt that
/// answers of one row have in common counts.
struct PromptSharing {
    bool on = false;
    std::optional<double> tokens;  ///< tokens that are computed ÷ tokens of all answers with their prompts
    /// Cells of attention's mask that are computed ÷ cells that would be computed without sharing.
    std::optional<double> cells;
    std::optional<double> most;  ///< computed tokens of the largest row ÷ the most tokens that a row may have
};

/// Bytes of one rank by component; `total` is expected, `total_low` and `total_high` are its bounds.
struct RankMemory {
    int rank = 0;
    int64_t weights = 0, gradients = 0, optimizer = 0, activations = 0, workspace = 0, logits = 0,
            communication = 0, runtime = 0;
    int64_t total = 0, total_low = 0, total_high = 0;
    int64_t host = 0, disk = 0;  ///< bytes in host memory and on a disk, which `total` does not contain
};

/// The source of the memory figures: the engine's own arithmetic, that arithmetic corrected by a measured run
/// of the same model and options, or a measured run of this very plan.
enum class MemoryBasis { Formula, Recalibrated, Measured };

struct Memory {
    MemoryBasis basis = MemoryBasis::Formula;
    int64_t device_bytes = 0;  ///< 0: unknown; device_bytes and `fits` are then null in the JSON
    bool fits = false;
    int64_t host_bytes = 0;           ///< host memory that all ranks of a node take
    int64_t host_capacity_bytes = 0;  ///< memory of a node; 0: unknown
    int64_t disk_bytes = 0;           ///< disk space that all ranks of a node take
    int64_t disk_capacity_bytes = 0;  ///< free bytes of a node's disk; 0: unknown
    std::vector<RankMemory> per_rank;
};

struct StepTime {
    double step_s = 0, compute_s = 0, comm_s = 0, exposed_comm_s = 0;
    bool measured = false;  ///< true if the speeds were measured; plan.json's `basis` is then "measured",
                            ///< otherwise "assumed"

    /// Returns the share of a step that is spent on communication that computation does not hide.
    double overhead() const { return step_s > 0 ? exposed_comm_s / step_s : 0; }
};

/// Files of the prepared rows; filled by `prepare`, empty in a plan that was never launched.
struct PreparedData {
    std::string tokens;       ///< tokens.safetensors: input_ids, labels, row_offsets
    std::string eval_tokens;  ///< the same tensors for evaluation; empty if the run does not evaluate
    int64_t rows = 0;
    int64_t eval_rows = 0;
};

/// Says when the engine runs its checks (`ringmaster preflight`): before training, never, or without
/// training.
enum class Preflight { Before, None, Only };

struct Plan {
    Verdict verdict = Verdict::Unknown;
    int ranks = 1;
    int nodes = 1;
    Device device = Device::Cpu;
    Mesh mesh;
    int zero_stage = 0;
    ContextParallel context_parallel;
    Batch batch;
    SequencePlan sequence;
    PromptSharing sharing;
    std::optional<Memory> memory;  ///< null if the model's shape is unknown
    std::optional<StepTime> time;
    Diagnostics diagnostics;
    KeyVerdicts keys;
    Config config;
    std::optional<ModelConfig> model;
    PreparedData data;
    Preflight preflight = Preflight::Before;

    bool ok() const { return !has_error(diagnostics); }
};

const char* to_string(Verdict verdict);      ///< "fits", "tight", "will_not_fit", "invalid", "unknown"
const char* to_string(Preflight preflight);  ///< "before", "none", "only"
const char* to_string(MemoryBasis basis);    ///< "formula", "recalibrated", "measured"

}  // namespace ringmaster
