#include "engine/plan/step_time.h"

#include <algorithm>

#include "engine/plan/layout.h"

namespace ringmaster {

namespace {

/// Assumed until measured. CPU: of one core with AVX2, and its share of the memory's bandwidth; bfloat16
/// where the core has instructions for it, and where LibTorch goes without; Gloo over the loopback, and over
/// 10-Gbit Ethernet. CUDA: an H100's matrix products as training reaches them, NVLink 4, 200-Gbit InfiniBand.
struct DeviceFigures {
    double float32_flops, bfloat16_flops, bfloat16_slow_flops, memory, inside_node, across_nodes;
};
constexpr DeviceFigures kCpuCore = {70e9, 200e9, 2e9, 8e9, 0.8e9, 1.0e9};
constexpr DeviceFigures kGpu = {50e12, 400e12, 400e12, 2.4e12, 200e9, 25e9};

double active_parameters(const ModelConfig& m) {
    // looking up a token's embedding is no product; a tied head is one
    double count = double(parameter_count(m));
    if (!m.tie_word_embeddings) count -= double(m.vocab_size) * double(m.hidden_size);
    const double idle_experts = double(m.num_experts - m.experts_per_token);
    return count - double(m.num_layers) * idle_experts * 3 * double(m.hidden_size) *
                       double(m.expert_intermediate_size);
}

double query_width(const ModelConfig& m) {
    return double(m.num_heads) * double(m.head_dim);
}

/// 0 without an adapter.
int64_t adapter_parameters(const Plan& plan) {
    return plan.model->num_layers * lora_layer_count(*plan.model, plan.config.lora);
}

int64_t trained_parameters(const Plan& plan) {
    return plan.config.lora.on() ? adapter_parameters(plan) : parameter_count(*plan.model);
}

/// Forward, and backward to inputs and weights; of frozen weights to inputs alone.
double flops_of_a_parameter(const Plan& plan) {
    return plan.config.lora.on() ? 4 : 6;
}

/// Of the gradients that come last, which nothing can hide.
double last_gradients(const Plan& plan) {
    if (plan.config.lora.on()) return double(lora_layer_count(*plan.model, plan.config.lora));
    return double(plan.model->vocab_size) * double(plan.model->hidden_size);
}

/// Of one sequence that is one document: which documents packed rows will hold is not known here.
LayoutFigures figures_of(const Plan& plan) {
    AttentionMask mask;
    if (plan.model && plan.model->sliding_window && *plan.model->sliding_window < plan.sequence.length)
        mask.window = *plan.model->sliding_window;
    const Layout layout = make_layout(plan.context_parallel.layout, plan.sequence.padded_length,
                                      plan.mesh.ring, plan.mesh.ulysses, mask);
    return layout_figures(layout, plan.mesh.ulysses, mask);
}

/// What one rank computes in a micro-batch, in seconds.
struct Computing {
    double linear_forward_s = 0;  ///< all layers and the head
    double attention_forward_s = 0;
    double passes = 6;         ///< in halves of a forward: 6 of 2, 8 where the forward is computed again
    double linear_passes = 6;  ///< 2 fewer where weights are frozen: they need no gradient
    double adapter_s = 0;      ///< of its own products, forward and backward

