/// Describes a decoder as data: everything in a Hugging Face config.json that arithmetic or memory depend on.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/activation.h"
#include "engine/config/lora.h"
#include "engine/config/quantization.h"
#include "engine/families/delta_sizes.h"
#include "engine/families/latent_sizes.h"
#include "engine/families/router_rule.h"

namespace ringmaster {

/// Holds a rotary embedding and its scaling, with the names of transformers' modeling_rope_utils.
struct RopeConfig {
    std::string type = "default";  ///< default, linear, dynamic, yarn, llama3, longrope, proportional
    double theta = 10000;
    double factor = 1;
    int64_t rotary_dim = 0;    ///< number of leading elements of a head that are rotated; 0 means all
    double share = 1;          ///< for `proportional`: share of the pairs, the first ones, that are rotated
    bool interleaved = false;  ///< rotates elements 2i and 2i + 1 together, not i and i + half
    int64_t original_max_position_embeddings = 0;
    double low_freq_factor = 1;              ///< llama3
    double high_freq_factor = 4;             ///< llama3
    std::optional<double> attention_factor;  ///< yarn, longrope
    double beta_fast = 32;                   ///< yarn
    double beta_slow = 1;                    ///< yarn
    std::optional<double> mscale;            ///< yarn
    std::optional<double> mscale_all_dim;
    bool truncate = true;  ///< for yarn: round the correction range to integers
    /// longrope: divisors of the frequencies for sequences up to the original length, and for longer ones
    std::vector<double> short_factor, long_factor;
    /// Scales queries by 1 + beta · log(1 + ⌊position / original length⌋).
    double query_scale_beta = 0;
};

/// Chooses the norm of queries and keys: none, over each head, or over all heads together.
enum class QkNorm { None, PerHead, Whole };

/// Describes a kind of layer: how far its attention sees and which rotary embedding it uses, or that a
/// recurrence takes attention's place.
struct LayerKind {
    std::optional<int64_t> window = {};
    int rope = 0;  ///< index in ModelConfig::ropes; -1 if the layer has no rotary embedding
    bool is_recurrent = false;
    bool dense = false;        ///< in a mixture of experts, the layer has an MLP instead of experts
    bool global = false;       ///< the layer's heads have the sizes of ModelConfig::global_heads
    bool lacks_mixer = false;  ///< the layer has only an MLP or experts, and their norm
    bool lacks_mlp = false;    ///< the layer has only attention or a recurrence, and their norm
    /// Index of the earlier layer whose keys and values this layer reads; -1 if this layer computes its keys
    /// and values.
    int64_t keys_of = -1;
    bool wide = false;  ///< the layer's MLP is as wide as ModelConfig::wide_intermediate_size
    bool attends() const { return !is_recurrent && !lacks_mixer; }
    bool operator==(const LayerKind&) const = default;
};

/// Holds the sizes of the heads of layers whose kind is global.
struct HeadSizes {
    int64_t head_dim = 0, kv_heads = 0;
    bool values_are_keys = false;
};

struct ModelConfig {
    std::string model_type;  ///< named in messages; only the families' tables depend on it
    int64_t hidden_size = 0;
    int64_t num_layers = 0;
    int64_t num_heads = 0;
    int64_t num_kv_heads = 0;
    int64_t head_dim = 0;
    int64_t intermediate_size = 0;
    int64_t wide_intermediate_size = 0;  ///< width of the MLP in layers whose kind is wide
    int64_t vocab_size = 0;
    int64_t max_position_embeddings = 0;
    /// The token whose row of the embedding gets no gradient from the inputs (padding_idx of
    /// torch.nn.Embedding).
    std::optional<int64_t> padding_token;
    double rms_norm_eps = 1e-6;
    double initializer_range = 0.02;
    bool tie_word_embeddings = false;
    int64_t num_labels = 0;  ///< if above 0, the head gives a score to each label instead of logits of tokens
    bool qkv_bias = false;
    bool output_bias = false;  ///< bias of o_proj
    bool mlp_bias = false;
    bool head_bias = false;
    bool qkv_by_heads = false;  ///< one matrix holds each head's queries, keys and values in turn
    QkNorm qk_norm = QkNorm::None;
    bool qk_norm_after_rotary = false;
    bool norms_values = false;     ///< each head's values go through an RMSNorm without weights
    bool values_are_keys = false;  ///< values are the keys before their norm and rotation
    HeadSizes global_heads;        ///< sizes of the heads in layers whose kind is global
    /// If true, the layer computes only queries, and reads keys and values of the layer LayerKind::keys_of.
    /// of_kind() sets this.
    bool borrows_keys = false;
    /// If above 0, each layer also reads an input of this width, from a second embedding of the tokens and
    /// from the first one's output (engine/blocks/layer_input.h).
    int64_t layer_input_width = 0;
    int64_t layer_inputs_width = 0;       ///< width of all layers' inputs together
    int64_t layer_inputs_vocabulary = 0;  ///< rows of the second embedding
    /// Each layer multiplies its output by a separate number, which is not trained.
    bool layer_scalars = false;
    bool attention_sinks = false;  ///< each head has a learned logit that joins every softmax
    bool layer_norms = false;      ///< LayerNorm instead of RMSNorm
    bool norm_biases = false;      ///< LayerNorm has biases
    bool norm_adds_one = false;    ///< norms multiply by 1 + weight instead of weight
    bool norms_inputs = true;      ///< norms precede attention and the MLP
    bool norms_outputs = false;    ///< norms follow attention and the MLP, before the residual is added
    bool parallel_blocks = false;  ///< attention and MLP read the same input and are added together
    bool parallel_norms = false;   ///< with parallel_blocks, the MLP has a separate norm
    GateRule gate;
    /// Attention's output is multiplied by sigmoid(gate): q_proj gives a query and a gate of each head in
    /// turn.
    bool gates_attention = false;
    /// Sizes of recurrent layers, or of each layer's recurrence if each layer has attention and a recurrence.
    DeltaSizes delta;
    LatentSizes latent;          ///< sizes of attention with latents, whose heads are padded to head_dim
    double attention_scale = 0;  ///< factor of the scores; 0 means head_dim^-1/2
    double score_softcap = 0;    ///< c in c · tanh(score / c); 0 if scores have no cap
    double logit_softcap = 0;
    double embedding_multiplier = 1;
    /// Rounds embedding_multiplier to the dtype of computation, as Gemma's class does.
    bool rounds_embedding_multiplier = false;
    double residual_multiplier = 1;
    double attention_multiplier = 1;  ///< multiplies attention's output
    double gate_multiplier = 1;       ///< multiplies an MLP's gate before its activation
    double mlp_multiplier = 1;        ///< multiplies an MLP's output
    double logit_multiplier = 1;
    std::optional<int64_t> sliding_window;  ///< set if at least one layer has a window
    std::vector<RopeConfig> ropes = {{}};   ///< never empty; the first is for layers without a window
    std::vector<LayerKind> layers;          ///< if empty, every layer is {sliding_window, 0}
    int64_t num_experts = 0;                ///< above 0 in a mixture of experts
    int64_t experts_per_token = 0;
    int64_t expert_intermediate_size = 0;  ///< width of one expert
    int64_t expert_latent_size = 0;        ///< width of the experts' inputs and outputs; 0 means hidden_size
    int64_t shared_expert_intermediate_size = 0;  ///< 0 if there is no shared expert
    bool gates_shared_expert = true;              ///< a sigmoid gate multiplies the shared expert's output
    bool norms_expert_weights = false;            ///< a token's chosen experts have weights that add up to 1
    bool expert_biases = false;                   ///< the router and every expert's matrices have biases
    bool experts_beside_mlp = false;              ///< layers with experts have an MLP too
    bool experts_transposed = false;              ///< the matrices of experts are stored [inputs, outputs]
    RouterRule router;
    bool adds_router_loss = false;  ///< training adds router_loss_coefficient · the router's loss
    double router_loss_coefficient = 0.001;
    Quantization quantization;  ///< set if the folder's weights are quantised
    /// Replaces "model." in the files of a multimodal wrapper's text part; empty for other models.
    std::string weight_prefix;
    /// Names the fields of config.json that require something the engine does not compute.
    std::vector<std::string> obstacles;

