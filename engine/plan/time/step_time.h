/// Predicts the time of one optimizer step on the slowest rank: computation, communication, and the part of
/// it that computation does not hide. engine/plan/time/simulate.h does the simulation.
///
/// Letters: s padded length, H D heads, L layers, N parameters that a token uses. A causal sequence
/// takes 6·N·s + 6·s²·H·D·L floating-point operations, forward and backward (Narayanan et al. 2021,
/// appendix; causal half of the attention); 4·N·s replaces 6·N·s if an adapter is trained on frozen
/// weights.
#pragma once

#include "engine/layout/layout_figures.h"
#include "engine/plan/plan.h"
#include "engine/plan/speeds.h"

namespace ringmaster {

/// Returns the time. Needs the plan's model, mesh, sequence and batch.
StepTime step_time(const Plan& plan, const Speeds& speeds);

/// Returns the parameters that multiply a token, without the embedding's look-up and unused experts.
double active_parameters(const ModelConfig& model);

/// Returns the costs by which `ring_attn_func: auto` compares layouts. They come from the plan and fixed
/// figures alone, so that all ranks of a run choose the same layout on any machine. Needs the plan's model.
LayoutCosts layout_costs(const Plan& plan);

/// Returns each context rank's attention work under the plan's layout, in mask cells of one document.
std::vector<int64_t> work_of_ranks(const Plan& plan);

}  // namespace ringmaster
