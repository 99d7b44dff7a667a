/// One optimizer step, played through on a clock: every ring rank, layer and hop, with what waits for what as
/// the engine does it. The one model of time: `plan`, `advise` and `--timeline` all come from here.
///
/// Keys and values of a hop set off when the hop before is computed, and a pair's message moves once both
/// ends have posted it and their links are free (engine/attention/scheduled_attention.cpp). In the backward
/// each hop's gradients go home while the next one computes, one exchange at a time; half of the own heads
/// come last. An all-to-all hides behind nothing. Units of the states are gathered a layer ahead and reduced
/// as they come, in order (engine/train/gradient_reduction.cpp); where they share the keys' link they get
/// what the keys leave of it. Checkpoints that lie in host memory leave behind the computation of the next
/// layer and come back a layer ahead (engine/model/host_stash.h).
///
/// Ranks start each pass of a layer together. That is exact where they are equal, and where one is always
/// the slowest; it never says less than the engine takes where two are in turn.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "engine/plan/step_costs.h"

namespace ringmaster {

enum class Lane { Compute, KeysLink, StatesLink, HostLink };

/// What a rank, or one of its links, does for a while.
struct TimelineSpan {
    Lane lane = Lane::Compute;
    double begin_s = 0, end_s = 0;
    std::string name;  ///< "layer 3 hop 2 forward"
};

/// Of one ring rank.
struct RankTime {
    int ring_rank = 0;
    double compute_s = 0;
    double comm_s = 0;     ///< links in flight
    double exposed_s = 0;  ///< the rest of the step: waiting for links and for slower ranks
};

struct SimulatedStep {
    StepTime time;  ///< of the rank that computes most
    std::vector<RankTime> ranks;
};

SimulatedStep simulate_step(const StepCosts& costs);

/// Called for all that happens in a step, of one ring rank (as StepCosts counts them) after the other. Of
/// more than two micro-batches the first and the last are played.
using OnSpan = std::function<void(int column, const TimelineSpan& span)>;
SimulatedStep simulate_step(const StepCosts& costs, const OnSpan& on_span);

}  // namespace ringmaster
