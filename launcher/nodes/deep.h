/// Trying machines out before a run is trusted to them (tier 2): the engine brought there, its self-test, the
/// interface that leads to rank 0's node, and what goes between the ranks of each pair of them.
#pragma once

#include <vector>

#include "launcher/nodes/fleet.h"
#include "launcher/places.h"
#include "launcher/progress.h"

namespace ringmaster {

/// As check_nodes; those that can train are tried out, the first of them as the node of rank 0. Pairs are
/// measured in rounds in which no machine is in two. Nothing goes on there after it: what runs on a node ends
/// with its connection; the programs stay for the next time. Throws Cancelled, and nothing for what a machine
/// does.
std::vector<NodeReport> try_nodes(const std::vector<SshTarget>& targets, const SshPerson& person,
                                  const ProgramNeeds& needs, const Remedy& remedy, const Places& places,
                                  const Progress& progress);

/// Rounds of a tournament: every pair of `count` once, nobody twice in a round.
std::vector<std::vector<std::pair<size_t, size_t>>> rounds_of_pairs(size_t count);

}  // namespace ringmaster
