/// A decoder as data: everything of a Hugging Face config.json that the arithmetic and the memory depend on.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/activation.h"
#include "engine/config/lora.h"
#include "engine/config/quantization.h"

namespace ringmaster {

/// Rotary embedding and its scalings, as transformers' modeling_rope_utils names them.
struct RopeConfig {
    std::string type = "default";  ///< default, linear, dynamic, yarn, llama3, longrope
    double theta = 10000;
    double factor = 1;
    int64_t rotary_dim = 0;    ///< of a head's first elements that turn; 0: all
    bool interleaved = false;  ///< elements 2i and 2i + 1 turn together, not i and i + half
    int64_t original_max_position_embeddings = 0;
    double low_freq_factor = 1;              ///< llama3
    double high_freq_factor = 4;             ///< llama3
    std::optional<double> attention_factor;  ///< yarn, longrope
    double beta_fast = 32;                   ///< yarn
    double beta_slow = 1;                    ///< yarn
    std::optional<double> mscale;            ///< yarn
    std::optional<double> mscale_all_dim;
    bool truncate = true;  ///< yarn: round the correction range
    /// longrope: divisors of the frequencies for sequences up to the original length, and for longer ones
    std::vector<double> short_factor, long_factor;
    /// Queries are scaled by 1 + beta · log(1 + ⌊position / original length⌋).
    double query_scale_beta = 0;
};

/// RMSNorm of queries and keys: over each head, or over all heads together.
enum class QkNorm { None, PerHead, Whole };

/// Holds how far attention sees in a layer, and which rotary embedding turns it.
struct LayerKind {
    std::optional<int64_t> window;
    int rope = 0;  ///< index in ModelConfig::ropes; -1: positions do not turn anything
    bool operator==(const LayerKind&) const = default;
};

struct ModelConfig {
    std::string model_type;  ///< for messages; nothing is decided by it outside the families' tables
    int64_t hidden_size = 0;
    int64_t num_layers = 0;
    int64_t num_heads = 0;
    int64_t num_kv_heads = 0;
    int64_t head_dim = 0;
    int64_t intermediate_size = 0;
    int64_t vocab_size = 0;
    int64_t max_position_embeddings = 0;
    /// The token whose row of the embedding learns nothing from the inputs (padding_idx of
    /// torch.nn.Embedding).
    std::optional<int64_t> padding_token;
    double rms_norm_eps = 1e-6;
    double initializer_range = 0.02;
    bool tie_word_embeddings = false;
    bool qkv_bias = false;
    bool output_bias = false;  ///< on o_proj
    bool mlp_bias = false;
    bool head_bias = false;
    QkNorm qk_norm = QkNorm::None;
    bool qk_norm_after_rotary = false;
    bool layer_norms = false;      ///< LayerNorm in place of RMSNorm
    bool norm_biases = false;      ///< with layer_norms
    bool norm_adds_one = false;    ///< norms multiply by 1 + weight
    bool norms_inputs = true;      ///< before attention and before the MLP
    bool norms_outputs = false;    ///< after attention and after the MLP, before the residual is added
    bool parallel_blocks = false;  ///< attention and MLP read the same input and are added together
    bool parallel_norms = false;   ///< with parallel_blocks: the MLP has a norm of its own
    GateRule gate;
    double attention_scale = 0;  ///< 0: head_dim^-1/2
    double score_softcap = 0;    ///< c · tanh(score / c); 0: none
    double logit_softcap = 0;
    double embedding_multiplier = 1;
    double residual_multiplier = 1;
    double logit_multiplier = 1;
    std::optional<int64_t> sliding_window;  ///< set if some layer uses it
    std::vector<RopeConfig> ropes = {{}};   ///< never empty; the first is that of layers that see everything
    std::vector<LayerKind> layers;          ///< empty: all are {sliding_window, 0}
    int64_t num_experts = 0;                ///< above 0: a mixture of experts
    int64_t experts_per_token = 0;
    int64_t expert_intermediate_size = 0;         ///< of one expert
    int64_t shared_expert_intermediate_size = 0;  ///< 0: no shared expert
    Quantization quantization;                    ///< of a folder whose weights are quantised
    /// Files of a multimodal wrapper's text part have it in place of "model."; empty: this is no such part.
    std::string weight_prefix;
    /// Names the fields of config.json that ask for something the engine does not compute.
    std::vector<std::string> obstacles;

