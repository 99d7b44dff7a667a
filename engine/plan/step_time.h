/// Time of one optimizer step of the slowest rank: computation, communication, and what of it computation
/// does not hide.
///
/// Letters: s padded length, R ring, P Ulysses ranks, t = s ÷ R tokens of a ring rank, H K D heads, L layers,
/// N parameters that a token meets. Sources: 6·N·s + 6·s²·H·D·L floating-point operations for a causal
/// sequence, forward and backward (Narayanan et al. 2021, appendix; causal half of the attention), 4·N·s
/// where the weights are frozen beside an adapter; bytes of the ring's and the all-to-all's messages as the
/// engine sends them.
#pragma once

#include "engine/plan/layout_figures.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// Speeds that a time is made from: floating-point operations, bytes a second.
struct Speeds {
    double flops = 0;        ///< of one rank, in the precision of computation
    double memory = 0;       ///< of one rank, for the optimizer's update
    double inside_node = 0;  ///< bytes a second that a rank sends to a rank of its node
    double across_nodes = 0;
};

/// Whether this machine's processor multiplies in bfloat16 itself; without, LibTorch is many times slower
/// than in float32.
bool cpu_has_bfloat16();

/// Assumed: see the table in step_time.cpp. `cores` are the node's.
Speeds assumed_speeds(Device device, Precision precision, int cores, int ranks_per_node);

/// Needs the plan's model, mesh, sequence and batch.
StepTime step_time(const Plan& plan, const Speeds& speeds);

/// Floating-point operations of one rank's share of one sequence without recomputation, of the busiest rank.
double sequence_flops(const Plan& plan);

/// What `ring_attn_func: auto` weighs layouts with: from the plan and fixed figures alone, so that all ranks
/// of a run choose the same whatever machine they are on. Needs the plan's model.
LayoutCosts layout_costs(const Plan& plan);

/// Attention work of each context rank, in cells of the mask of one document; what the layout makes of it.
std::vector<int64_t> work_of_ranks(const Plan& plan);

}  // namespace ringmaster
