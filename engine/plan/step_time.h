/// Time of one optimizer step of the slowest rank: computation, communication, and what of it computation
/// does not hide. It is played through by engine/plan/simulate.h.
///
/// Letters: s padded length, H D heads, L layers, N parameters that a token meets. 6·N·s + 6·s²·H·D·L
/// floating-point operations for a causal sequence, forward and backward (Narayanan et al. 2021, appendix;
/// causal half of the attention), 4·N·s where weights are frozen beside an
/// adapter.
#pragma once

#include "engine/plan/layout_figures.h"
#include "engine/plan/plan.h"
#include "engine/plan/speeds.h"

namespace ringmaster {

/// Needs the plan's model, mesh, sequence and batch.
StepTime step_time(const Plan& plan, const Speeds& speeds);

/// Parameters that a token meets in a product: without the embedding's look-up and idle experts.
double active_parameters(const ModelConfig& model);

/// Floating-point operations of one rank's share of one sequence without recomputation, of the busiest rank.
double sequence_flops(const Plan& plan);

/// What `ring_attn_func: auto` weighs layouts with: from the plan and fixed figures alone, so that all ranks
/// of a run choose the same whatever machine they are on. Needs the plan's model.
LayoutCosts layout_costs(const Plan& plan);

/// Attention work of each context rank, in cells of the mask of one document; what the layout makes of it.
std::vector<int64_t> work_of_ranks(const Plan& plan);

}  // namespace ringmaster
