/// What the parts of one optimizer step take where nothing waits for anything: seconds of computation and of
/// each link, of every ring rank and hop. What waits for what is engine/plan/simulate.h's to say.
///
/// Letters: R ring, P Ulysses ranks, H K D heads, C hidden, I intermediate, L layers. Operations of a product
/// are 2 a weight and token forward, 4 backward; of attention as Speeds counts them. Bytes are those of the
/// engine's messages (engine/attention/scheduled_attention.cpp, engine/train/gradient_reduction.cpp).
#pragma once

#include <vector>

#include "engine/plan/attention_mask.h"
#include "engine/plan/speeds.h"

namespace ringmaster {

/// Beyond so many ring ranks, some evenly spaced ones stand for all, and neighbouring hops are one.
constexpr int kMostColumns = 64, kColumnsOfMore = 32;
int columns_of(int ring);

/// Attention of one hop, all the keys that come in it together.
struct HopCosts {
    int first = 0, last = 0;  ///< distances round the ring
    double forward_s = 0, backward_s = 0;
    double keys_s = 0;       ///< the link, until keys and values are here
    double gradients_s = 0;  ///< the link, until their gradients are home
};

/// One ring rank; those that split its heads, and its like in other data-parallel groups, do the same at the
/// same times. One layer, one micro-batch.
struct ColumnCosts {
    int ring_rank = 0;
    double projections_s = 0;   ///< forward: q, k and v
    double output_s = 0;        ///< forward: attention's output projection
    double mlp_s = 0;           ///< forward
    double mlp_again_s = 0;     ///< of it computed again under checkpointing
    double head_s = 0;          ///< forward and backward of the whole head, once a micro-batch
    double exchange_in_s = 0;   ///< all-to-all before attention: q, k and v; backward: its output's gradient
    double exchange_out_s = 0;  ///< behind it: its output
    double exchange_back_in_s = 0, exchange_back_out_s = 0;
    std::vector<HopCosts> hops;  ///< the own keys first; gathered: one for each group of heads
};

/// Of a unit of the states: the embedding, one layer, or final norm and head.
struct UnitCosts {
    double gather_s = 0;    ///< its weights, where they are sharded
    double reduce_s = 0;    ///< all-reduce or reduce-scatter of its gradients
    double replicas_s = 0;  ///< all-reduce of the slices behind it
};

struct StepCosts {
    std::vector<ColumnCosts> columns;
    int ring = 1;
    bool gathers_keys = false;  ///< by groups of heads; else round the ring
    bool splits_own = false;    ///< half of the own heads come last in the backward
    bool shares_link = false;   ///< states travel on the link that keys do
    int64_t layers = 0, micro_batches = 1;
    double backward_products = 2;  ///< of a forward's: to inputs and weights; frozen ones: to inputs
    bool checkpointing = false;
    bool tiles_mlp = false;        ///< its backward computes gate and up again, tile by tile
    bool keeps_attention = false;  ///< its output is not computed again
    int stage = 0;                 ///< ZeRO's; 0 where nobody shares
    UnitCosts embedding, layer, head;
    double checkpoint_copy_s = 0;  ///< of one layer's, to host memory or back; 0: it stays
    double new_weights_s = 0;      ///< gathered behind the update (stages 1 and 2)
    double update_s = 0;           ///< with the copies of moments that lie in host memory
};

/// What a plan's rows are like: one document, for which ones packed rows will hold is not known before they
/// are packed; the model's window.
AttentionMask mask_of(const Plan& plan);

/// Needs the plan's model, mesh, sequence and batch.
StepCosts step_costs(const Plan& plan, const Speeds& speeds, const AttentionMask& mask);
inline StepCosts step_costs(const Plan& plan, const Speeds& speeds) {
    return step_costs(plan, speeds, mask_of(plan));
}

/// Visible cells between queries and keys, and the keys that some query sees (of a document, from the first
/// to the last). Spans of one step.
double cells_between(const Spans& queries, const Spans& keys, const AttentionMask& mask);
double keys_between(const Spans& queries, const Spans& keys, const AttentionMask& mask);

}  // namespace ringmaster
