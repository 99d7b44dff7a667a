/// Computes how long the parts of one optimizer step take if nothing waits: seconds of computation and of
/// each link, for every ring rank and hop. engine/plan/time/simulate.h adds the waiting.
///
/// Letters: R ring, P Ulysses ranks, H K D heads, C hidden, I intermediate, L layers. A product takes 2
/// operations per weight and token forward, 4 backward; attention is counted as in Speeds. Bytes are those of
/// engine messages (engine/attention/scheduled_attention.cpp, engine/train/gradient_reduction.cpp).
#pragma once

#include <vector>

#include "engine/layout/attention_mask.h"
#include "engine/plan/speeds.h"

namespace ringmaster {

/// In longer rings, evenly spaced ranks (columns) stand for all, and neighbouring hops are merged.
constexpr int kMostColumns = 64, kColumnsOfMore = 32;
int columns_of(int ring);

/// Returns the width of a layer's queries: the mean over layers whose heads differ in size.
double query_width(const ModelConfig& model);
/// Returns the total width of the keys that a Ulysses group holds, with at least one key head per rank; also
/// a mean over layers.
double key_width(const ModelConfig& model, double ulysses);

/// Attention of one hop, over all keys that arrive in the hop.
struct HopCosts {
    int first = 0, last = 0;  ///< first and last distance around the ring that the hop covers
    double forward_s = 0, backward_s = 0;
    double keys_s = 0;       ///< seconds on the link for keys and values
    double gradients_s = 0;  ///< seconds on the link for the gradients of keys and values
    double queries = 0;      ///< queries that see keys of other ranks
};

/// Costs of one ring rank for one layer and one micro-batch. The Ulysses ranks that split its heads, and
/// their counterparts in other data-parallel groups, do the same at the same time.
struct ColumnCosts {
    int ring_rank = 0;
    double projections_s = 0;  ///< forward: q, k and v
    double recalled_s = 0;     ///< recomputed q, k and v of chunks that later chunks read
    double output_s = 0;       ///< forward: attention's output projection
    double mlp_s = 0;          ///< forward: the MLP
    double mlp_again_s = 0;    ///< recomputed part of the MLP under checkpointing
    // The following are added to a forward pass whose products take quantised inputs; they may be negative.
    double int8_projections_s = 0, int8_rest_s = 0;
    double int8_tiles_s = 0;    ///< forward pass only: time to find the outliers of tiles
    double head_s = 0;          ///< forward and backward of the whole head, once per micro-batch
    double exchange_in_s = 0;   ///< all-to-all before attention, of q, k and v
    double exchange_out_s = 0;  ///< all-to-all of attention's output
    /// All-to-alls in the backward pass: first of the output's gradient, then of the gradients of q, k and v.
    double exchange_back_in_s = 0, exchange_back_out_s = 0;
    // All-to-alls of tokens and their experts, if experts are divided among ranks: in a forward pass, in the
    // backward's recomputation, and in the backward pass.
    double experts_forward_s = 0, experts_again_s = 0, experts_back_s = 0;
    /// The rank's own keys come first; if keys are gathered, one hop per group of heads.
    std::vector<HopCosts> hops;
};

/// Costs of a unit of the states: the embedding, a layer, or final norm and head.
struct UnitCosts {
    double gather_s = 0;    ///< all-gather of the unit's weights, if they are sharded
    double reduce_s = 0;    ///< all-reduce or reduce-scatter of the unit's gradients
    double replicas_s = 0;  ///< all-reduce of the slices over replicas, after the reduction
    double fetch_s = 0;     ///< copy of the unit's weights from host memory, before the gather
    double leave_s = 0;     ///< copy of the unit's gradients to host memory, after the reduction
};

struct StepCosts {
    std::vector<ColumnCosts> columns;
    int ring = 1;
    /// True: keys are gathered by groups of heads; false: keys pass round the ring.
    bool gathers_keys = false;
    bool splits_own = false;   ///< the backward pass computes half of this rank's heads last
    bool shares_link = false;  ///< states and keys use the same link
    int64_t layers = 0, micro_batches = 1;
    int64_t forwards_alone = 0;    ///< forward passes of each micro-batch that no backward pass follows
    double backward_products = 2;  ///< backward time ÷ forward time of products: 2 for inputs and weights,
                                   ///< less if weights are frozen
    bool checkpointing = false;
    bool tiles_mlp = false;        ///< true: the backward pass computes gate and up again, tile by tile
    bool keeps_attention = false;  ///< true: the backward pass does not compute attention's output again
    int stage = 0;                 ///< ZeRO stage; 0 if states are not sharded
    UnitCosts embedding, layer, head;
    double checkpoint_copy_s = 0;  ///< seconds to copy a layer's checkpoint to or from the host; 0: none
    /// Seconds to copy a layer's chunks between device and host memory, without its checkpoint.
    double chunks_forward_s = 0, chunks_backward_s = 0;
    double new_weights_s = 0;  ///< gather of the new weights after the update (stages 1 and 2)
    /// Seconds of the update, including its copies from and to host memory; on a CPU, including all copies.
    double update_s = 0;
};

/// Returns the mask of a plan's rows: the model's window over one document, because the documents of packed
/// rows are unknown before packing.
AttentionMask mask_of(const Plan& plan);

/// Returns the costs. Needs the plan's model, mesh, sequence and batch.
StepCosts step_costs(const Plan& plan, const Speeds& speeds, const AttentionMask& mask);
inline StepCosts step_costs(const Plan& plan, const Speeds& speeds) {
    return step_costs(plan, speeds, mask_of(plan));
}

}  // namespace ringmaster
