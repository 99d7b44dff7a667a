/// Simulates one optimizer step on a clock: every ring rank, layer and hop, with the same waits as in the
/// engine. This is the only model of time: `plan`, `advise` and `--timeline` all use it.
///
/// Keys and values of a hop are sent when the previous hop has been computed; a pair's message moves once
/// both ends have posted it and their links are free (engine/attention/scheduled_attention.cpp). In the
/// backward pass, each hop's gradients return while the next hop computes, one exchange at a time; a rank
/// computes half of its own heads last. Nothing hides an all-to-all. Units of sharded states are gathered a
/// layer ahead, and their gradients are reduced in the order in which they become final
/// (engine/train/gradient_reduction.cpp). On a link shared with keys, they get the capacity that keys leave.
/// Checkpoints in host memory are copied out while the next layer computes and come back a layer ahead
/// (engine/model/host_stash.h), as do weights; gradients leave after their reduction
/// (engine/model/parameters.h). One link to host memory carries both directions.
///
/// Ranks start each pass of a layer together. This is exact if they are equal or if one rank is always
/// slowest; if ranks take turns at being slowest, it never predicts less time than the engine takes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/plan/time/step_costs.h"

namespace ringmaster {

enum class Lane { Compute, KeysLink, StatesLink, HostLink };

/// One activity of a rank or of one of its links.
struct TimelineSpan {
    Lane lane = Lane::Compute;
    double begin_s = 0, end_s = 0;
    std::string name;  ///< "layer 3 hop 2 forward"
};

/// Times of one ring rank.
struct RankTime {
    int ring_rank = 0;
    double compute_s = 0;
    double comm_s = 0;     ///< time in which a link is in use
    double exposed_s = 0;  ///< the part of the step that waits for links and for slower ranks
};

struct SimulatedStep {
    StepTime time;  ///< times of the rank that computes most
    std::vector<RankTime> ranks;
};

SimulatedStep simulate_step(const StepCosts& costs);

/// Called for every activity of a step, one ring rank after the other (numbered as in StepCosts). If there
/// are more than two micro-batches, only the first and the last are simulated.
using OnSpan = std::function<void(int column, const TimelineSpan& span)>;
SimulatedStep simulate_step(const StepCosts& costs, const OnSpan& on_span);

}  // namespace ringmaster
