/// Cuts a layout into stretches, the runs of consecutive positions that a rank holds of one document. A layer
/// that passes a state from token to token (engine/recurrence) computes stretches one by one, and gets the
/// state at a stretch's beginning from the stretch before it.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/layout/layout.h"

namespace ringmaster {

struct Stretch {
    int rank = 0;                    ///< context rank that holds the stretch
    int64_t first = 0;               ///< index of the stretch's first token among the rank's tokens
    int64_t begin = 0, end = 0;      ///< positions
    bool has_before = false;         ///< the document begins in an earlier stretch
    bool has_after = false;          ///< the document continues in a later stretch
    int64_t sent = 0, received = 0;  ///< indices among the rank's stretches with has_after or has_before

    int64_t size() const { return end - begin; }
};

struct Stretches {
    int ranks = 1;
    std::vector<Stretch> all;  ///< ordered by position
    /// The most stretches with has_after, and the most with has_before, that one rank holds.
    int64_t most_sent = 0, most_received = 0;
};

/// Returns the stretches of all ranks; padding is in none. Throws Error(Refused) if the layout leaves gaps
/// between a rank's positions, as batch_stripe does.
Stretches stretches_of(const Layout& layout, const AttentionMask& mask);

}  // namespace ringmaster
