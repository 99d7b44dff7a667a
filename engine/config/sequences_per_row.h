/// Returns the number of sequences that are computed for a row of the data: two for a pair, unless packed
/// rows hold pairs as documents.
#pragma once

#include "engine/config/config.h"

namespace ringmaster {

inline int64_t sequences_per_row(const Config& config) {
    return config.preference.has_pairs() && !config.sample_packing ? 2 : 1;
}

}  // namespace ringmaster
