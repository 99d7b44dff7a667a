#include "engine/plan/memory/memory.h"

#include <algorithm>
#include <cmath>

#include "engine/config/precision.h"
#include "engine/families/layer_groups.h"
#include "engine/families/lora_sizes.h"
#include "engine/families/quantized_shapes.h"
#include "engine/layout/deterministic.h"
#include "engine/piece_sizes.h"
#include "engine/plan/expert_parallel.h"
#include "engine/plan/memory/attention_trace.h"
#include "engine/plan/memory/memory_trace.h"
#include "engine/plan/memory/nccl_memory.h"
#include "engine/plan/speeds.h"

namespace ringmaster {

namespace {

constexpr double kGiB = double(int64_t{1} << 30);

/// Memory of a process that the allocator does not count: LibTorch before its first tensor, libraries,
/// threads, Gloo's buffers and the CUDA context. On a CPU, the peak resident memory minus the counted tensors
/// was 137 to 153 MiB for seven models of 1,120 MiB, on one and two ranks, with and without bfloat16. On an
/// H100, a process took 1.06 GB before its first all-to-all (NVIDIA/nccl#1685).
struct Runtime {
    double low, expected, high;
};
constexpr Runtime kCpuRuntime = {0.12 * kGiB, 0.16 * kGiB, 0.3 * kGiB};
constexpr Runtime kCudaRuntime = {0.5 * kGiB, 1.0 * kGiB, 1.5 * kGiB};

Runtime runtime_of(const MemoryInputs& in) {
    if (in.device == Device::Cpu) return kCpuRuntime;
    NcclInputs of_mesh;
    of_mesh.mesh = {in.replicas, std::max(1, in.shards / (in.ring * in.ulysses)), in.ring, in.ulysses};
    of_mesh.mesh.expert = in.expert_parts;
    of_mesh.ranks_per_node = of_mesh.mesh.ranks() / in.nodes;
    of_mesh.shards_states = in.zero_stage > 0;
    of_mesh.in_order = cuda_is_deterministic();
    of_mesh.ring_peers = ring_peers(in);
    of_mesh.link = in.link;
    const NcclBytes nccl = nccl_bytes(of_mesh);
    return {kCudaRuntime.low + nccl.low, kCudaRuntime.expected + nccl.expected,
            kCudaRuntime.high + nccl.high};
}

struct Slack {
    double low, high;
};
constexpr Slack kCpuSlack = {0.97, 1.06};
constexpr Slack kCudaSlack = {0.97, 1.12};

Slack slack_of(const MemoryInputs& in) {
    const Slack cold = in.device == Device::Cuda ? kCudaSlack : kCpuSlack;
    if (in.basis == MemoryBasis::Measured) return {0.99, 1.01};
    if (in.basis == MemoryBasis::Recalibrated) return {(1 + cold.low) / 2, (1 + cold.high) / 2};
    return cold;
}

double query_width(const ModelConfig& m) {
    return double(m.num_heads) * double(m.head_dim);
}
double kv_width(const ModelConfig& m) {
    return double(m.num_kv_heads) * double(m.head_dim);
}
double hidden(const ModelConfig& m) {
    return double(m.hidden_size);
}

double parameter_bytes(const MemoryInputs& in) {
    return in.precision == Precision::Bf16Full ? 2 : 4;
}

/// Returns the effective ZeRO stage: one shard means nothing is sharded.
int stage(const MemoryInputs& in) {
    return in.shards > 1 ? in.zero_stage : 0;
}

double padded(const MemoryInputs& in, int64_t unit) {
    return double(slice_elements(unit, in.shards)) * in.shards;
}

/// Counts the parameters of the model's only layer that are not quantised.
int64_t kept_of(const ModelConfig& one, const Quantization& quantization) {
    return unit_sizes(one).layer - quantized_layer(one, quantization).elements;
}

/// Returns the elements of a layer's experts that are divided among ranks.
int64_t divided(const MemoryInputs& in, const ModelConfig& one) {
    return in.expert_parts > 1 ? expert_elements(one) : 0;
}

/// Returns the elements of the expert weights that a rank gathers: all experts of its part. Returns 0 if each
/// part is a single rank that holds them on its device.
double gathered_experts(const MemoryInputs& in, int64_t experts) {
    const bool are_own = in.expert_parts == in.shards && !in.weights_in_host;
    return are_own ? 0 : double(experts) / in.expert_parts;
}

/// Returns the elements of a layer's weights while it is used. `one` is the model with only that layer.
double kept_layer(const MemoryInputs& in, const ModelConfig& one) {
    const int64_t experts = divided(in, one);
    return padded(in, kept_of(one, in.quantization) - experts) + gathered_experts(in, experts);
}

double elements(const MemoryInputs& in, bool sharded) {
    const UnitSizes sizes = unit_sizes(in.model);
    const auto of_unit = [&](int64_t unit) {
        if (stage(in) == 0) return double(unit);
        return padded(in, unit) / (sharded ? in.shards : 1);
    };
    return of_unit(sizes.embedding) + of_unit(sizes.head) +
           sum_over_layers(in.model, {}, [&](const ModelConfig& one) {
               const int64_t experts = divided(in, one);  // divided experts are always sharded
               return of_unit(kept_of(one, in.quantization) - experts) + double(experts) / in.shards;
           });
}

/// Returns the bytes of all layers' quantised matrices.
double quantized_bytes(const MemoryInputs& in, bool sharded) {
    return sum_over_layers(in.model, {}, [&](const ModelConfig& one) {
        const int64_t layer = quantized_layer(one, in.quantization).bytes;
        return stage(in) == 0 ? double(layer) : padded(in, layer) / (sharded ? in.shards : 1);
    });
}

UnitSizes trained_units(const MemoryInputs& in) {
    return in.lora.on() ? lora_unit_sizes(in.model, in.lora) : unit_sizes(in.model);
}

/// Returns the number of trained elements.
double trained_elements(const MemoryInputs& in, bool sharded) {
    if (!in.lora.on()) return elements(in, sharded);
    const UnitSizes sizes = trained_units(in);
    const auto of_unit = [&](int64_t unit) {
        return stage(in) == 0 ? double(unit) : padded(in, unit) / (sharded ? in.shards : 1);
    };
    return of_unit(sizes.embedding) + of_unit(sizes.head) +
           sum_over_layers(in.model, in.lora, [&](const ModelConfig& one) {
               return of_unit(lora_unit_sizes(one, in.lora).layer);
           });
}

/// Returns the elements of the gradients that a layer's backward pass makes.
double trained_layer(const MemoryInputs& in, const ModelConfig& one) {
    if (in.lora.on()) return padded(in, lora_unit_sizes(one, in.lora).layer);
    const int64_t experts = divided(in, one);
    return padded(in, unit_sizes(one).layer - experts) + double(experts) / in.expert_parts;
}

/// Returns the elements of a layer's gradients whose reduction lasts into the next layer's backward pass.
/// With expert parallelism only the last expert parameter counts, and only if several ranks hold the same
/// part of the experts.
double reduced_layer(const MemoryInputs& in, const ModelConfig& one) {
    if (in.lora.on() || in.expert_parts == 1) return trained_layer(in, one);
    int64_t last = 0;
    for (const ParameterShape& shape : parameter_shapes(one))
        if (is_of_stacked_experts(shape.role)) last = shape.size();
    // A layer without experts reduces all of its gradients.
    if (last == 0) return padded(in, unit_sizes(one).layer);
    return in.expert_parts == in.shards ? 0.0 : double(last) / in.expert_parts;
}

/// Returns the bytes of a layer's weights in the precision of computation, including an adapter's.
double layer_weight_bytes(const MemoryInputs& in, const ModelConfig& one) {
    const double elements = kept_layer(in, one) + (in.lora.on() ? trained_layer(in, one) : 0);
    return elements * in.element_bytes() + padded(in, quantized_layer(one, in.quantization).bytes);
}

/// Returns the model with only this layer.
ModelConfig only_layer(const ModelConfig& model, int64_t layer) {
    std::vector<LayerGroup> groups = layer_groups(model);
    const size_t own = group_of(groups, model.layer_kind(layer));
    // A model without layers is returned unchanged.
    return own < groups.size() ? std::move(groups[own].one) : model;
}

/// Returns whether a unit's whole weights are on the device only while the unit is used.
bool brings_weights(const MemoryInputs& in) {
    return stage(in) == 3 || in.weights_in_host;
}

/// Returns whether a unit's gradients exist only until they are reduced or copied to the host.
bool gradients_are_temporary(const MemoryInputs& in) {
    return stage(in) >= 2 || in.states_in_host;
}

/// Returns the bytes of the slice of a unit that came from the host and is being gathered.
double slice_from_host(const MemoryInputs& in, double unit_bytes) {
    return stage(in) == 3 && in.weights_in_host ? unit_bytes / in.shards : 0;
}

/// Returns the bytes of gradients held while one unit computes and the previous unit's gradients are reduced
/// or on their way to the host. On a CPU they include the buffer that the reduction receives into, and a copy
/// to the host is made at once.
double reduced_bytes(const MemoryInputs& in, double unit, double before) {
    const bool cpu = in.device == Device::Cpu;
    if (stage(in) == 0) {
        const bool waits = in.ranks > 1 || !cpu;
        return in.states_in_host ? (unit + (waits ? before : 0)) * parameter_bytes(in) : 0;
    }
    const double received = cpu ? before : 0, slice = in.states_in_host ? before / in.shards : 0;
    return ((gradients_are_temporary(in) ? unit + before : 0) + received + slice) * parameter_bytes(in);
}

/// Returns the bytes of the tied embedding's gradient, which the head starts and the embedding completes.
double tied_gradient_bytes(const MemoryInputs& in) {
    const bool is_open = gradients_are_temporary(in) && in.model.tie_word_embeddings && !in.lora.on();
    return is_open ? padded(in, unit_sizes(in.model).embedding) * parameter_bytes(in) : 0;
}

/// Returns whether the optimizer updates tensors other than the weights that a pass reads.
bool has_master_apart(const MemoryInputs& in) {
    return is_mixed(in.precision) || (in.states_in_host && !in.weights_in_host);
}

double master_bytes(const MemoryInputs& in) {
    return trained_elements(in, stage(in) == 3 || (has_master_apart(in) && stage(in) > 0)) *
           parameter_bytes(in);
}

/// Returns the bytes of the initial weights that a sampled policy is compared with.
double first_weights_bytes(const MemoryInputs& in) {
    return in.keeps_first_weights ? master_bytes(in) : 0;
}

/// Returns the bytes of the trained weights that a pass reads, if these are not the master weights.
double copied_bytes(const MemoryInputs& in) {
    return has_master_apart(in) ? trained_elements(in, stage(in) == 3) * in.element_bytes() : 0;
}

double frozen_bytes(const MemoryInputs& in) {
    if (!in.lora.on()) return 0;
    const bool sharded = stage(in) == 3;
    return elements(in, sharded) * in.element_bytes() + quantized_bytes(in, sharded);
}

/// Returns whether the states are flat tensors with the weights' padding, as AdamW's states are.
bool are_flat(const MemoryInputs& in) {
    return in.optimizer_rule == UpdateRule::AdamW &&
           (in.optimizer_states == StateKind::AsWeights ||
            (in.optimizer_states == StateKind::Float32 && in.precision != Precision::Bf16Full));
}

/// Returns the bytes of one state of a parameter.
double state_bytes(const MemoryInputs& in, const ParameterShape& shape, const StateSpec& state) {
    const auto elements = double(shape.size()), columns = double(shape.shape.back());
    if (state.extent == StateExtent::Rows) return 4 * elements / columns;
    if (state.extent == StateExtent::Columns) return 4 * columns;
    const StateFormat format = state_format(in.optimizer_states, shape.size(), is_embedding(shape.name));
    if (!format.in_codes()) return elements * (format.as_weights ? parameter_bytes(in) : 4);
    return elements * format.bits / 8 + 4 * std::ceil(elements / double(format.block));
}

/// Returns this rank's bytes for all states of a parameter: its slice of the states with a number per
/// element, and the other states whole.
double states_bytes(const MemoryInputs& in, const ParameterShape& shape) {
    const OptimizerStates optimizer{in.optimizer_rule, in.optimizer_states, in.optimizer_momentum,
                                    in.optimizer_centered};
    const double shards = stage(in) > 0 ? in.shards : 1;
    double bytes = 0;
    for (const StateSpec& state : states_of(optimizer, shape.shape.size(), is_table(shape.name)))
        bytes += state_bytes(in, shape, state) / (state.extent == StateExtent::Elements ? shards : 1);
    return bytes;
}

/// Returns the bytes of all states of the parameters in the model's layers, or of the parameters outside
/// them.
double states_of_model(const MemoryInputs& in, const ModelConfig& model, bool in_layers) {
    Lora alike = in.lora;
    alike.layers.clear();
    double bytes = 0;
    for (const ParameterShape& shape : in.lora.on() ? lora_shapes(model, alike) : parameter_shapes(model))
        if ((shape.layer >= 0) == in_layers) bytes += states_bytes(in, shape);
    return bytes;
}

double stored_bytes(const MemoryInputs& in) {
    ModelConfig outside = in.model;
    outside.num_layers = 0;
    return states_of_model(in, outside, false) +
           sum_over_layers(in.model, in.lora,
                           [&](const ModelConfig& one) { return states_of_model(in, one, true); });
}

double moments_bytes(const MemoryInputs& in) {
    if (!are_flat(in)) return stored_bytes(in);
    return 2 * trained_elements(in, stage(in) > 0) * parameter_bytes(in);
}

int64_t whole(double bytes) {
    return static_cast<int64_t>(std::min(bytes, 1e18));
}

}  // namespace

bool MemoryInputs::widens() const {
    return device == Device::Cpu &&
           (precision == kFp16Mixed || (precision != Precision::Float32 && !cpu_has_bfloat16()));
}

double weight_bytes(const MemoryInputs& in) {
    return (in.states_in_host ? 0 : master_bytes(in) + first_weights_bytes(in)) +
           (in.weights_in_host ? 0 : copied_bytes(in) + frozen_bytes(in));
}

double gradient_bytes(const MemoryInputs& in) {
    return in.states_in_host ? 0 : trained_elements(in, stage(in) >= 2) * parameter_bytes(in);
}

double optimizer_bytes(const MemoryInputs& in) {
    if (!in.offloads_optimizer) return moments_bytes(in);
    const bool copied_to_gpu =
        !in.states_in_host && in.device == Device::Cuda;  // the states are copied to the GPU and back
    return copied_to_gpu ? 2 * 2 * double(pieces::kStatesOnTheirWay) * parameter_bytes(in) : 0;
}

namespace {

/// Returns the elements of the units that the head needs.
double head_elements(const MemoryInputs& in) {
    const UnitSizes sizes = unit_sizes(in.model);
    return padded(in, sizes.head) + (in.model.tie_word_embeddings ? padded(in, sizes.embedding) : 0);
}

}  // namespace

double layer_forward_unit_bytes(const MemoryInputs& in, int64_t layer) {
    if (!brings_weights(in)) return 0;
    const double head = head_elements(in) * in.element_bytes();
    return layer_weight_bytes(in, only_layer(in.model, layer)) + head + slice_from_host(in, head);
}

double layer_unit_bytes(const MemoryInputs& in, int64_t layer) {
    const ModelConfig one = only_layer(in.model, layer);
    double weights = 0;
    if (brings_weights(in)) {
        weights = layer_weight_bytes(in, one);
        const double next = layer > 0 ? layer_weight_bytes(in, only_layer(in.model, layer - 1)) : 0;
        // The next unit's weights arrive while this layer computes.
        weights += next + slice_from_host(in, next);
        // The engine keeps layer 1's buffer for reuse.
        const bool keeps_buffer = layer == 0 && in.model.num_layers > 1;
        if (keeps_buffer) weights += layer_weight_bytes(in, only_layer(in.model, 1));
    }
    const bool is_last = layer + 1 >= in.model.num_layers;
    const double before =
        is_last ? padded(in, trained_units(in).head) : reduced_layer(in, only_layer(in.model, layer + 1));
    return weights + reduced_bytes(in, trained_layer(in, one), before) + tied_gradient_bytes(in);
}

double head_unit_bytes(const MemoryInputs& in) {
    const double head = head_elements(in);
    const double own = in.lora.on() ? padded(in, trained_units(in).head) : 0;  // an adapter's head
    // The last layer's weights arrive while the head computes.
    const ModelConfig last = only_layer(in.model, std::max<int64_t>(0, in.model.num_layers - 1));
    const double weights =
        brings_weights(in) ? (head + own) * in.element_bytes() + layer_weight_bytes(in, last) : 0;
    return weights + (gradients_are_temporary(in) ? (in.lora.on() ? own : head) * parameter_bytes(in) : 0);
}

double embedding_unit_bytes(const MemoryInputs& in) {
    const bool reads_weights = brings_weights(in) && in.model.layer_input_width > 0;
    const double weights =
        reads_weights ? padded(in, unit_sizes(in.model).embedding) * in.element_bytes() : 0;
    return weights + reduced_bytes(in, padded(in, trained_units(in).embedding),
                                   reduced_layer(in, only_layer(in.model, 0)));
}

double attention_output_bytes(const MemoryInputs& in) {
    const ModelConfig& m = in.model;
    return in.tokens() * (query_width(m) * in.element_bytes() + 4 * double(m.num_heads));
}

double heads_bytes(const MemoryInputs& in) {
    const ModelConfig& m = in.model;
    // Several ranks may hold the same key/value heads.
    const double keys_values = 2 * std::max(kv_width(m), double(in.ulysses) * double(m.head_dim));
    return in.tokens() * in.element_bytes() * (2 * query_width(m) + keys_values);
}

double layer_input_bytes(const MemoryInputs& in) {
    return in.tokens() * hidden(in.model) * in.element_bytes();
}

double keys_bytes(const MemoryInputs& in) {
    const double copies = std::max(1.0, double(in.ulysses) / double(in.model.num_kv_heads));
    return 2 * in.tokens() * kv_width(in.model) * copies * in.element_bytes();
}

double layer_inputs_bytes(const MemoryInputs& in) {
    return in.tokens() * double(in.model.layer_inputs_width) * in.element_bytes();
}

namespace {

/// Returns the bytes in host memory that several chunks add: the head's input and the gradients of hidden
/// states, and, for all chunks but the last, gradients of keys and values with their float32 sums, in the
/// layer with the widest keys.
double bytes_of_chunks(const MemoryInputs& in) {
    const double others = double(in.chunks - 1) / double(in.chunks);
    const double most = largest_of_layers(in.model, kv_width) / kv_width(in.model);
    return 2 * layer_input_bytes(in) + others * most * keys_bytes(in) * (1 + 4 / in.element_bytes());
}

}  // namespace

double disk_bytes(const MemoryInputs& in) {
    return in.offloads_optimizer && in.optimizer_on_disk ? moments_bytes(in) : 0;
}

double offloaded_bytes(const MemoryInputs& in) {
    double bytes = 0;
    if (in.offloads_activations) bytes += double(in.model.num_layers) * layer_input_bytes(in);
    if (in.offloads_activations && in.chunks > 1) bytes += bytes_of_chunks(in);
    if (in.offloads_optimizer && !in.optimizer_on_disk) bytes += moments_bytes(in);
    if (in.states_in_host)
        bytes += master_bytes(in) + first_weights_bytes(in) +
                 trained_elements(in, stage(in) > 0) * parameter_bytes(in);
    if (in.weights_in_host) bytes += copied_bytes(in) + frozen_bytes(in);
    return bytes;
}

namespace {

/// Returns the tokens per tile if tiling takes no noticeable time, else 0. On an H100 a product of kLeast
/// tokens takes 30 times as long as adding its result to a float32 gradient. Experts would add all of their
/// gradients in each tile, and 8-bit inputs would be quantised twice.
int64_t tile_tokens_at_no_cost(const Config& config, const ModelConfig& model, int64_t tokens) {
    constexpr int64_t kLeast = 8192, kMostTiles = 16;
    const bool is_free = config.gradient_checkpointing && model.num_experts == 0 &&
                         config.quantization.format != WeightFormat::Int8;
    const int64_t tiles = std::min(tokens / kLeast, kMostTiles);
    return is_free && tiles > 1 ? (tokens + tiles - 1) / tiles : 0;
}

}  // namespace

int64_t mlp_tile_tokens(const Config& config, const ModelConfig& model, int64_t tokens) {
    const bool is_whole = config.tiled_mlp_shards == 1;
    if (!config.tiled_mlp) return is_whole ? 0 : tile_tokens_at_no_cost(config, model, tokens);
    constexpr int64_t kSmallest = 1024;
    if (!config.tiled_mlp_shards) return std::max(kSmallest, model.hidden_size);
    return std::max<int64_t>(1, (tokens + *config.tiled_mlp_shards - 1) / *config.tiled_mlp_shards);
}

RankMemory rank_memory(const MemoryInputs& in) {
    const Runtime runtime = runtime_of(in);
    const Slack slack = slack_of(in);
    const Heap heap = trace_step(in);
    const double ratio = in.measured_ratio;  // scales everything except the states
    const auto part = [&](MemoryPart of) { return whole(heap.at_peak(of)); };
    const auto scaled = [&](MemoryPart of) { return whole(ratio * heap.at_peak(of)); };

    RankMemory memory;
    memory.weights = part(MemoryPart::Weights);
    memory.gradients = part(MemoryPart::Gradients);
    memory.optimizer = part(MemoryPart::Optimizer);
    memory.activations = scaled(MemoryPart::Activations);
    const int64_t buffers =
        scaled(MemoryPart::Workspace) + scaled(MemoryPart::Logits) + scaled(MemoryPart::Communication);
    memory.communication = std::min(whole(ratio * heap.most(MemoryPart::Communication)), buffers);
    memory.logits = std::min(whole(ratio * heap.most(MemoryPart::Logits)), buffers - memory.communication);
    memory.workspace = buffers - memory.communication - memory.logits;
    memory.runtime = whole(runtime.expected);
    memory.total = memory.weights + memory.gradients + memory.optimizer + memory.activations +
                   memory.workspace + memory.logits + memory.communication + memory.runtime;
    const double states = double(memory.weights + memory.gradients + memory.optimizer);
    const double tensors = states + ratio * (heap.peak() - states);
    memory.total_low = whole(slack.low * tensors + runtime.low);
    memory.total_high = whole(slack.high * tensors + runtime.high);
    memory.host = whole(offloaded_bytes(in));
    memory.disk = whole(disk_bytes(in));
    return memory;
}

}  // namespace ringmaster
