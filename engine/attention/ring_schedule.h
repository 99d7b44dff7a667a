/// What each rank of a ring does at each hop, from integers alone: all ranks derive the same.
///
/// At hop h rank r holds the keys and values of rank r − h; they go on to r + 1 while a rank further along
/// reads them. Source: Liu et al. 2023, "Ring Attention with Blockwise Transformers", section 3.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/plan/slices.h"

namespace ringmaster {

struct RingHop {
    int source = 0;              ///< ring rank that the keys and values are of
    int64_t keys = 0;            ///< how many
    std::vector<Slice> slices;   ///< of this rank's queries against them
    bool sends_on = false;       ///< keys and values go to the next rank while this hop computes
    bool receives_next = false;  ///< those of the next hop come meanwhile
};

/// `spans` are the positions of each ring rank. One hop for each rank.
std::vector<RingHop> make_ring_schedule(const std::vector<Spans>& spans, int rank);

}  // namespace ringmaster
