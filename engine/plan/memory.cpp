#include "engine/plan/memory.h"

#include <algorithm>

namespace ringmaster {

namespace {

constexpr double kGiB = double(int64_t{1} << 30);
constexpr double kOptimizerChunk = 16.0 * 1024 * 1024;  // elements, of engine/train/optimizer.cpp
constexpr double kLossChunkTokens = 1024;               // of engine/model/decoder.cpp

/// A process with LibTorch before its first tensor, and what the allocator does not count: libraries,
/// threads, Gloo's or NCCL's buffers, on CUDA the context. Assumed.
struct Runtime {
    double low, expected, high;
};
constexpr Runtime kCpuRuntime = {0.35 * kGiB, 0.5 * kGiB, 0.75 * kGiB};
constexpr Runtime kCudaRuntime = {1.0 * kGiB, 1.5 * kGiB, 2.0 * kGiB};

struct Slack {
    double low, high;
};
constexpr Slack kCpuSlack = {0.97, 1.06};
constexpr Slack kCudaSlack = {0.97, 1.12};

double query_width(const ModelConfig& m) {
    return double(m.num_heads) * double(m.head_dim);
}
double kv_width(const ModelConfig& m) {
    return double(m.num_kv_heads) * double(m.head_dim);
}
double hidden(const ModelConfig& m) {
    return double(m.hidden_size);
}

/// Of the layers' MLP; a token meets experts_per_token experts where there are experts.
double intermediate(const ModelConfig& m) {
    if (m.num_experts == 0) return double(m.intermediate_size);
    return double(m.experts_per_token) * double(m.expert_intermediate_size) +
           double(m.shared_expert_intermediate_size);
}

double parameter_bytes(const MemoryInputs& in) {
    return in.precision == Precision::Bf16Full ? 2 : 4;
}

/// Under `bf16: true` a weight's gradient is computed in bfloat16 before it is added to the float32 one.
double gradient_copy_bytes(const MemoryInputs& in, double elements) {
    return in.precision == Precision::Bf16Mixed ? 2 * elements : 0;
}

/// Of the norm recomputed in the backward: in bfloat16 by way of two float32 tensors.
double norm_again_bytes(const MemoryInputs& in) {
    const double e = in.element_bytes();
    return in.tokens() * hidden(in.model) * (e == 4 ? 4 : 8 + e);
}

/// Sharing with nobody is sharding nothing.
int stage(const MemoryInputs& in) {
    return in.shards > 1 ? in.zero_stage : 0;
}

double elements(const MemoryInputs& in, bool sharded) {
    if (stage(in) == 0) return double(parameter_count(in.model));
    return double(sharded_count(in.model, in.shards)) * (sharded ? 1 : in.shards);
}

double padded(const MemoryInputs& in, int64_t unit) {
    return double(slice_elements(unit, in.shards)) * in.shards;
}

/// Gradients of a unit while it is computed, those of the unit before while they are reduced, and what is
/// received of these; on a GPU they are reduced without a copy.
double reduced_bytes(const MemoryInputs& in, double unit, double before) {
    if (stage(in) == 0) return 0;
    const double received = in.device == Device::Cpu ? before : 0;
    return ((stage(in) >= 2 ? unit + before : 0) + received) * parameter_bytes(in);
}

bool offloads(const MemoryInputs& in, bool asked) {
    return asked && in.device == Device::Cuda;
}

double moments_bytes(const MemoryInputs& in) {
    return 2 * elements(in, stage(in) > 0) * parameter_bytes(in);
}

/// Of attention, wanted by its backward.
double attention_output_bytes(const MemoryInputs& in) {
    const ModelConfig& m = in.model;
    double elements = query_width(m);
    if (in.ulysses > 1) {  // and by heads: q, attention's output, k and v, which several ranks may hold
        elements += 2 * query_width(m) + 2 * std::max(kv_width(m), double(in.ulysses) * double(m.head_dim));
    }
    return in.tokens() * (elements * in.element_bytes() + 4 * double(m.num_heads));
}

/// Of a layer, by checkpointing: all else is computed again.
double checkpoint_bytes(const MemoryInputs& in) {
    return layer_input_bytes(in) + (in.keeps_attention ? attention_output_bytes(in) : 0);
}

int64_t whole(double bytes) {
    return static_cast<int64_t>(std::min(bytes, 1e18));
}

}  // namespace

double weight_bytes(const MemoryInputs& in) {
    const bool mixed = in.precision == Precision::Bf16Mixed;
    const double master = elements(in, stage(in) == 3 || (mixed && stage(in) > 0)) * parameter_bytes(in);
    return master + (mixed ? 2 * elements(in, stage(in) == 3) : 0);
}

double gradient_bytes(const MemoryInputs& in) {
    return elements(in, stage(in) >= 2) * parameter_bytes(in);
}

double optimizer_bytes(const MemoryInputs& in) {
    if (offloads(in, in.offloads_optimizer)) return 2 * 2 * kOptimizerChunk * parameter_bytes(in);
    return moments_bytes(in);
}

double layer_unit_bytes(const MemoryInputs& in) {
    const UnitSizes sizes = unit_sizes(in.model);
    const double unit = padded(in, sizes.layer);
    const double weights = stage(in) == 3 ? 2 * unit * in.element_bytes() : 0;  // this layer's and the next's
    return weights + reduced_bytes(in, unit, std::max(unit, padded(in, sizes.head)));
}

double head_unit_bytes(const MemoryInputs& in) {
    const UnitSizes sizes = unit_sizes(in.model);
    const double layer = padded(in, sizes.layer);
    double head = padded(in, sizes.head);
    if (in.model.tie_word_embeddings) head += padded(in, sizes.embedding);
    const double weights = stage(in) == 3 ? (head + layer) * in.element_bytes() : 0;
    return weights + (stage(in) >= 2 ? head * parameter_bytes(in) : 0);
}

double embedding_unit_bytes(const MemoryInputs& in) {
    const UnitSizes sizes = unit_sizes(in.model);
    return reduced_bytes(in, padded(in, sizes.embedding), padded(in, sizes.layer));
}

double layer_input_bytes(const MemoryInputs& in) {
    return in.tokens() * hidden(in.model) * in.element_bytes();
}

double layer_saved_bytes(const MemoryInputs& in) {
    const ModelConfig& m = in.model;
    const double heads = double(m.num_heads), kv_heads = double(m.num_kv_heads);
    double elements = 2 * hidden(m)                                // input, and after attention's residual
                      + query_width(m) + 2 * kv_width(m);          // q, k, v, rotated
    double float32 = 2;                                            // two norms' rstd
    if (in.mlp_tile_tokens == 0) elements += 2 * intermediate(m);  // gate and up
    if (m.qk_norm) {
        elements += query_width(m) + kv_width(m);  // q and k before their norm
        float32 += heads + kv_heads;
    }
    return in.tokens() * (elements * in.element_bytes() + 4 * float32) + attention_output_bytes(in);
}

double kept_bytes(const MemoryInputs& in) {
    const double layers = double(in.model.num_layers);
    if (!in.gradient_checkpointing) return layers * layer_saved_bytes(in);
    const double recomputed = layer_saved_bytes(in) - checkpoint_bytes(in);  // of one layer
    if (!offloads(in, in.offloads_activations)) return layers * checkpoint_bytes(in) + recomputed;
    const double here = std::min(layers, 3.0);  // the layer's, one leaving or coming, one just used
    return here * layer_input_bytes(in) + layers * (checkpoint_bytes(in) - layer_input_bytes(in)) +
           recomputed;
}

double communication_bytes(const MemoryInputs& in) {
    if (in.ring == 1) return 0;
    const double kv = in.tokens() * 2 * kv_width(in.model), e = in.element_bytes();
    if (in.gathered_heads > 0) {
        // Of some heads the keys of all ranks, held and coming, and the own ones sent; in float32 the own
        // gradients, those computed, those under way from here, and those under way to here.
        const double share = std::min(1.0, double(in.gathered_heads) / double(in.model.num_kv_heads));
        const double all = share * in.ring * kv;
        return e * (2 * all + share * kv) + 4 * (kv + 2 * all + all);
    }
    // Sent and arriving, and from the third rank on held besides; in float32 the own gradients, those
    // computed and those under way to here, and from the third rank on those under way from here besides.
    const double more = in.ring > 2 ? 1 : 0;
    return (2 + more) * kv * e + (3 + more) * kv * 4;
}

double logits_bytes(const MemoryInputs& in) {
    const double chunk = std::min(kLossChunkTokens, in.tokens());
    const double softmax = in.device == Device::Cuda ? 4 : 0;  // in float32; on the CPU it is in place
    return chunk * double(in.model.vocab_size) * (in.element_bytes() + softmax);
}

double head_moment_bytes(const MemoryInputs& in) {
    // The last layer's output, its norm, and of that the rows that have a label (a sequence's last has none);
    // in the end the gradient, while the logits are still held.
    const double hidden_states = 3 * layer_input_bytes(in);
    const double head_gradient = gradient_copy_bytes(in, double(in.model.vocab_size) * hidden(in.model));
    const double recomputed = in.gradient_checkpointing ? layer_saved_bytes(in) - checkpoint_bytes(in) : 0;
    return hidden_states + logits_bytes(in) + std::max(head_gradient, layer_input_bytes(in)) -
           recomputed;  // kept_bytes counts a layer that is not recomputed yet
}

double mlp_moment_bytes(const MemoryInputs& in) {
    const double I = intermediate(in.model), e = in.element_bytes();
    const bool tiled = in.mlp_tile_tokens > 0;
    const double N = tiled ? std::min(in.tokens(), double(in.mlp_tile_tokens)) : in.tokens();
    const double of_tile = N / in.tokens();
    const double dx = layer_input_bytes(in) + (tiled ? 2 * N * I * e : 0);  // gate and up of the tile
    // gradient of the activation beside it; on CUDA by way of seven float32 tensors
    const double swiglu = N * I * (in.device == Device::Cuda ? e + 28 : 2 * e);
    const double down = N * I * e + gradient_copy_bytes(in, hidden(in.model) * I);
    const double gate_up =
        std::max(of_tile * norm_again_bytes(in),
                 of_tile * layer_input_bytes(in) + gradient_copy_bytes(in, 2 * hidden(in.model) * I));
    return dx + std::max({swiglu, down, gate_up});
}

double attention_moment_bytes(const MemoryInputs& in) {
    const ModelConfig& m = in.model;
    const double N = in.tokens(), e = in.element_bytes(), q = query_width(m), kv = kv_width(m);
    const double gate_up = in.mlp_tile_tokens > 0 ? 0 : 2 * N * intermediate(m) * e;
    const double freed = layer_input_bytes(in) + gate_up;  // the MLP's part of the layer
    // dq in float32 over the slices; where nothing is exchanged, those of k and v too
    const double sum = in.ring > 1 ? 4 * N * q : in.packed ? 4 * N * (q + 2 * kv) : 0;
    // flash attention's own on CUDA: dq in float32, dk and dv of every query head
    const double kernel = in.device == Device::Cuda ? N * q * (4 + 2 * e) : 0;
    const double attention = N * q * e + N * (q + 2 * kv) * e + sum + kernel + communication_bytes(in);
    const double weights = norm_again_bytes(in) + gradient_copy_bytes(in, hidden(m) * (q + 2 * kv));
    return layer_input_bytes(in) + std::max(attention, weights) - freed;
}

double embedding_moment_bytes(const MemoryInputs& in) {
    const double elements = double(in.model.vocab_size) * hidden(in.model);
    return layer_input_bytes(in) + (in.precision == Precision::Bf16Full ? 4 * elements : 0) - kept_bytes(in);
}

double offloaded_bytes(const MemoryInputs& in) {
    const double activations = double(in.model.num_layers) * layer_input_bytes(in);
    return (offloads(in, in.offloads_activations) ? activations : 0) +
           (offloads(in, in.offloads_optimizer) ? moments_bytes(in) : 0);
}

int64_t mlp_tile_tokens(const Config& config, const ModelConfig& model, int64_t tokens) {
    if (!config.tiled_mlp) return 0;
    constexpr int64_t kSmallest = 1024;
    if (!config.tiled_mlp_shards) return std::max(kSmallest, model.hidden_size);
    return std::max<int64_t>(1, (tokens + *config.tiled_mlp_shards - 1) / *config.tiled_mlp_shards);
}

RankMemory rank_memory(const MemoryInputs& in) {
    const Runtime& runtime = in.device == Device::Cuda ? kCudaRuntime : kCpuRuntime;
    const Slack& slack = in.device == Device::Cuda ? kCudaSlack : kCpuSlack;
    const double states = weight_bytes(in) + gradient_bytes(in) + optimizer_bytes(in);
    // ids and labels, the rotary tables
    const double inputs = 16 * in.tokens() + double(in.shard_tokens) * (4 * double(in.model.head_dim) + 8);
    const double named = logits_bytes(in) + communication_bytes(in);
    const double layer = std::max(mlp_moment_bytes(in), attention_moment_bytes(in));
    const double moment = std::max({head_moment_bytes(in) + head_unit_bytes(in), layer + layer_unit_bytes(in),
                                    embedding_moment_bytes(in) + embedding_unit_bytes(in), named});
    const double tensors = states + inputs + kept_bytes(in) + moment;

    RankMemory memory;
    memory.weights = whole(weight_bytes(in));
    memory.gradients = whole(gradient_bytes(in));
    memory.optimizer = whole(optimizer_bytes(in));
    memory.activations = whole(kept_bytes(in) + inputs);
    memory.workspace = whole(moment - named);
    memory.logits = whole(logits_bytes(in));
    memory.communication = whole(communication_bytes(in));
    memory.runtime = whole(runtime.expected);
    memory.total = memory.weights + memory.gradients + memory.optimizer + memory.activations +
                   memory.workspace + memory.logits + memory.communication + memory.runtime;
    memory.total_low = whole(slack.low * tensors + runtime.low);
    memory.total_high = whole(slack.high * tensors + runtime.high);
    return memory;
}

}  // namespace ringmaster
