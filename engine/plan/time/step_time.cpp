#include "engine/plan/time/step_time.h"

#include <algorithm>

#include "engine/layout/layout.h"
#include "engine/plan/time/recurrence_costs.h"
#include "engine/plan/time/simulate.h"
#include "engine/plan/time/step_costs.h"

namespace ringmaster {

namespace {

/// Returns the operations of one token's forward pass in all recurrent layers.
double rule_flops(const ModelConfig& m) {
    const auto layers = double(recurring_layers_of(m));
    return layers > 0 ? layers * recurrence_flops(m) : 0;
}

/// Returns the operations per parameter and token: 6 for the forward pass and the backward pass to inputs and
/// weights, or 4 if frozen weights have no gradients.
double flops_of_a_parameter(const Plan& plan) {
    return plan.config.lora.on() ? 4 : 6;
}

std::vector<RankFigures> figures_of(const Plan& plan) {
    const AttentionMask mask = mask_of(plan);
    const Layout layout = make_layout(plan.context_parallel.layout, plan.sequence.padded_length,
                                      plan.mesh.ring, plan.mesh.ulysses, mask, plan.sequence.chunks);
    return layout_figures(layout, plan.mesh.ulysses, mask);
}

}  // namespace

double active_parameters(const ModelConfig& m) {
    // An embedding's lookup takes no product, but a head that shares the embedding's weights does.
    double count = double(parameter_count(m));
    if (!m.tie_word_embeddings) count -= double(m.vocab_size) * double(m.hidden_size);
    count -= double(m.layer_inputs_vocabulary) * double(m.layer_inputs_width);
    const double idle_experts = double(m.num_experts - m.experts_per_token);
    return count - double(m.sparse_layers()) * idle_experts * double(m.gate.columns() + 1) *
                       double(m.expert_outer_size()) * double(m.expert_intermediate_size);
}

LayoutCosts layout_costs(const Plan& plan) {
    const ModelConfig& m = *plan.model;
    const bool cpu = plan.device == Device::Cpu;
    const Speeds speeds = assumed_speeds(plan.device, cpu ? Precision::Float32 : Precision::Bf16Mixed, 1, 1);
    const double flops = speeds.flops, link = plan.nodes > 1 ? speeds.across_nodes : speeds.inside_node;
    const double P = plan.mesh.ulysses, layers = double(attending_layers_of(m));
    // Forward plus backward, for the tokens of a ring rank divided among its P Ulysses ranks.
    LayoutCosts costs;
    costs.token_s = (flops_of_a_parameter(plan) * active_parameters(m) + 3 * rule_flops(m)) / flops / P;
    costs.cell_s = 12 * query_width(m) * layers / flops / P;
    costs.key_s = 2 * key_width(m, P) / P * layers * (2 * (cpu ? 4 : 2) + 4) / link;
    return costs;
}

std::vector<int64_t> work_of_ranks(const Plan& plan) {
    std::vector<int64_t> work;
    for (const RankFigures& rank : figures_of(plan))
        work.insert(work.end(), static_cast<size_t>(plan.mesh.ulysses), rank.cells / plan.mesh.ulysses);
    return work;
}

StepTime step_time(const Plan& plan, const Speeds& speeds) {
    return simulate_step(step_costs(plan, speeds)).time;
}

}  // namespace ringmaster
