/// Suggests other ways to run the same configuration: the meshes and options that this engine trains today,
/// ranked by predicted tokens per second, and the longest sequence that fits.
///
/// Every alternative is a real plan of the configuration with some keys overridden, and is kept only if the
/// plan has no error: the plan's own checks decide what the engine cannot do. Only the best plan of each
/// context_parallel_size is kept.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"

namespace ringmaster {

/// Reasons why an alternative is worth a look, compared with the current plan.
enum class Gain {
    Present,              ///< the alternative is the current plan itself
    Fits,                 ///< the alternative fits and the current plan does not
    Recomputes,           ///< layers are computed again in the backward pass, which takes less memory
    KeepsActivations,     ///< nothing is computed twice, which takes more memory
    TilesMlp,             ///< MLPs are computed in tiles of tokens, which takes less memory
    WholeMlp,             ///< MLPs are computed whole, so no part is computed twice
    KeepsAttention,       ///< attention's output is kept, only the rest of a layer is computed again
    RecomputesAttention,  ///< attention is computed again too, which takes less memory
    Offloads,             ///< activations are kept in host memory, which takes less device memory
    StaysOnDevice,        ///< activations stay on the device, so nothing is copied
    SharesStates,         ///< more of the weights, gradients and optimizer states are sharded
    WholeStates,          ///< fewer states are sharded, so less is gathered
    EvenWork,             ///< every rank has the same attention work
    FewerShare,           ///< fewer ranks share a sequence, so less is exchanged
    MoreShare,            ///< more ranks share a sequence, so each holds fewer tokens
    SplitsHeads,          ///< a different number of ranks splits the heads by all-to-all
    BatchChanges,         ///< the global batch cannot be kept
};

struct Alternative {
    std::vector<std::pair<std::string, std::string>>
        set;  ///< dotted keys, and values as YAML; empty for the current plan
    Mesh mesh;
    RingAttnFunc layout = RingAttnFunc::BatchRing;
    bool gradient_checkpointing = false;
    std::vector<bool> options;  ///< whether each memory option is on, in the adviser's order
    int zero_stage = 0;
    int64_t accumulation = 1;
    int64_t global_batch = 1;
    int64_t tokens_of_rank = 0;
    double tokens_per_s = 0;
    StepTime time;
    int64_t memory_total = 0;  ///< expected bytes of the fullest rank
    Verdict verdict = Verdict::Unknown;
    std::vector<Gain> gains;
    std::string why;  ///< the gains, written as one sentence

    bool is_present() const { return set.empty(); }
};

/// A change of the configuration, and the longest sequence that fits with it.
struct LongerBy {
    std::vector<std::pair<std::string, std::string>> set;
    int64_t sequence_len = 0;
};

struct Advice {
    std::vector<Alternative> plans;  ///< best first; empty if the model's shape is unknown
    /// Tokens: a multiple of the layout's multiple; 0 if none fits; nullopt if memory or device is unknown.
    std::optional<int64_t> longest_sequence_len;
    /// The single change that lengthens sequences most; nullopt if none does or nothing is known.
    std::optional<LongerBy> longer_by;
};

/// Returns the advice for `present`, which is make_plan of the same reading and request. Never throws for
/// mistakes in a configuration. If `stop` is requested, returns early with the alternatives found so far.
Advice advise(const ConfigReading& reading, const PlanRequest& request, const Plan& present,
              std::stop_token stop = {});

/// Returns the longest sequence_len that fits on every rank with the current mesh and options.
std::optional<int64_t> longest_sequence_len(const ConfigReading& reading, const PlanRequest& request,
                                            const Plan& present, std::stop_token stop = {});

/// Returns the longest sequence_len that fits after one change to `present`. The change is an option that
/// takes less memory, sharded states, more ranks per sequence, or micro-batches of one row.
std::optional<LongerBy> longest_by_one_change(const ConfigReading& reading, const PlanRequest& request,
                                              const Plan& present, std::stop_token stop = {});

/// Returns what `ringmaster advise --json` prints; its `longer_by` is {"set", "sequence_len"} or null.
nlohmann::json advice_to_json(const Advice& advice);

}  // namespace ringmaster