    LayerKind layer_kind(int64_t layer) const;
    std::vector<LayerKind> layer_kinds() const;  ///< the different ones, in the order of their first layers
    bool trainable() const { return obstacles.empty(); }
};

/// Says where in the decoder a parameter is used.
enum class Role {
    Embedding,
    InputNorm,  ///< before attention
    Query,
    Key,
    Value,
    QueryBias,
    KeyBias,
    ValueBias,
    QueryNorm,
    KeyNorm,
    Output,
    OutputBias,
    PostAttentionNorm,  ///< on attention's output
    MlpNorm,            ///< before the MLP
    Gate,
    Up,
    GateBias,
    UpBias,
    Down,
    DownBias,
    PostMlpNorm,  ///< on the MLP's output
    FinalNorm,
    Head,
    NormBias,  ///< of the norm before it
    HeadBias,
    Expert,  ///< of a mixture of experts
    LoraA,
    LoraB
};

/// Points to a parameter in the files: it is some rows of a tensor that several may share.
struct Stored {
    std::string name;
    int64_t first_row = 0;
    int64_t rows = 0;  ///< of the whole tensor
};

/// One parameter tensor in the order in which the engine keeps them: embedding, each layer (in the order of
/// Role; a norm's bias behind it), final norm, head (unless tied). Names are those of Hugging Face's Llama,
/// and `stored` says what the files call them.
struct ParameterShape {
    std::string name;
    std::vector<int64_t> shape;
    bool decays = true;  ///< false: a norm or a bias
    int layer = -1;      ///< -1: not in a layer
    Role role = Role::Embedding;
    Stored stored = {};  ///< empty: under its own name, alone
    int64_t size() const;
    const std::string& file_name() const { return stored.name.empty() ? name : stored.name; }
    bool is_fused() const { return !stored.name.empty() && stored.rows != shape.front(); }
};

std::vector<ParameterShape> parameter_shapes(const ModelConfig& model);
int64_t parameter_count(const ModelConfig& model);

/// An adapter's parameters by the names that PEFT saves: of each module A, then B, in the modules' order.
std::vector<ParameterShape> lora_shapes(const ModelConfig& model, const Lora& lora);
/// Elements of one adapted layer's; these are alike.
int64_t lora_layer_count(const ModelConfig& model, const Lora& lora);

/// Elements of each rank's slice where `elements` are shared by so many ranks: a multiple of 16 (a cache line
/// of float32), the last slices padded; all of them on one rank.
int64_t slice_elements(int64_t elements, int shards);
/// Elements of the units that states are sharded by: the embedding, one layer, final norm and head.
struct UnitSizes {
    int64_t embedding = 0, layer = 0, head = 0;
};
UnitSizes unit_sizes(const ModelConfig& model);
/// Elements of all the slices that one rank holds.
int64_t sharded_count(const ModelConfig& model, int shards);

/// Reads `config.json` (transformers 4 and 5 spellings). Throws Error(Refused): a missing or mistyped field
/// by name. A field that is valid but not computed here becomes an obstacle.
ModelConfig model_config_from_json(const nlohmann::json& json, const std::string& where);

/// Throws Error(Usage) where the folder holds no config.json, Error(Refused) where it cannot be read.
ModelConfig read_model_config(const std::string& model_dir);

/// Looks a hub id up in the table of well-known models, then in the Hugging Face cache (`hf_cache_dir`, e.g.
/// ~/.cache/huggingface/hub).
std::optional<ModelConfig> find_model_config(const std::string& hub_id, const std::string& hf_cache_dir);

/// Every field by its own name, as plan.json has it; read back by model_config_from_record, which throws
/// Error(Refused) on a field of another type or out of range.
nlohmann::json model_config_to_json(const ModelConfig& model);
ModelConfig model_config_from_record(const nlohmann::json& json, const std::string& where);

}  // namespace ringmaster
