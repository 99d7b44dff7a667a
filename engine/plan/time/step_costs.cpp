#include "engine/plan/time/step_costs.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "engine/config/offloading.h"
#include "engine/config/optimizer_arguments.h"
#include "engine/config/optimizers.h"
#include "engine/config/policy.h"
#include "engine/config/sequences_per_row.h"
#include "engine/families/layer_groups.h"
#include "engine/families/lora_sizes.h"
#include "engine/families/quantized_shapes.h"
#include "engine/layout/layout.h"
#include "engine/layout/pair_counts.h"
#include "engine/layout/windows.h"
#include "engine/plan/attention_kernels.h"
#include "engine/plan/expert_parallel.h"
#include "engine/plan/memory/sent_latents.h"
#include "engine/plan/time/cell_costs.h"
#include "engine/plan/time/host_copies.h"
#include "engine/plan/time/join_costs.h"
#include "engine/plan/time/recurrence_costs.h"
#include "engine/plan/time/step_time.h"

namespace ringmaster {

double query_width(const ModelConfig& m) {
    return mean_of_attention(m, [](const ModelConfig& one) { return double(one.num_heads * one.head_dim); });
}

double key_width(const ModelConfig& m, double ulysses) {
    return mean_of_attention(m, [&](const ModelConfig& one) {
        return std::max(double(one.num_kv_heads), ulysses) * double(one.head_dim);
    });
}

namespace {

/// The number of hops sampled for each Hop. Costs change evenly between the samples.
constexpr int kLookedAt = 2;

// ---------------------------------------------------------------------------------------- ranks and links

/// The links between a plan's ranks.
struct Links {
    int ring_ranks_of_node = 0;  ///< ring ranks on one node; 0: keys always leave the node
    bool all_inside = true, heads_inside = true;
    double inside, across, states;

    Links(const Plan& plan, const Speeds& speeds)
        : inside(speeds.inside_node),
          across(speeds.across_nodes),
          states(plan.nodes > 1 ? speeds.across_nodes : speeds.inside_node) {
        const int of_node = plan.ranks / plan.nodes, ulysses = plan.mesh.ulysses;
        all_inside = of_node % plan.context_parallel.size == 0;
        heads_inside = of_node % ulysses == 0;
        if (heads_inside) ring_ranks_of_node = of_node / ulysses;
    }

    double between(int one, int other) const {
        const bool inside_node =
            all_inside || (ring_ranks_of_node > 0 && one / ring_ranks_of_node == other / ring_ranks_of_node);
        return inside_node ? inside : across;
    }
};

/// The work of one ring rank in the consecutive hops first to last, summed.
struct Hop {
    int first = 0, last = 0;
    double cells = 0, queries = 0, keys = 0, keys_over_rate = 0;
    double parts = 0;  ///< results of kernels; all but the result for the rank's own keys need a message

    bool is_own() const { return last == 0; }
    double messages() const { return is_own() ? 0 : parts; }
};

class Ring {
  public:
    Ring(const Plan& plan, const Links& links, const AttentionMask& mask)
        : links_(links), size_(plan.mesh.ring), mask_(mask) {
        const Layout layout = make_layout(plan.context_parallel.layout, plan.sequence.padded_length, size_,
                                          plan.mesh.ulysses, mask, plan.sequence.chunks);
        for (int rank = 0; rank < size_; ++rank) {
            spans_.push_back(ring_spans(layout, rank, plan.mesh.ulysses));
            std::vector<Spans>& chunks = chunks_.emplace_back();
            for (size_t chunk = 0; chunk < layout.chunks(); ++chunk)
                chunks.push_back(chunk_spans(layout, chunk, rank, plan.mesh.ulysses));
        }
    }

    int columns() const { return columns_of(size_); }
    int ring_rank(int column) const {
        return columns() == size_ ? column : int(int64_t{column} * (size_ - 1) / (columns() - 1));
    }
    double tokens(int rank) const { return double(count_tokens(spans_[static_cast<size_t>(rank)])); }