    double total_s() const {
        return (linear_forward_s * linear_passes + attention_forward_s * passes) / 2 + adapter_s;
    }
    double backward_s() const { return total_s() - linear_forward_s - attention_forward_s; }
};

/// What one rank sends in a micro-batch, in seconds that the link is busy.
struct Sending {
    double ring_forward_s = 0;
    double ring_backward_s = 0;
    double last_exchange_s = 0;  ///< of the gradients of keys and values, behind the last hop of every layer
    double all_to_all_s = 0;
};

Computing computing_of(const Plan& plan, const Speeds& speeds) {
    const ModelConfig& m = *plan.model;
    const std::vector<int64_t> work = work_of_ranks(plan);
    const double cells = double(*std::max_element(work.begin(), work.end()));
    Computing computing;
    const double rows = double(plan.batch.micro);
    computing.linear_forward_s =
        rows * 2 * active_parameters(m) * double(plan.sequence.per_rank) / speeds.flops;
    computing.attention_forward_s = rows * 4 * cells * query_width(m) * double(m.num_layers) / speeds.flops;
    if (plan.config.gradient_checkpointing) computing.passes = 8;
    const bool frozen = plan.config.lora.on();
    computing.linear_passes = computing.passes - (frozen ? 2 : 0);
    // x·Aᵀ is computed again in the backward, for the gradient of B
    computing.adapter_s = rows * (computing.passes + 2) * double(adapter_parameters(plan)) *
                          double(plan.sequence.per_rank) / speeds.flops;
    return computing;
}

bool inside_node(const Plan& plan) {
    const int of_node = plan.ranks / plan.nodes;
    return of_node % plan.context_parallel.size == 0;
}

Sending sending_of(const Plan& plan, const Speeds& speeds) {
    const ModelConfig& m = *plan.model;
    const double R = plan.mesh.ring, P = plan.mesh.ulysses, layers = double(m.num_layers);
    const double e = plan.config.precision == Precision::Float32 ? 4 : 2;
    const double link = inside_node(plan) ? speeds.inside_node : speeds.across_nodes;
    const double kv_heads = std::max(double(m.num_kv_heads), P);
    const double tokens = double(plan.batch.micro) * double(plan.sequence.per_rank);
    const double forwards = plan.config.gradient_checkpointing ? 2 : 1;

    Sending sending;
    if (R > 1) {
        // What the busiest rank receives, of a P-th of the heads; the gradients go the same way back.
        const double keys = double(plan.batch.micro) * double(figures_of(plan).most_received());
        const double numbers = 2 * keys * kv_heads / P * double(m.head_dim);
        sending.ring_forward_s = layers * forwards * numbers * e / link;
        sending.ring_backward_s = layers * numbers * (e + 4) / link;
        sending.last_exchange_s = layers * numbers * 4 / link / (R - 1);
    }
    if (P > 1) {
        const double numbers_moved = tokens * double(m.head_dim) * (2 * double(m.num_heads) + 2 * kv_heads);
        sending.all_to_all_s = layers * (1 + forwards) * (P - 1) / P * numbers_moved * e / link;
    }
    return sending;
}

/// What the hops' computation does not hide: all but the last hop's compute while the next keys and values
/// come.
double exposed_of(const Plan& plan, const Computing& computing, const Sending& sending) {
    const double hidden_share = double(plan.mesh.ring - 1) / double(plan.mesh.ring);
    const double forward_s = computing.attention_forward_s * hidden_share * (computing.passes - 4) / 2;
    const double backward_s = 2 * computing.attention_forward_s * hidden_share;
    return std::max(0.0, sending.ring_forward_s - forward_s) +
           std::max(sending.last_exchange_s, sending.ring_backward_s - backward_s) + sending.all_to_all_s;
}

/// Of gradients, and of weights where they are sharded.
struct Reduction {
    double total_s = 0;
    double last_s = 0;  ///< what nothing can hide: the gradients that come last, and new weights
};

/// Sharded states: a reduce-scatter in a step (stage 1) or a micro-batch, an all-reduce of the slices over
/// the replicas; new weights gathered behind the update, or at stage 3 for each forward and backward.
Reduction sharded_reduction(const Plan& plan, double link) {
    const double bytes = plan.config.precision == Precision::Bf16Full ? 2 : 4;
    const double copy_bytes = plan.config.precision == Precision::Float32 ? 4 : 2;
    const double shards = plan.mesh.shards(), replicas = plan.mesh.dp_replicate;
    const double micro_batches = plan.zero_stage >= 2 ? double(plan.batch.accumulation) : 1;
    const double count = double(trained_parameters(plan));
    const double frozen = plan.config.lora.on() ? double(parameter_count(*plan.model)) : 0;
    const double scatter = (shards - 1) / shards * bytes / link, gather = scatter / bytes * copy_bytes;
    const double over_replicas = 2 * (replicas - 1) / replicas * bytes / link * count / shards;
    const double gathers = plan.zero_stage == 3 ? 2 * micro_batches : 1;
    const double gathered = count + (plan.zero_stage == 3 ? frozen : 0);
    return {micro_batches * scatter * count + over_replicas + gathers * gather * gathered,
            scatter * last_gradients(plan) + (plan.zero_stage == 3 ? 0 : gather * count)};
}

Reduction reduction_of(const Plan& plan, const Speeds& speeds) {
    if (plan.ranks == 1) return {};
    const double bytes = plan.config.precision == Precision::Bf16Full ? 2 : 4;
    const double link = plan.nodes > 1 ? speeds.across_nodes : speeds.inside_node;
    if (plan.zero_stage > 0 && plan.mesh.shards() > 1) return sharded_reduction(plan, link);
    const double sent = 2 * double(plan.ranks - 1) / double(plan.ranks) * bytes / link;
    return {sent * double(trained_parameters(plan)), sent * last_gradients(plan)};
}

/// AdamW reads and writes its states, the weights and their gradients once, the norm of the gradients reads
/// them again.
double update_s(const Plan& plan, const Speeds& speeds) {
    const double bytes = plan.config.precision == Precision::Bf16Full ? 16 : 32;
    const double ranks = plan.zero_stage > 0 ? plan.mesh.shards() : 1;
    return bytes * double(trained_parameters(plan)) / ranks / speeds.memory;
}

}  // namespace

bool cpu_has_bfloat16() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16");
#else
    return true;
#endif
}

