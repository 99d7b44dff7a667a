/// A Hugging Face config.json of a Llama-family decoder: everything that the arithmetic and the memory depend
/// on.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/lora.h"
#include "engine/config/quantization.h"

namespace ringmaster {

/// Rotary embedding and its scalings, as transformers' modeling_rope_utils names them.
struct RopeConfig {
    std::string type = "default";  ///< default, linear, dynamic, yarn, llama3
    double theta = 10000;
    double factor = 1;
    int64_t original_max_position_embeddings = 0;
    double low_freq_factor = 1;              ///< llama3
    double high_freq_factor = 4;             ///< llama3
    std::optional<double> attention_factor;  ///< yarn
    double beta_fast = 32;                   ///< yarn
    double beta_slow = 1;                    ///< yarn
    std::optional<double> mscale;            ///< yarn
    std::optional<double> mscale_all_dim;
    bool truncate = true;  ///< yarn: round the correction range
};

struct ModelConfig {
    std::string model_type;  ///< llama, mistral, qwen2, qwen3; others have a shape only (memory, time), no
                             ///< arithmetic here
    int64_t hidden_size = 0;
    int64_t num_layers = 0;
    int64_t num_heads = 0;
    int64_t num_kv_heads = 0;
    int64_t head_dim = 0;
    int64_t intermediate_size = 0;
    int64_t vocab_size = 0;
    int64_t max_position_embeddings = 0;
    double rms_norm_eps = 1e-6;
    double initializer_range = 0.02;
    bool tie_word_embeddings = false;
    bool qkv_bias = false;     ///< Qwen2, or Llama's attention_bias
    bool output_bias = false;  ///< on o_proj: Llama's attention_bias
    bool mlp_bias = false;
    bool qk_norm = false;                   ///< Qwen3: RMSNorm over head_dim of q and k
    std::optional<int64_t> sliding_window;  ///< set where some layer uses it
    RopeConfig rope;
    int64_t num_experts = 0;  ///< above 0: a mixture of experts, planned only
    int64_t experts_per_token = 0;
    int64_t expert_intermediate_size = 0;         ///< of one expert
    int64_t shared_expert_intermediate_size = 0;  ///< 0: no shared expert
    Quantization quantization;                    ///< of a folder whose weights are quantised

    bool trainable() const;  ///< one of the model types that the engine computes
};

/// One parameter tensor, by its Hugging Face name, in the order in which the engine keeps them: embedding,
/// each layer (input norm, q k v weights, q k v biases, q k norms, o, post norm, gate, up, down), final norm,
/// head (unless tied).
struct ParameterShape {
    std::string name;
    std::vector<int64_t> shape;
    bool decays = true;  ///< false: a norm or a bias
    int layer = -1;      ///< -1: not in a layer
    int64_t size() const;
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
/// by name.
ModelConfig model_config_from_json(const nlohmann::json& json, const std::string& where);

/// Throws Error(Usage) where the folder holds no config.json, Error(Refused) where it cannot be read.
ModelConfig read_model_config(const std::string& model_dir);

/// By hub id: the table of well-known models, then the Hugging Face cache (`hf_cache_dir`, e.g.
/// ~/.cache/huggingface/hub).
std::optional<ModelConfig> find_model_config(const std::string& hub_id, const std::string& hf_cache_dir);

nlohmann::json model_config_to_json(const ModelConfig& model);

}  // namespace ringmaster
