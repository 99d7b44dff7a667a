/// What else could be run: other meshes and options of the same configuration that this engine trains today,
/// ranked by predicted tokens a second, and the longest sequence that fits.
///
/// Every alternative is a real plan of the configuration with some keys overridden, kept where it has no
/// error: what the engine cannot do is decided by the plan's own checks. Of the plans of one
/// context_parallel_size only the best is kept.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "engine/plan/plan.h"

namespace ringmaster {

/// Why an alternative is worth a look, against the present plan.
enum class Gain {
    Present,              ///< the present plan itself
    Fits,                 ///< it fits where the present one does not
    Recomputes,           ///< layers are computed again in the backward: less memory
    KeepsActivations,     ///< nothing is computed twice: more memory
    TilesMlp,             ///< MLPs go in tiles of tokens: less memory
    WholeMlp,             ///< they do not: nothing of them is computed twice
    KeepsAttention,       ///< attention's output is kept: the rest alone is computed again
    RecomputesAttention,  ///< attention is computed again too: less memory
    Offloads,             ///< activations wait in host memory: less of the device's
    StaysOnDevice,        ///< they do not: nothing is copied
    SharesStates,         ///< weights, gradients and optimizer are sharded, or more of them
    WholeStates,          ///< fewer of them are: less is gathered
    EvenWork,             ///< every rank has the same attention work
    FewerShare,           ///< fewer ranks share a sequence: less is exchanged
    MoreShare,            ///< more ranks share a sequence: fewer tokens on each
    SplitsHeads,          ///< other ranks of a ring split the heads by all-to-all
    BatchChanges,         ///< the global batch cannot be kept
};

struct Alternative {
    std::vector<std::pair<std::string, std::string>> set;  ///< dotted key, value as YAML; empty: as it is
    Mesh mesh;
    RingAttnFunc layout = RingAttnFunc::BatchRing;
    bool gradient_checkpointing = false;
    std::vector<bool> options;  ///< the adviser's table of them, on or off
    int zero_stage = 0;
    int64_t accumulation = 1;
    int64_t global_batch = 1;
    int64_t tokens_of_rank = 0;
    double tokens_per_s = 0;
    StepTime time;
    int64_t memory_total = 0;  ///< of the fullest rank, expected
    Verdict verdict = Verdict::Unknown;
    std::vector<Gain> gains;
    std::string why;  ///< the gains as one sentence

    bool is_present() const { return set.empty(); }
};

/// One change of the configuration, and how long sequences may be with it.
struct LongerBy {
    std::vector<std::pair<std::string, std::string>> set;
    int64_t sequence_len = 0;
};

struct Advice {
    std::vector<Alternative> plans;  ///< best first; empty where the model's shape is not known
    /// Multiple of the layout's multiple, 0 where none fits; nullopt where memory or device is unknown.
    std::optional<int64_t> longest_sequence_len;
    /// The single change that buys most; nullopt where none makes it longer, or nothing is known.
    std::optional<LongerBy> longer_by;
};

/// `present` is make_plan of the same reading and request. Never throws for what a configuration gets wrong.
/// Ends early, with what it has, where `stop` is asked for.
Advice advise(const ConfigReading& reading, const PlanRequest& request, const Plan& present,
              std::stop_token stop = {});
Advice advise(const ConfigReading& reading, const PlanRequest& request);

/// The longest sequence_len that fits on every rank with the present mesh and options.
std::optional<int64_t> longest_sequence_len(const ConfigReading& reading, const PlanRequest& request,
                                            const Plan& present, std::stop_token stop = {});

/// That of `present`, with one thing changed: an option that takes less memory, states sharded, more ranks to
/// a sequence, or one row at a time.
std::optional<LongerBy> longest_by_one_change(const ConfigReading& reading, const PlanRequest& request,
                                              const Plan& present, std::stop_token stop = {});

/// The contract's object, and `longer_by`: {"set", "sequence_len"} or null.
nlohmann::json advice_to_json(const Advice& advice);

}  // namespace ringmaster
