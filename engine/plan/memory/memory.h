/// Estimates the memory of one rank, component by component, from the tensors that the engine allocates
/// (engine/blocks, engine/model/tensor_machine.cpp, engine/attention/sharded_attention.cpp and
/// engine/optimizers/optimizer.cpp). Sizes are bytes in doubles, because the products exceed integers.
///
/// Letters: N local tokens of one micro-batch (rows × tokens of the shard), C hidden, H query heads, K
/// key/value heads, D head_dim, I intermediate, V vocabulary, L layers, e bytes per element in computation
/// (4, or 2 in bfloat16).
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "engine/config/optimizers.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// Holds everything that a rank's memory depends on.
struct MemoryInputs {
    ModelConfig model;
    Precision precision = Precision::Float32;
    Device device = Device::Cpu;
    bool gradient_checkpointing = false;
    int64_t micro = 1;         ///< rows in a micro-batch
    int64_t shard_tokens = 0;  ///< tokens of one row in the largest shard, or in the largest chunk of it
    int ring = 1;
    int ulysses = 1;
    bool packed = false;         ///< rows hold documents, so attention works by slices even on one rank
    int64_t gathered_heads = 0;  ///< key/value heads gathered at a time; 0: keys pass round the ring
    int zero_stage = 0;
    int shards = 1;        ///< ranks that share sharded states
    int replicas = 1;      ///< groups of `shards` ranks
    int expert_parts = 1;  ///< parts of the shards; each part computes a share of the experts
    int nodes = 1;
    bool keeps_attention = false;  ///< checkpointing does not compute attention's output again
    int64_t mlp_tile_tokens = 0;   ///< tokens per MLP tile; 0: whole MLPs
    // Each flag says that the named tensors are kept in host memory; see engine/config/offloading.h and
    // engine/model/parameters.h.
    bool offloads_activations = false;  ///< checkpoints
    bool offloads_optimizer = false;    ///< the optimizer's states
    bool states_in_host = false;        ///< gradients and the master weights, which the CPU updates
    bool weights_in_host = false;       ///< weights for computation, copied to the device a layer ahead
    bool optimizer_on_disk = false;     ///< true with offloads_optimizer if the states are on a disk
    int ranks = 1;                      ///< ranks of the whole run
    RingAttnFunc layout = RingAttnFunc::BatchZigzag;
    int ring_rank = 0;
    int64_t window = 0;  ///< widest sliding window of all layers; 0: none
    int threads = 1;     ///< threads of the rank's process
    StateKind optimizer_states = StateKind::AsWeights;
    UpdateRule optimizer_rule = UpdateRule::AdamW;
    bool optimizer_momentum = false;  ///< true: sgd or rmsprop keeps a momentum
    bool optimizer_centered = false;  ///< true: rmsprop keeps the gradient's average
    Lora lora = {};  ///< the adapter; weights that it freezes have no gradients and no optimizer states
    Quantization quantization = {};    ///< format of the frozen weights
    bool keeps_first_weights = false;  ///< keeps a copy of the trained weights as they were at the start
    int64_t chunks = 1;                ///< parts of the shard that are computed one after the other
    int64_t evaluated = 0;             ///< rows in a micro-batch of an evaluation; 0: nothing is evaluated
    std::optional<double> link = {};   ///< measured bytes per second between two ranks of a node

    /// Measured ÷ predicted memory besides the states, of a run like this one; 1 if nothing was measured.
    double measured_ratio = 1;
    MemoryBasis basis = MemoryBasis::Formula;

    /// Returns the inputs with the sizes of this layer, and with everything else unchanged.
    MemoryInputs of_layer(int64_t layer) const {
        MemoryInputs own = *this;
        own.model = model.of_layer(layer);
        return own;
    }
    double tokens() const { return double(micro) * double(shard_tokens); }
    double element_bytes() const { return precision == Precision::Float32 ? 4 : 2; }
    /// Returns whether bfloat16 products are computed in float32, because the CPU cannot multiply bfloat16
    /// (engine/model/ops.cpp).
    bool widens() const;
    /// Returns a layer's sliding window; 0 if it has none.
    int64_t window_of(const LayerKind& kind) const {
        return model.layers.empty() ? window : kind.window.value_or(0);
    }
};