    /// Returns as many hops as there are columns. The first hop covers the rank's own keys.
    std::vector<Hop> hops(int rank) const {
        const int count = columns();
        std::vector<Hop> hops(static_cast<size_t>(count));
        double seen = 0;
        for (int bunch = 0; bunch < count; ++bunch) {
            Hop& hop = hops[static_cast<size_t>(bunch)];
            hop.first = bunch == 0 ? 0 : 1 + int(int64_t{bunch - 1} * (size_ - 1) / (count - 1));
            hop.last = bunch == 0 ? 0 : int(int64_t{bunch} * (size_ - 1) / (count - 1));
            look_at(rank, hop);
            seen += hop.cells;
        }
        // The sampled hops stand for the rest: scale them to the rank's exact work.
        const double all = double(visible_cells(spans_[static_cast<size_t>(rank)], mask_));
        for (Hop& hop : hops) hop.cells *= seen > 0 ? all / seen : 0;
        return hops;
    }

  private:
    void look_at(int rank, Hop& hop) const {
        const int hops = hop.last - hop.first + 1, looked_at = std::min(hops, kLookedAt);
        const double stands_for = double(hops) / double(looked_at);
        for (int i = 0; i < looked_at; ++i) {
            const int distance = hop.first + int(int64_t{2 * i + 1} * hops / (2 * looked_at));
            const int source = (rank - distance + size_) % size_;
            const Spans& own = spans_[static_cast<size_t>(rank)];
            const Spans& other = spans_[static_cast<size_t>(source)];
            hop.cells += stands_for * cells_between(own, other, mask_);
            double keys = 0, passes = 0;
            for (const Spans& queries : chunks_[static_cast<size_t>(rank)]) {
                const double read = keys_between(queries, other, mask_);  // sent again for every chunk
                keys += stands_for * read;
                passes += read > 0;
            }
            if (keys == 0) continue;
            hop.keys += keys;
            hop.parts += stands_for * passes;
            hop.queries += stands_for * queries_between(own, other, mask_.window);
            if (source != rank) hop.keys_over_rate += keys / links_.between(rank, source);
        }
    }

    const Links& links_;
    int size_;
    const AttentionMask& mask_;
    std::vector<Spans> spans_;
    std::vector<std::vector<Spans>> chunks_;  ///< each rank's chunks
};

// ------------------------------------------------------------------------------------------ computation

/// Returns the share of layers with attention; the others have a recurrence. Every layer of the step gets the
/// average cost of both kinds.
double attending_share(const ModelConfig& m) {
    return double(attending_layers_of(m)) / double(std::max<int64_t>(1, m.num_layers));
}

double recurring_share(const ModelConfig& m) {
    return double(recurring_layers_of(m)) / double(std::max<int64_t>(1, m.num_layers));
}

/// Returns the elements of the matrices that make queries, keys and values through latents.
double latent_projections(const ModelConfig& m) {
    const LatentSizes& sizes = m.latent;
    const auto hidden = double(m.hidden_size), heads = double(m.num_heads), rank = double(sizes.query_rank);
    const double queries = heads * double(sizes.key_width());
    return (rank > 0 ? rank * (hidden + queries) : hidden * queries) +
           hidden * double(sizes.rank + sizes.rotary_width) +
           double(sizes.rank) * heads * double(sizes.plain_width + sizes.value_width);
}

double outputs_width(const ModelConfig& m) {
    return mean_of_attention(
        m, [](const ModelConfig& one) { return double(one.num_heads * one.value_width()); });
}

/// The weights that a token uses in a layer.
struct LayerWeights {
    double projections, output, mlp, head;

