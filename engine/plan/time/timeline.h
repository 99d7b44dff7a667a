/// Writes a simulated step as a Chrome trace (the JSON that chrome://tracing, Perfetto and others open): one
/// process per node; each rank has rows for computation, for keys and values on its link, for the states, and
/// for copies to the host if there are any. Times are microseconds from the step's start.
///
/// Up to 64 ranks are all shown. A larger run shows only the ring ranks of the first context-parallel group
/// (evenly spaced if more than 64). The first of the ranks that split a ring rank's heads stands for all of
/// them, because they do the same at the same time. If there are more than two micro-batches, only the first
/// and the last are shown.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"

namespace ringmaster {

/// Returns the ranks that a timeline of this plan shows.
std::vector<int> timeline_ranks(const Plan& plan);

/// Returns text that says which ranks are shown: "all 8 ranks", "17 of 1,024 ranks: …".
std::string timeline_selection(const Plan& plan);

/// Writes the trace. Needs the plan's model, mesh, sequence and batch, and the request that made the plan.
void write_timeline(std::ostream& out, const PlanRequest& request, const Plan& plan);

}  // namespace ringmaster