// States. The ZeRO stage decides whether a rank holds them whole or only its slices
// (engine/model/parameters.h).
/// Includes the bfloat16 copy under `bf16: true`; frozen weights take only that copy, or their quantised
/// bytes, plus the adapter's weights.
double weight_bytes(const MemoryInputs& in);
double gradient_bytes(const MemoryInputs& in);
double optimizer_bytes(const MemoryInputs& in);  ///< all states, as numbers or codes

// Activations kept from the forward pass for the backward pass.
double layer_input_bytes(const MemoryInputs& in);       ///< input of one layer
double attention_output_bytes(const MemoryInputs& in);  ///< output and log-sum-exp of one layer
double heads_bytes(const MemoryInputs& in);  ///< bytes that a Ulysses rank keeps for the heads that it owns
/// Returns the bytes of one layer's keys and values, as chunks hold them: a Ulysses rank holds at least one
/// head.
double keys_bytes(const MemoryInputs& in);
double layer_inputs_bytes(const MemoryInputs& in);  ///< inputs of all layers, or their gradients

// Memory for whole units of sharded or offloaded states, beyond the states that are kept: weights that were
// gathered or came from the host, gradients during computation, reduction and their way to the host, and
// received gradients.
/// Returns the bytes in the forward pass, while the head's weights arrive.
double layer_forward_unit_bytes(const MemoryInputs& in, int64_t layer);
double layer_unit_bytes(const MemoryInputs& in, int64_t layer);  ///< in the backward pass
double head_unit_bytes(const MemoryInputs& in);
double embedding_unit_bytes(const MemoryInputs& in);

/// The expected total is the peak of all tensors (engine/plan/memory/memory_trace.h) plus the runtime: on a
/// GPU the CUDA context and the memory that NCCL takes for the mesh (engine/plan/memory/nccl_memory.h). The
/// components sum to the total: logits and the ring's buffers are their own peaks; `workspace` is the rest of
/// the overall peak. The low and high totals use the runtime's bounds and, because of the allocator, 3 % less
/// and 6 % (CPU) or 12 % (CUDA) more for tensors. These margins halve if a similar run was measured, and are
/// 1 % if this run was measured.
RankMemory rank_memory(const MemoryInputs& in);

/// Returns the bytes of optimizer states that a rank keeps on a disk (engine/optimizers/disk_numbers.h).
double disk_bytes(const MemoryInputs& in);

/// Returns the bytes that a rank keeps in host memory instead of device memory (engine/model/host_arena.h).
double offloaded_bytes(const MemoryInputs& in);

/// Tensors of one kind at the memory peak of the rank that takes the most.
struct LargeTensor {
    std::string name;
    int64_t bytes = 0;
    double share = 0;  ///< share of the peak
};
/// Returns the tensors that take more than 5 % of the peak, the largest first; none if the model's shape is
/// unknown.
std::vector<LargeTensor> largest_tensors(const Plan& plan);

/// Returns the tokens per MLP tile, of a rank's `tokens` (rows × shard); 0 if MLPs are computed whole. With
/// `tiled_mlp: true`, tiled_mlp_num_shards sets the tile, else the hidden size does (ALST, arXiv 2506.13996,
/// section 3.1.2); it has at least 1,024. With `auto`, MLPs are tiled if the backward pass recomputes gate
/// and up anyway. Tiles are then so large that adding each tile's part to the weights' gradients takes no
/// noticeable time.
int64_t mlp_tile_tokens(const Config& config, const ModelConfig& model, int64_t tokens);

}  // namespace ringmaster