    explicit LayerWeights(const ModelConfig& m) {
        const auto hidden = double(m.hidden_size);
        const double of_queries = (m.gates_attention ? 2 : 1) * double(m.num_heads);
        const auto width = [&](const ModelConfig& one) {
            const int64_t matrices = one.borrows_keys ? 0 : one.values_are_keys ? 1 : 2;
            const double keys_values = double(matrices * one.num_kv_heads);
            return (of_queries + keys_values) * double(one.head_dim);
        };
        const double attends = attending_share(m), recurs = recurring_share(m);
        const double of_heads = m.latent.on() ? latent_projections(m) : hidden * mean_of_attention(m, width);
        projections = attends * of_heads + recurs * hidden * double(m.delta.projected());
        output = hidden * (attends * outputs_width(m) + recurs * double(m.delta.values()));
        head = hidden * double(m.head_rows());
        mlp = (active_parameters(m) - head) / double(m.num_layers) - projections - output;
    }
};

/// Returns the seconds per element to dequantize a weight matrix. Each product dequantizes its matrix again.
double making_s(const Plan& plan, const Speeds& speeds) {
    if (!plan.config.quantization.on()) return 0;
    const double read = plan.config.quantization.is_4bit() ? 0.5 : 1;
    const double written = plan.config.precision == Precision::Float32 ? 4 : 2;
    return (read + written) / speeds.memory;
}

/// Returns whether forward products take quantised inputs: bitsandbytes does so on a GPU.
bool quantizes_inputs(const Plan& plan) {
    return plan.device == Device::Cuda && plan.config.quantization.format == WeightFormat::Int8;
}

/// Returns how much longer a forward product of `tokens` rows takes if its inputs are quantised. A GPU
/// multiplies 8-bit integers twice as fast as 16-bit numbers (NVIDIA's data sheets) and dequantises nothing.
/// However, it passes over inputs and sums several times (engine/model/int8_product.cpp), and the ranks of a
/// sequence must agree on the columns with outliers.
double int8_product_s(const Plan& plan, const Speeds& speeds, double tokens, double inputs, double outputs) {
    constexpr double kInputBytes = 70, kSumBytes = 46;  // read and written per element
    if (!quantizes_inputs(plan)) return 0;
    const double saved_s = inputs * outputs * (tokens / speeds.flops + making_s(plan, speeds));
    const double groups = (plan.mesh.ring > 1 ? 1 : 0) + (plan.mesh.ulysses > 1 ? 1 : 0);
    return tokens * (kInputBytes * inputs + kSumBytes * outputs) / speeds.memory + groups * speeds.latency_s -
           saved_s;
}

void add_int8_products(const Plan& plan, const Speeds& speeds, double tokens, ColumnCosts& column) {
    const ModelConfig& m = *plan.model;
    const auto C = double(m.hidden_size), I = double(m.intermediate_size);
    const auto product_s = [&](double inputs, double outputs) {
        return int8_product_s(plan, speeds, tokens, inputs, outputs);
    };
    column.int8_projections_s = product_s(C, query_width(m) + 2 * key_width(m, 1));
    const double gate_up_s = product_s(C, m.gate.columns() * I);
    column.int8_rest_s = product_s(query_width(m), C) + gate_up_s + product_s(I, C);
    if (quantizes_inputs(plan) && plan.config.tiled_mlp) column.int8_tiles_s = column.mlp_again_s + gate_up_s;
}

double backward_products(const Plan& plan) {
    return plan.config.lora.on() ? 1 : 2;
}

/// Returns how many whole sequences a micro-batch computes; a prompt shared by several answers counts once.
double sequences_at_once(const Plan& plan) {
    return double(plan.batch.micro * sequences_per_row(plan.config)) * plan.sharing.tokens.value_or(1);
}

/// Returns the mask cells per computed token, relative to the same rows without shared prompts.
double cells_of_token(const Plan& plan) {
    return plan.sharing.cells.value_or(1) / plan.sharing.tokens.value_or(1);
}

/// Returns the number of a micro-batch's forward passes that no backward pass follows. One computes the loss
/// of preferences or rollouts first; KTO needs one more, over mismatched rows.
int64_t forwards_alone(const Config& config) {
    if (!weighs_documents(config)) return 0;
    return config.preference.method == PreferenceMethod::Kto ? 2 : 1;
}

/// Converts one ring rank's mask cells and keys to seconds of attention.
struct AttentionCosts {
    double forward_cell_s, backward_cell_s;
    double key_bytes, gradient_bytes, latency_s, memory;
    double forward_key_s = 0, backward_key_s = 0;  ///< time to compute a key of another rank from its latent
    bool joins = false;                            ///< true: separate passes over memory join the parts
    bool splits_own = false;                       ///< see StepCosts::splits_own
    JoinCosts::Sizes sizes;
    double groups = 1;  ///< number of head groups in which keys are gathered
};

bool gathers_keys(const Plan& plan) {
    return plan.context_parallel.layout == RingAttnFunc::VarlenLlama3 && plan.mesh.ring > 1;
}

bool splits_own(const Plan& plan) {
    return !gathers_keys(plan) && plan.mesh.ring > 1 &&
           std::max<int64_t>(plan.model->num_kv_heads, plan.mesh.ulysses) > plan.mesh.ulysses;
}

/// Returns whether one call of a GPU's kernels computes the gradients of each hop's keys, so that they return
/// in the inputs' dtype (Stage::one_call). A window may take several calls, and so may a gather.
bool returns_unsummed(const Plan& plan, const AttentionMask& mask) {
    return plan.device == Device::Cuda && plan.config.precision != Precision::Float32 && mask.window == 0 &&
           !gathers_keys(plan) && !keeps_sums(attention_family(plan));
}

/// Replaces the costs of keys and values by those of latents, if ranks send latents in their place. Each hop
/// multiplies the latents by a matrix once in the forward pass, and three times in the backward pass.
void send_latents(const Plan& plan, const Speeds& speeds, AttentionCosts& costs) {
    const ModelConfig& m = *plan.model;
    const double width = double(sent_latent_width(plan));
    if (width == 0) return;
    const double rows = sequences_at_once(plan), e = plan.config.precision == Precision::Float32 ? 4 : 2;
    const double share = attending_share(m);
    const double product = 2 * rows * double(m.latent.rank * m.num_heads) *
                           double(m.latent.plain_width + m.latent.value_width) / speeds.flops;
    costs.key_bytes = share * rows * width * e;
    costs.gradient_bytes = share * rows * width * 4;
    costs.forward_key_s = share * product;
    costs.backward_key_s = share * 3 * product;
}

AttentionCosts attention_costs(const Plan& plan, const Speeds& speeds, const AttentionMask& mask,
                               double ring_tokens) {
    const ModelConfig& m = *plan.model;
    const double P = plan.mesh.ulysses, rows = sequences_at_once(plan);
    const double e = plan.config.precision == Precision::Float32 ? 4 : 2;
    const double width = rows * query_width(m) / P, of_keys = rows * key_width(m, P) / P;
    const double kv_heads = std::max(double(m.num_kv_heads), P) / P;
    AttentionCosts costs;
    const CellCosts of_cell = cell_costs(plan, speeds, mask, width);
    costs.forward_cell_s = of_cell.forward_s * cells_of_token(plan);
    costs.backward_cell_s = of_cell.backward_s * cells_of_token(plan);
    costs.key_bytes = 2 * of_keys * e;
    const bool unsummed = returns_unsummed(plan, mask);
    costs.gradient_bytes = 2 * of_keys * (unsummed ? e : 4);
    costs.latency_s = speeds.latency_s;
    const double attends = attending_share(m);
    for (double* cost : {&costs.forward_cell_s, &costs.backward_cell_s, &costs.key_bytes,
                         &costs.gradient_bytes, &costs.latency_s})
        *cost *= attends;
    costs.memory = speeds.memory / attends;
    costs.joins = plan.device == Device::Cuda && plan.mesh.ring > 1;
    costs.splits_own = splits_own(plan);
    costs.sizes = {ring_tokens, width, of_keys, static_cast<int64_t>(e), keeps_sums(attention_family(plan)),
                   !unsummed};
    if (gathers_keys(plan))
        costs.groups = std::max(
            1.0, std::ceil(kv_heads / double(std::max<int64_t>(1, plan.context_parallel.heads_k_stride))));
    send_latents(plan, speeds, costs);
    return costs;
}

/// Adds the time to join the hops' parts. Half of a rank's own heads may come last in the backward pass.
void add_joins(const std::vector<Hop>& hops, const AttentionCosts& costs, std::vector<HopCosts>& made) {
    if (!costs.joins) return;
    JoinCosts joins(costs.sizes);
    for (size_t i = 0; i < hops.size(); ++i) {
        const Hop& hop = hops[i];
        const double share = hop.is_own() && costs.splits_own ? 0.5 : 1;
        made[i].forward_s += joins.forward(hop.parts, hop.queries) / costs.memory;
        made[i].backward_s += joins.backward(hop.parts, share * hop.queries, share * hop.keys) / costs.memory;
    }
    made.back().forward_s += joins.finish_forward() / costs.memory;
    double last = 0;
    if (costs.splits_own) last = joins.backward(1, hops[0].queries / 2, hops[0].keys / 2);
    made.back().backward_s += (last + joins.finish_backward()) / costs.memory;
}

std::vector<HopCosts> ring_hops(const std::vector<Hop>& hops, const AttentionCosts& costs) {
    std::vector<HopCosts> made;
    for (const Hop& hop : hops) {
        HopCosts one{hop.first, hop.last, 0, 0, 0, 0, hop.is_own() ? 0 : hop.queries};
        one.forward_s = hop.cells * costs.forward_cell_s;
        one.backward_s = hop.cells * costs.backward_cell_s;
        if (!hop.is_own()) {
            one.forward_s += hop.keys * costs.forward_key_s;
            one.backward_s += hop.keys * costs.backward_key_s;
        }
        one.keys_s = hop.keys_over_rate * costs.key_bytes + hop.messages() * costs.latency_s;
        one.gradients_s = hop.keys_over_rate * costs.gradient_bytes + hop.messages() * costs.latency_s;
        made.push_back(one);
    }
    add_joins(hops, costs, made);
    return made;
}

/// Returns the hops of a gather: each hop brings all ranks' keys for one group of heads.
std::vector<HopCosts> gathered_hops(const std::vector<Hop>& hops, const AttentionCosts& costs) {
    HopCosts all;
    for (const Hop& hop : hops) {
        all.forward_s += hop.cells * costs.forward_cell_s / costs.groups;
        all.backward_s += hop.cells * costs.backward_cell_s / costs.groups;
        all.keys_s += hop.keys_over_rate * costs.key_bytes / costs.groups + hop.messages() * costs.latency_s;
        all.gradients_s +=
            hop.keys_over_rate * costs.gradient_bytes / costs.groups + hop.messages() * costs.latency_s;
    }
    std::vector<HopCosts> made(static_cast<size_t>(costs.groups), all);
    for (size_t group = 0; group < made.size(); ++group)
        made[group].first = made[group].last = static_cast<int>(group);
    add_joins(std::vector<Hop>(made.size(), {1, 1, 0, costs.sizes.tokens / costs.groups,
                                             costs.sizes.tokens / costs.groups, 0, 1}),
              costs, made);
    return made;
}

void add_head_exchange(const Plan& plan, const Speeds& speeds, const Links& links, double tokens,
                       ColumnCosts& column) {
    const ModelConfig& m = *plan.model;
    const double P = plan.mesh.ulysses;
    if (plan.mesh.ulysses == 1) return;
    const double e = plan.config.precision == Precision::Float32 ? 4 : 2;
    const bool shared = m.num_kv_heads < plan.mesh.ulysses;  // gradients of shared heads are sent in float32
    const double numbers =
        sequences_at_once(plan) * tokens * (P - 1) / P / (links.heads_inside ? links.inside : links.across);
    const double queries = numbers * query_width(m), keys_values = numbers * 2 * key_width(m, P);
    column.exchange_in_s = (queries + keys_values) * e + 2 * speeds.latency_s;
    column.exchange_out_s = queries * e + speeds.latency_s;
    column.exchange_back_in_s = queries * e + speeds.latency_s;
    column.exchange_back_out_s = queries * e + keys_values * (shared ? 4 : e) + 2 * speeds.latency_s;
    const double attends = attending_share(m);
    for (double* exchange_s : {&column.exchange_in_s, &column.exchange_out_s, &column.exchange_back_in_s,
                               &column.exchange_back_out_s})
        *exchange_s *= attends;
}

/// Adds the all-to-alls that send tokens to the ranks of their experts and back, in the forward and the
/// backward pass. A backward pass sends the experts' inputs again if it trains the experts or computes them
/// again.
void add_expert_exchange(const Plan& plan, const Speeds& speeds, double tokens, ColumnCosts& column) {
    const ModelConfig& m = *plan.model;
    if (plan.mesh.expert == 1) return;
    const double parts = plan.mesh.expert, e = plan.config.precision == Precision::Float32 ? 4 : 2;
    const bool is_inside = plan.ranks / plan.nodes % plan.mesh.shards() == 0;
    const double link = is_inside ? speeds.inside_node : speeds.across_nodes;
    const double numbers =
        sequences_at_once(plan) * tokens * double(m.experts_per_token * m.expert_outer_size());
    const double sparse = double(m.sparse_layers()) / double(std::max<int64_t>(1, m.num_layers));
    const double once_s = sparse * (numbers * (parts - 1) / parts * e / link + speeds.latency_s);
    const double of_counts_s = sparse * speeds.latency_s;
    column.experts_forward_s = 2 * once_s + of_counts_s;
    column.experts_again_s = (m.norms_outputs ? 2 : 1) * once_s + of_counts_s;
    column.experts_back_s = (plan.config.lora.on() ? 2 : 3) * once_s + 2 * of_counts_s;
}

/// Adds the computation of recurrent layers, and the maps of stretches that all ranks of a sequence gather. A
/// rank computes its map first, and then its outputs.
void add_recurrence(const Plan& plan, const Speeds& speeds, const Links& links, double tokens,
                    ColumnCosts& column) {
    const ModelConfig& m = *plan.model;
    const double recurs = recurring_share(m), ranks = plan.mesh.context_parallel_size();
    if (recurs == 0) return;
    const double rows = sequences_at_once(plan), phases = ranks > 1 ? 2 : 1;
    const double moved_s = plan.device == Device::Cuda ? scan_bytes(m) / speeds.memory : 0;
    const double token_s = recurrence_flops(m) / speeds.flops + moved_s;
    column.projections_s += recurs * phases * token_s * rows * tokens;
    if (ranks == 1) return;
    const bool halves = plan.context_parallel.layout == RingAttnFunc::BatchZigzag && plan.mesh.ring > 1;
    const double e = plan.config.precision == Precision::Float32 ? 4 : 2;
    const double gathered = (halves ? 2 : 1) * rows * (ranks - 1) * stretch_bytes(m, e);
    const double gather_s = gathered / (links.all_inside ? links.inside : links.across);
    column.exchange_in_s += recurs * (gather_s + 2 * speeds.latency_s);
    column.exchange_back_in_s += recurs * (gather_s + 2 * speeds.latency_s);
}

ColumnCosts column_costs(const Plan& plan, const Speeds& speeds, const Links& links, const Ring& ring,
                         const AttentionMask& mask, int rank) {
    const LayerWeights weights(*plan.model);
    const AttentionCosts attention = attention_costs(plan, speeds, mask, ring.tokens(rank));
    const double tokens = ring.tokens(rank) / plan.mesh.ulysses;
    const double weight_s = 2 * sequences_at_once(plan) * tokens / speeds.flops;
    ColumnCosts column;
    column.ring_rank = rank;
    const double of_weight_s = weight_s + making_s(plan, speeds);
    column.projections_s = weights.projections * of_weight_s;
    if (plan.sequence.chunks > 1 && plan.config.gradient_checkpointing)
        column.recalled_s = column.projections_s * (1 - 1 / double(plan.sequence.chunks));
    column.output_s = weights.output * of_weight_s;
    column.mlp_s = weights.mlp * of_weight_s;
    column.mlp_again_s = column.mlp_s * 2 / 3;  // gate and up, two of three matrices
    // An adapter takes one forward and three backward products (x·Aᵀ is computed again), which cost as much
    // as two of each.
    column.mlp_s += 2 * double(lora_unit_sizes(*plan.model, plan.config.lora).layer) * weight_s;
    column.head_s = (1 + backward_products(plan)) * weights.head * weight_s;
    add_int8_products(plan, speeds, sequences_at_once(plan) * tokens, column);
    add_head_exchange(plan, speeds, links, tokens, column);
    add_recurrence(plan, speeds, links, tokens, column);
    add_expert_exchange(plan, speeds, tokens, column);
    const std::vector<Hop> hops = ring.hops(rank);
    column.hops = gathers_keys(plan) ? gathered_hops(hops, attention) : ring_hops(hops, attention);
    return column;
}

// ------------------------------------------------------------------------------------------ states

/// Returns the bytes of all states per element of a large matrix.
double state_element_bytes(const Config& config, double weight_bytes) {
    const OptimizerKind* kind = find_optimizer(config.optimizer);
    if (!kind) return 2 * weight_bytes;
    const StateFormat format = state_format(kind->states, int64_t{1} << 20, false);
    const double each = format.in_codes() ? format.bits / 8.0 : format.as_weights ? weight_bytes : 4;
    double bytes = 0;
    for (const StateSpec& state : states_of(optimizer_states(config), 2, false))
        bytes += state.extent == StateExtent::Elements ? each : 0;
    return bytes;
}

/// Adds the states' transfers. Whole gradients are all-reduced over all ranks. Sharded gradients are
/// reduce-scattered, and their slices all-reduced over replicas. Sharded weights are gathered for each pass
/// (stage 3) or after the update.
void add_states(const Plan& plan, const Speeds& speeds, const Links& links, StepCosts& costs) {
    const double bytes = plan.config.precision == Precision::Bf16Full ? 2 : 4;
    const double copy_bytes = plan.config.precision == Precision::Float32 ? 4 : 2;
    const UnitSizes sizes = unit_sizes(*plan.model);
    const double shards = plan.mesh.shards(), replicas = plan.mesh.dp_replicate, ranks = plan.ranks;
    const bool frozen = plan.config.lora.on();
    const UnitSizes adapter = lora_unit_sizes(*plan.model, plan.config.lora);
    const bool in_host = states_in_host(plan.config);
    const double link = speeds.host_link > 0 ? speeds.host_link : speeds.memory / 2;
    // A rank receives and sends all slices but its own; for divided experts, it exchanges only the slices of
    // its part.
    const double parts = plan.mesh.expert;
    const auto shared = [&](double all, double experts) {
        return (shards - 1) / shards * (all - experts) + (shards / parts - 1) / shards * experts;
    };
    const auto unit = [&](int64_t weights, int64_t of_adapter, int64_t divided = 0) {
        UnitCosts made;
        const double experts = double(divided) / links.states;
        if (plan.config.parameter_offloading)
            made.fetch_s = double(weights + of_adapter) * copy_bytes / (costs.stage == 3 ? shards : 1) / link;
        if (in_host)
            made.leave_s =
                double(frozen ? of_adapter : weights) * bytes / (costs.stage > 0 ? shards : 1) / link;
        const double n = double(frozen ? of_adapter : weights) / links.states;  // trained weights
        const double gathered = double(costs.stage == 3 ? weights + of_adapter : 0) / links.states;
        if (n == 0 && gathered == 0) return made;
        if (costs.stage == 0) {
            if (plan.ranks > 1) made.reduce_s = 2 * (ranks - 1) / ranks * bytes * n + speeds.latency_s;
            return made;
        }
        made.reduce_s = bytes * shared(n, frozen ? 0 : experts) + speeds.latency_s;
        made.gather_s = copy_bytes * shared(std::max(n, gathered), experts) + speeds.latency_s;
        if (replicas > 1)
            made.replicas_s = 2 * (replicas - 1) / replicas * bytes * n / shards + speeds.latency_s;
        return made;
    };
    costs.embedding = unit(sizes.embedding, adapter.embedding);
    const QuantizedLayer quantized = quantized_layer(*plan.model, plan.config.quantization);
    costs.layer =
        unit(sizes.layer - quantized.elements + static_cast<int64_t>(double(quantized.bytes) / copy_bytes),
             adapter.layer, plan.mesh.expert > 1 ? largest_of_layers(*plan.model, expert_elements) : 0);
    costs.head = unit(sizes.head, adapter.head);
    if (plan.model->tie_word_embeddings) {
        costs.head.gather_s += costs.embedding.gather_s;
        costs.head.fetch_s += costs.embedding.fetch_s;
    }
    if (costs.stage == 1 || costs.stage == 2)
        costs.new_weights_s =
            costs.embedding.gather_s + double(costs.layers) * costs.layer.gather_s + costs.head.gather_s;
    // The optimizer reads and writes its states, weights and gradients once; the norm reads the gradients
    // again.
    const double moments = state_element_bytes(plan.config, bytes);
    const double update_bytes = 4 * bytes + 2 * moments;
    const int64_t trained = frozen ? lora_count(*plan.model, plan.config.lora) : parameter_count(*plan.model);
    const double of_rank = double(trained) / (costs.stage > 0 ? shards : 1);
    costs.update_s = update_bytes * of_rank / (in_host ? speeds.host_memory : speeds.memory);
    if (states_on_disk(plan.config))  // states are read and written during the update
        costs.update_s = std::max(costs.update_s, 2 * moments * of_rank / speeds.disk);
    if (in_host && !plan.config.parameter_offloading)  // copies the new weights to the device
        costs.update_s += copy_bytes * of_rank / link;
    if (plan.config.optimizer_offloading && !in_host && speeds.host_link > 0)  // copies states in and out
        costs.update_s += 2 * moments * of_rank / link;
    if (plan.config.activation_offloading)
        costs.checkpoint_copy_s = sequences_at_once(plan) * double(plan.sequence.per_rank) *
                                  double(plan.model->hidden_size) * copy_bytes / link;
    add_chunk_copies(plan, sequences_at_once(plan), copy_bytes / link, costs);
    if (speeds.host_link <= 0) add_copies_to_update(costs);
}

}  // namespace

int columns_of(int ring) {
    return ring <= kMostColumns ? ring : kColumnsOfMore;
}

AttentionMask mask_of(const Plan& plan) {
    AttentionMask mask;
    const int64_t window = plan.model ? widest_window(*plan.model).value_or(0) : 0;
    if (window < plan.sequence.length) mask.window = window;
    return mask;
}

StepCosts step_costs(const Plan& plan, const Speeds& speeds, const AttentionMask& mask) {
    const Links links(plan, speeds);
    const Ring ring(plan, links, mask);
    StepCosts costs;
    costs.ring = plan.mesh.ring;
    costs.layers = plan.model->num_layers;
    costs.micro_batches = plan.batch.accumulation;
    costs.forwards_alone = forwards_alone(plan.config);
    costs.backward_products = backward_products(plan);
    costs.checkpointing = plan.config.gradient_checkpointing;
    costs.tiles_mlp = plan.config.tiled_mlp;
    costs.keeps_attention = plan.config.selective_checkpointing;
    costs.stage = plan.mesh.shards() > 1 ? plan.zero_stage : 0;
    costs.gathers_keys = gathers_keys(plan);
    costs.splits_own = splits_own(plan);
    costs.shares_link = plan.nodes == 1 || !links.all_inside;
    for (int column = 0; column < ring.columns(); ++column)
        costs.columns.push_back(column_costs(plan, speeds, links, ring, mask, ring.ring_rank(column)));
    add_states(plan, speeds, links, costs);
    return costs;
}

}  // namespace ringmaster
