/// Computes how long attention's kernels take for each visible cell between a query and a key.
#pragma once

#include "engine/layout/attention_mask.h"
#include "engine/plan/speeds.h"

namespace ringmaster {

struct CellCosts {
    double forward_s = 0, backward_s = 0;
};

/// Returns the seconds per visible cell in one layer, for all heads of a rank together. `width` counts the
/// elements of the queries of one token, over all rows of the micro-batch. Needs the plan's model, mesh,
/// sequence and batch.
CellCosts cell_costs(const Plan& plan, const Speeds& speeds, const AttentionMask& mask, double width);

}  // namespace ringmaster
