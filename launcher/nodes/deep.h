/// Tests machines before a run uses them (tier 2): copies the engine there, runs its self-test, finds the
/// network interface to rank 0's node, and measures the link between each pair of machines.
#pragma once

#include <vector>

#include "launcher/base/places.h"
#include "launcher/base/progress.h"
#include "launcher/nodes/fleet.h"

namespace ringmaster {

/// Checks the machines like check_nodes, then tests those that can train; the first of these acts as rank 0's
/// node. Pairs are measured in rounds in which no machine is in two pairs. A program started on a node ends
/// with the connection; its files stay for the next time. Throws Cancelled; failures of a node go into its
/// report.
std::vector<NodeReport> try_nodes(const std::vector<SshTarget>& targets, const SshPerson& person,
                                  const ProgramNeeds& needs, const Remedy& remedy, const Places& places,
                                  const Progress& progress);

/// Returns the pairs of `count` machines in rounds: each pair once, no machine twice in a round (circle
/// method).
std::vector<std::vector<std::pair<size_t, size_t>>> rounds_of_pairs(size_t count);

}  // namespace ringmaster
