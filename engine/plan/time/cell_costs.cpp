#include "engine/plan/time/cell_costs.h"

#include <algorithm>

#include "engine/layout/score_blocks.h"
#include "engine/plan/attention_kernels.h"

namespace ringmaster {

namespace {

/// Operations per visible cell and element of a head, counted as in Speeds.
constexpr double kForward = 4, kBackward = 10;

/// Returns the costs of attention in blocks of scores: matrix products at their usual speed, and the passes
/// over memory between them. Blocks at an edge of the mask also compute hidden cells: half a block for each
/// query and edge.
CellCosts costs_in_score_blocks(const Plan& plan, const Speeds& speeds, const AttentionMask& mask,
                                double width) {
    const ModelConfig& m = *plan.model;
    const int64_t P = plan.mesh.ulysses;
    const ScoreBlockShape shape{plan.batch.micro, std::max<int64_t>(1, m.num_heads / P),
                                std::max<int64_t>(1, m.num_kv_heads / P), m.head_dim,
                                plan.config.precision == Precision::Float32 ? 4 : 2};
    const auto length = double(plan.sequence.length);
    const double queries = std::min(length, double(score_blocks(shape.rows * shape.heads).queries));
    const double hidden = queries / (mask.window > 0 ? double(mask.window) : length);
    const double heads = width / double(m.head_dim);
    const auto cell_s = [&](double operations, bool backward) {
        return (1 + hidden) *
               (operations * width / speeds.flops + heads * score_traffic(shape, backward) / speeds.memory);
    };
    return {cell_s(kForward, false), cell_s(kBackward, true)};
}

}  // namespace

CellCosts cell_costs(const Plan& plan, const Speeds& speeds, const AttentionMask& mask, double width) {
    if (attention_family(plan) == AttentionFamily::ScoreBlocks)
        return costs_in_score_blocks(plan, speeds, mask, width);
    return {kForward * width / speeds.attention_forward, kBackward * width / speeds.attention_backward};
}

}  // namespace ringmaster
