/// Compares numbers that must be the same on several ranks, in one small all-reduce.
#pragma once

#include <vector>

#include "engine/comm/groups.h"
#include "engine/model/parameters.h"

namespace ringmaster {

/// Holds the minimum and the maximum over ranks; values that are not finite all count as the same huge
/// number.
struct RankRange {
    double least = 0, most = 0;
    bool same() const { return least == most; }
};

/// Returns the range of each of `values` over `group`, which belongs to `groups`.
std::vector<RankRange> range_of_ranks(const Groups& groups, Group& group, const std::vector<double>& values);

double largest_of_ranks(Groups& groups, double value);

/// Throws ProgramFault with the units ("layer 3") in which ranks that should hold the same weights hold
/// different bits: all ranks, or at stage 3 the ranks of other replicas with the same slices. Compares a
/// checksum of every unit, the sum of its bits as integers, which does not depend on the order.
void check_same_weights(Groups& groups, Parameters& parameters);

}  // namespace ringmaster