    LayerKind layer_kind(int64_t layer) const;
    bool has_experts(const LayerKind& kind) const {
        return num_experts > 0 && !kind.dense && !kind.lacks_mlp;
    }
    int64_t sparse_layers() const;  ///< number of layers with experts
    /// Returns the width of an expert's input and output.
    int64_t expert_outer_size() const { return expert_latent_size > 0 ? expert_latent_size : hidden_size; }
    bool lends_keys(int64_t layer) const;  ///< returns whether other layers read this layer's keys
    /// Returns the width of a head's output.
    int64_t value_width() const { return latent.on() ? latent.value_width : head_dim; }
    /// Returns the distinct kinds of attention, ordered by first layer.
    std::vector<LayerKind> layer_kinds() const;
    bool has_recurrent_layers() const;  ///< returns whether a layer is recurrent, with or without attention
    /// Returns whether each layer has attention and a recurrence, which read the same input.
    bool has_attention_and_recurrence() const {
        return delta.state_space.on && delta.state_space.beside_attention;
    }
    /// Returns the model with the sizes that a layer of this kind has.
    ModelConfig of_kind(const LayerKind& kind) const;
    ModelConfig of_layer(int64_t layer) const { return of_kind(layer_kind(layer)); }
    bool trainable() const { return obstacles.empty(); }
    int64_t head_rows() const { return num_labels > 0 ? num_labels : vocab_size; }
};

/// Says where in the decoder a parameter is used.
enum class Role {
    Embedding,
    LayerInputs,  ///< any tensor outside the layers that makes the inputs of layers
    InputNorm,    ///< norm before attention
    Query,
    Key,
    Value,
    Latent,  ///< any matrix or norm from which queries, keys and values come through latents
    QueryBias,
    KeyBias,
    ValueBias,
    QueryNorm,
    KeyNorm,
    Sinks,  ///< logit of each head in attention's softmax
    Output,
    OutputBias,
    PostAttentionNorm,  ///< norm of attention's output
    MlpNorm,            ///< norm before the MLP
    Gate,
    Up,
    GateBias,
    UpBias,
    Down,
    DownBias,
    PostMlpNorm,  ///< norm of the MLP's output
    FinalNorm,
    Head,
    Recurrence,  ///< any tensor of a layer's recurrence
    NormBias,    ///< bias of the preceding norm
    HeadBias,
    LayerScalar,  ///< multiplies a layer's output, not trained
    Router,
    RouterBias,
    RouterCorrection,  ///< bias of the experts' scores, not trained
    RouterNorm,        ///< weights of the norm before the router
    ExpertScales,      ///< multiply the weights of a token's experts
    ExpertGateUp,      ///< [experts, 2 · width, hidden], or with the last two dimensions transposed
    ExpertGateUpBias,
    ExpertDown,  ///< [experts, hidden, width], or its transpose
    ExpertDownBias,
    SharedExpert,  ///< any tensor of an expert that every token uses
    ExpertLatent,  ///< a matrix between the hidden states and what experts read or return
    LayerInput,    ///< any tensor of the block that reads a layer's input
    LoraA,
    LoraB,
    LoraMagnitude  ///< DoRA's length of each row, [outputs]
};

/// Returns whether the parameter is in the embedding's unit.
inline bool is_of_embedding(Role role) {
    return role == Role::Embedding || role == Role::LayerInputs;
}

/// Returns true if the first dimension of this role's parameters is the experts; false for the router's
/// parameters.
constexpr bool is_of_stacked_experts(Role role) {
    return role == Role::ExpertGateUp || role == Role::ExpertGateUpBias || role == Role::ExpertDown ||
           role == Role::ExpertDownBias;
}

/// Locates a parameter in the files: a tensor, or several.
struct Stored {
    std::string name;
    /// Names of matrices of equal size that hold the parameter, one below the other; usually empty.
    std::vector<std::string> parts = {};
    bool stacked = false;  ///< there is only one part, which has the parameter's shape
};

/// Describes one parameter as the files store it. If a family's files fuse modules (queries, keys and values;
/// gate and up), they are one parameter, with the name of the first module. The engine keeps parameters in
/// this order: embedding, each layer (ordered by Role, each norm's bias after the norm), final norm, head
/// (unless tied). Names follow Hugging Face's Llama; `stored` holds the name in the files.
struct ParameterShape {
    std::string name;
    std::vector<int64_t> shape;
    bool decays = true;  ///< whether weight decay applies; false for norms and biases
    int layer = -1;      ///< -1 if the parameter is outside the layers
    Role role = Role::Embedding;
    Stored stored = {};  ///< if empty, the parameter is stored under `name`
    int64_t size() const;
    std::vector<int64_t> part_shape() const;  ///< shape of each of stored.parts
    const std::string& file_name() const { return stored.name.empty() ? name : stored.name; }
};

/// Returns whether transformers has a class of this model that gives scores to sequences, or to tokens.
bool has_score_class(const ModelConfig& model, bool of_tokens);
/// Returns the model with that class's head: `score`, with a bias if it scores tokens, in place of lm_head
/// and of everything that changes the logits of tokens.
ModelConfig with_scores(ModelConfig model, int64_t labels, bool of_tokens);

std::vector<ParameterShape> parameter_shapes(const ModelConfig& model);
/// Returns tensors that the model reads and that are not trained, float32.
std::vector<ParameterShape> buffer_shapes(const ModelConfig& model);
int64_t parameter_count(const ModelConfig& model);

/// Returns an adapter's parameters with PEFT's names: A, then B, for each module in the modules' order.
std::vector<ParameterShape> lora_shapes(const ModelConfig& model, const Lora& lora);

/// Returns the elements of each rank's slice if `shards` ranks share `elements`: a multiple of 16 (a cache
/// line of float32), with the last slices padded. Returns `elements` for one shard.
int64_t slice_elements(int64_t elements, int shards);
/// Numbers of elements in the units by which states are sharded: the embedding, the largest layer, and the
/// final norm with the head.
struct UnitSizes {
    int64_t embedding = 0, layer = 0, head = 0;
};
UnitSizes unit_sizes(const ModelConfig& model);

/// Reads `config.json` (spellings of transformers 4 and 5). Throws Error(Refused) with the field's name if a
/// field is missing or has a wrong type. A valid field that the engine does not support becomes an obstacle.
ModelConfig model_config_from_json(const nlohmann::json& json, const std::string& where);

/// Reads the folder's config.json. Throws Error(Usage) if there is none, Error(Refused) if it is invalid.
ModelConfig read_model_config(const std::string& model_dir);

/// Looks up a hub id in the table of well-known models, then in the Hugging Face cache (`hf_cache_dir`, e.g.
/// ~/.cache/huggingface/hub).
std::optional<ModelConfig> find_model_config(const std::string& hub_id, const std::string& hf_cache_dir);

/// Writes every field under its own name, as in plan.json; model_config_from_record reads them back and
/// throws Error(Refused) if a field has a wrong type or is out of range.
nlohmann::json model_config_to_json(const ModelConfig& model);
ModelConfig model_config_from_record(const nlohmann::json& json, const std::string& where);

}  // namespace ringmaster
