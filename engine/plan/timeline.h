/// A simulated step as a Chrome trace (the JSON that chrome://tracing, Perfetto and others open): a process
/// for each node, three rows for each rank: what it computes, what its link carries of keys and values, what
/// of the states. Times are microseconds from the step's start.
///
/// Every rank up to 64. Beyond, the ring ranks of the first context-parallel group, of more than 64 some
/// evenly spaced; of each the first that splits its heads: all others do the same at the same times as one of
/// its ring rank. Of more than two micro-batches the first and the last.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "engine/plan/plan.h"

namespace ringmaster {

/// The ranks that a timeline of this plan shows.
std::vector<int> timeline_ranks(const Plan& plan);

/// What of the plan is shown: "all 8 ranks", "17 of 1,024 ranks: …".
std::string timeline_selection(const Plan& plan);

/// Needs the plan's model, mesh, sequence and batch. `request` is what the plan was made with.
void write_timeline(std::ostream& out, const PlanRequest& request, const Plan& plan);

}  // namespace ringmaster
