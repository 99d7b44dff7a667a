/// Memory of one rank, component by component, from the tensors that the engine allocates
/// (engine/model/decoder.cpp, engine/attention/sharded_attention.cpp, engine/train/optimizer.cpp). Bytes, as
/// doubles: sizes multiply far.
///
/// Letters: N local tokens of one micro-batch (rows × tokens of the shard), C hidden, H query heads, K
/// key/value heads, D head_dim, I intermediate, V vocabulary, L layers, e bytes of an element of computation
/// (4, or 2 in bfloat16).
#pragma once

#include "engine/config/optimizers.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// All that a rank's memory depends on.
struct MemoryInputs {
    ModelConfig model;
    Precision precision = Precision::Float32;
    Device device = Device::Cpu;
    bool gradient_checkpointing = false;
    int64_t micro = 1;         ///< rows of a micro-batch
    int64_t shard_tokens = 0;  ///< of one row, the largest shard
    int ring = 1;
    int ulysses = 1;
    bool packed = false;         ///< rows of documents: attention by slices, on one rank too
    int64_t gathered_heads = 0;  ///< key/value heads gathered at a time; 0: they go round the ring
    int zero_stage = 0;
    int shards = 1;                     ///< ranks that sharded states are shared by
    bool keeps_attention = false;       ///< with checkpointing: attention's output is not computed again
    int64_t mlp_tile_tokens = 0;        ///< of an MLP in tiles; 0: whole
    bool offloads_activations = false;  ///< what checkpointing keeps lies in host memory; CUDA alone
    bool offloads_optimizer = false;    ///< its moments do; CUDA alone
    RingAttnFunc layout = RingAttnFunc::BatchZigzag;
    int ring_rank = 0;
    int64_t window = 0;  ///< sliding, the widest of the layers; 0: none
    int threads = 1;     ///< of the rank's process
    StateKind optimizer_states = StateKind::AsWeights;
    UpdateRule optimizer_rule = UpdateRule::AdamW;
    bool optimizer_momentum = false;  ///< Sgd and rmsprop keep one.
    bool optimizer_centered = false;  ///< Rmsprop keeps the gradient's average.
    Lora lora = {};  ///< an adapter: of frozen weights are no gradients and no optimizer's states
    Quantization quantization = {};  ///< of those frozen weights

    /// What is beyond the states, measured ÷ predicted of a run like this one; 1 where nothing was measured.
    double measured_ratio = 1;
    MemoryBasis basis = MemoryBasis::Formula;

    double tokens() const { return double(micro) * double(shard_tokens); }
    double element_bytes() const { return precision == Precision::Float32 ? 4 : 2; }
    /// Products of bfloat16 are made in float32 where the processor has none (engine/model/ops.cpp).
    bool widens() const;
};

/// Of the layers' MLP; a token meets experts_per_token experts where there are experts.
double intermediate_width(const ModelConfig& model);
/// Outputs of an MLP's first product: those of gate and up, or of up alone.
double gate_up_width(const ModelConfig& model);

// States: whole on every rank, or this rank's slices (engine/model/parameters.h) by the ZeRO stage.
/// With the bfloat16 copy under `bf16: true`; of frozen weights only that, or their quantised bytes, and the
/// adapter's.
double weight_bytes(const MemoryInputs& in);
double gradient_bytes(const MemoryInputs& in);
double optimizer_bytes(const MemoryInputs& in);  ///< its states, as numbers or codes

// Activations kept from the forward for the backward.
double layer_input_bytes(const MemoryInputs& in);       ///< of one layer
double layer_saved_bytes(const MemoryInputs& in);       ///< of one layer, its input included
double attention_output_bytes(const MemoryInputs& in);  ///< of one layer, with the log-sum-exp
double kept_bytes(const MemoryInputs& in, double layers);

// Whole units of sharded states beside the slices: weights gathered (stage 3), gradients computed and being
// reduced (stage 2 and 3), what is received of them.
double layer_forward_unit_bytes(const MemoryInputs& in);
double layer_unit_bytes(const MemoryInputs& in,
                        bool is_last);  ///< in the backward; before the last, the head's
double head_unit_bytes(const MemoryInputs& in);
double embedding_unit_bytes(const MemoryInputs& in);

/// Expected total = the most that tensors take at once (engine/plan/memory_trace.h), and the runtime. The
/// components sum to the total: logits and the ring's buffers are what they take at their own most,
/// `workspace` is what that moment needs beyond them. low and high: tensors 3 % less, and 6 % (CPU) or 12 %
/// (CUDA) more for the allocator, with the runtime's own bounds; half of that where a run like this one was
/// measured, and 1 % where this one was.
RankMemory rank_memory(const MemoryInputs& in);

/// What a rank keeps in host memory instead, pinned.
double offloaded_bytes(const MemoryInputs& in);

/// Of a rank's `tokens` (rows × shard): as many as tiled_mlp_num_shards asks for, else as many as the hidden
/// state is wide (ALST, arXiv 2506.13996, section 3.1.2), but 1,024 at least; 0 where MLPs are whole.
int64_t mlp_tile_tokens(const Config& config, const ModelConfig& model, int64_t tokens);

}  // namespace ringmaster