Speeds assumed_speeds(Device device, Precision precision, int cores, int ranks_per_node) {
    const bool cpu = device == Device::Cpu;
    const DeviceFigures& figures = cpu ? kCpuCore : kGpu;
    const double units = cpu ? std::max(1.0, double(cores) / double(ranks_per_node)) : 1;
    const double bfloat16 = cpu_has_bfloat16() ? figures.bfloat16_flops : figures.bfloat16_slow_flops;
    const double flops = precision == Precision::Float32 ? figures.float32_flops : bfloat16;
    return {units * flops, units * figures.memory, figures.inside_node, figures.across_nodes};
}

LayoutCosts layout_costs(const Plan& plan) {
    const ModelConfig& m = *plan.model;
    const bool cpu = plan.device == Device::Cpu;
    const double flops = cpu ? kCpuCore.float32_flops : kGpu.bfloat16_flops;
    const double link =
        plan.nodes > 1 ? (cpu ? kCpuCore : kGpu).across_nodes : (cpu ? kCpuCore : kGpu).inside_node;
    const double P = plan.mesh.ulysses, layers = double(m.num_layers);
    const double kv_heads = std::max(double(m.num_kv_heads), P) / P;
    LayoutCosts costs;  // of forward and backward together, of a ring rank's tokens over its P ranks
    costs.token_s = flops_of_a_parameter(plan) * active_parameters(m) / flops / P;
    costs.cell_s = 12 * query_width(m) * layers / flops / P;
    costs.key_s = 2 * kv_heads * double(m.head_dim) * layers * (2 * (cpu ? 4 : 2) + 4) / link;
    return costs;
}

std::vector<int64_t> work_of_ranks(const Plan& plan) {
    const LayoutFigures figures = figures_of(plan);
    std::vector<int64_t> work;
    for (const RankFigures& rank : figures.ranks) {
        work.insert(work.end(), static_cast<size_t>(plan.mesh.ulysses), rank.cells / plan.mesh.ulysses);
    }
    return work;
}

double sequence_flops(const Plan& plan) {
    const std::vector<int64_t> work = work_of_ranks(plan);
    const double cells = double(*std::max_element(work.begin(), work.end()));
    return flops_of_a_parameter(plan) * active_parameters(*plan.model) * double(plan.sequence.per_rank) +
           12 * cells * query_width(*plan.model) * double(plan.model->num_layers);
}

StepTime step_time(const Plan& plan, const Speeds& speeds) {
    const Computing computing = computing_of(plan, speeds);
    const Sending sending = sending_of(plan, speeds);
    const Reduction reduction = reduction_of(plan, speeds);
    const double micro_batches = double(plan.batch.accumulation);
    StepTime time;
    time.compute_s = micro_batches * computing.total_s() + update_s(plan, speeds);
    time.comm_s = micro_batches * (sending.ring_forward_s + sending.ring_backward_s + sending.all_to_all_s) +
                  reduction.total_s;
    time.exposed_comm_s = micro_batches * exposed_of(plan, computing, sending) +
                          std::max(reduction.last_s, reduction.total_s - computing.backward_s());
    time.step_s = time.compute_s + time.exposed_comm_s;
    return time;
}

}  // namespace ringmaster
