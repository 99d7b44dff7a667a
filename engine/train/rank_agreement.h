/// Numbers that must be the same on several ranks, compared in one small all-reduce.
#pragma once

#include <vector>

#include "engine/comm/groups.h"
#include "engine/model/parameters.h"

namespace ringmaster {

/// The least and the most of a number over ranks; what is not finite counts as the same huge number.
struct Extent {
    double least = 0, most = 0;
    bool same() const { return least == most; }
};

/// Of each of `values`, over `group`, which is one of `groups`'.
std::vector<Extent> extent_of_ranks(const Groups& groups, Group& group, const std::vector<double>& values);

double largest_of_ranks(Groups& groups, double value);

/// Throws ProgramFault naming the units ("layer 3") of which ranks that should hold the same weights hold
/// other bits: all ranks, or at stage 3 the ranks of other replicas that hold the same slices. Compares a
/// checksum of every unit, the sum of its elements' bits as integers, which no order of adding changes.
void check_same_weights(Groups& groups, Parameters& parameters);

}  // namespace ringmaster
