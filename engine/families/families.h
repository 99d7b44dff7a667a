/// Describes families of decoders as tables: the meaning of config.json's fields, and the names of the
/// weights in files. Source of every default: configuration_<type>.py of transformers 5.23.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "engine/families/config_fields.h"
#include "engine/families/model_config.h"

namespace ringmaster {

/// Maps a name that ParameterShape uses for a module or a tensor to the name in files, or a field to its name
/// in config.json. Modules with the same name are stored in one tensor, one below the other.
struct Rename {
    std::string_view module, in_files;
};

/// Holds the names that files use for a layer's router and for the matrices of each of its experts. The names
/// are empty if the files hold all experts of a layer in one tensor with the class's name.
struct ExpertNames {
    std::string_view router = "mlp.gate", experts = "mlp.experts";
    std::string_view gate = "gate_proj", up = "up_proj", down = "down_proj";
    /// If true, the files hold all experts of a layer in one tensor: gate and up under the name of gate, and
    /// down.
    bool stacked = false;
};

/// Says which of a family's ForSequenceClassification and ForTokenClassification classes transformers has.
enum class ScoreClasses { Both, OfSequences, None };

/// Names of the expert that every token uses in DeepSeek's models, and in models that follow them.
inline constexpr Rename kSharedExperts[] = {{"mlp.shared_expert.gate_proj", "mlp.shared_experts.gate_proj"},
                                            {"mlp.shared_expert.up_proj", "mlp.shared_experts.up_proj"},
                                            {"mlp.shared_expert.down_proj", "mlp.shared_experts.down_proj"}};

/// List targets, by their names in transformers 4, for which PEFT 0.21 adapts parameters instead of modules.
/// The parameters hold a mixture's experts and its router (peft/utils/transformers_weight_conversion.py).
/// Targets that are not listed are modules.
inline constexpr std::string_view kMixtralTargets = "gate w1 w2 w3";
inline constexpr std::string_view kQwenTargets = "gate gate_proj up_proj down_proj";

struct Family {
    std::string type;  ///< config.json's model_type
    void (*describe)(const ConfigFields& fields, ModelConfig& model);
    int64_t kv_heads = 0;  ///< default if the field is absent; 0 means as many as query heads
    int64_t head_dim = 0;  ///< default; 0 means hidden_size ÷ num_attention_heads
    int64_t max_position = 2048;
    double norm_eps = 1e-6;
    double rope_theta = 1e4;
    bool tied = false;
    double rotary_share = 1;
    const char* activation = "silu";
    const char* activation_field = "hidden_act";
    const char* width_field = "intermediate_size";
    const char* norm_eps_field = "rms_norm_eps";
    const char* rope_theta_field = "rope_theta";
    const char* rotary_share_field = "partial_rotary_factor";
    std::span<const Rename> names = {};
    const char* default_rope = "{}";  ///< rope_parameters of layers without a window if config.json has none
    std::string_view body = {};       ///< replaces "model." in the files
    bool peft_says_model = false;     ///< PEFT names the body "model." too, as the class does
    std::string_view layers = "layers";   ///< name of the list of layers in the files
    std::span<const Rename> fields = {};  ///< names that config.json has for common fields
    int64_t widths_of_hidden = 0;         ///< if above 0, the default of width_field ÷ hidden_size
    bool has_query_scale = false;
    std::optional<int64_t> padding_token = {};  ///< default if `pad_token_id` is absent
    ExpertNames experts = {};
    std::string_view expert_targets = {};  ///< such as kMixtralTargets; empty if PEFT renames no target
    ScoreClasses score_classes = ScoreClasses::Both;
    bool peft_refuses_out_proj = false;  ///< PEFT 0.21 refuses to adapt modules of this name
    /// Returns the number of layers; if null, the number is `num_hidden_layers`.
    int64_t (*layers_of)(const ConfigFields& fields) = nullptr;
};

/// A multimodal model whose text part is one of these decoders.
struct Wrapper {
    std::string_view type, text_type, weight_prefix;
};

const Family* find_family(std::string_view type);    ///< returns null if the type is unknown
const Wrapper* find_wrapper(std::string_view type);  ///< returns null if the type is unknown
std::string family_names();                          ///< returns "llama, qwen2, …"

// Each table is defined in its family's file.
extern const std::span<const Family> kLlamaFamilies, kQwenFamilies, kSmollmFamilies, kHunyuanFamilies,
    kGemmaFamilies, kGemmaSandwichFamilies, kGemma4Families, kPhiFamilies, kMistralFamilies, kOlmoFamilies,
    kGraniteFamilies, kGlmFamilies, kGroupedExpertFamilies, kCohereFamilies, kLayerNormFamilies,
    kNeoxFamilies, kFalconFamilies, kFalconH1Families, kBambaFamilies, kNemotronHFamilies, kJambaFamilies,
    kGptjFamilies, kMinimaxFamilies, kLfmFamilies, kQwenHybridFamilies, kGptOssFamilies;
extern const std::span<const Wrapper> kGemmaWrappers, kGemma4Wrappers, kMistralWrappers, kQwenHybridWrappers,
    kLlamaWrappers;

/// Gives each layer for which `slides` returns true a window and the rope `window_rope`.
template <class Slides>
void set_layers(ModelConfig& model, std::optional<int64_t> window, int window_rope, Slides slides) {
    for (int64_t layer = 0; window && layer < model.num_layers; ++layer) {
        const bool sliding = slides(layer);
        model.layers.push_back(sliding ? LayerKind{window, window_rope} : LayerKind{});
        if (sliding) model.sliding_window = window;
    }
}

/// Reads the kind of each layer from `layer_types`; if absent, every `pattern`th layer has no window.
void read_layer_types(const ConfigFields& fields, ModelConfig& model, std::optional<int64_t> window,
                      int64_t pattern, int window_rope = 0);
/// Reads the sizes of heads in layers without a window; `head_dim` is the default.
void read_global_heads(const ConfigFields& fields, ModelConfig& model, int64_t head_dim);
/// Makes each of the last `num_kv_shared_layers` layers read the keys and values of the last earlier layer of
/// its kind that computes them. Widens the MLPs of these layers if `use_double_wide_mlp` is set.
void read_shared_keys(const ConfigFields& fields, ModelConfig& model);
/// Reads the sizes of the inputs that each layer reads besides the hidden states.
void read_layer_inputs(const ConfigFields& fields, ModelConfig& model);
/// Sizes that a family's class takes if config.json lacks them.
struct ExpertDefaults {
    int64_t experts, per_token;
    int64_t width = 0;   ///< width of an expert; 0 means intermediate_size
    int64_t shared = 0;  ///< width of an expert that every token uses; 0 if there is no such expert
};
/// Reads a mixture of experts, and its router's loss.
void read_experts(const ConfigFields& fields, ModelConfig& model, const ExpertDefaults& defaults);
/// Sizes and rules of a mixture whose router scores by groups, as in DeepSeek's models.
struct GroupedDefaults {
    ExpertDefaults experts;
    int64_t shared_experts = 1;  ///< number of experts joined into the shared expert
    int64_t dense_layers = 1;    ///< number of leading layers that have an MLP in place of experts
    int64_t groups = 1, chosen_groups = 1;
    double scale = 1;
    bool norms = true;
};
/// Describes a router whose scores are sigmoids. An untrained bias is added to the scores only to choose
/// experts, so that experts get equally many tokens (arXiv 2412.19437, section 2.1.2).
inline constexpr RouterRule kCorrectedRouter = {
    .sigmoid = true, .corrects = true, .in_float32 = true, .best_of_group = 2, .has_loss = false};
void read_grouped_experts(const ConfigFields& fields, ModelConfig& model, const GroupedDefaults& defaults);
/// Reads multi-head latent attention. `defaults` has the sizes of the family's class. With `share_of_key`,
/// the field partial_rotary_factor is the rotated share of an entire key; otherwise it is the rotated share
/// of the key's rotary part.
void read_latents(const ConfigFields& fields, ModelConfig& model, const LatentSizes& defaults,
                  bool share_of_key = false);
/// Reads LFM2's layers: which of them have attention, and the short convolution of the others.
void read_convolutions(const ConfigFields& fields, ModelConfig& model);
struct StateSpaceDefaults {
    /// Width of all heads if `mamba_d_ssm` is absent; 0 if the class has mamba_expand instead of that field.
    int64_t inner = 0;
    /// Width of a head if `mamba_d_head` is absent. If above 0, the layer is as wide as its heads together,
    /// regardless of mamba_expand, and its class has another limit for the steps.
    int64_t of_head = 0;
    int64_t groups = 1, state = 256;
    const char* activation_field = "hidden_act";
};
/// Reads the sizes of a state space (Mamba-2), without norm and factors.
void read_state_space(const ConfigFields& fields, ModelConfig& model, const StateSpaceDefaults& defaults);
/// Reads the sizes of a state space of Mamba-1, as wide as mamba_expand times hidden_size.
void read_selective_space(const ConfigFields& fields, ModelConfig& model);
/// Returns each layer's part by the names of transformers 5 (linear_attention, full_attention, mlp, moe),
/// from `layer_types`, from `layers_block_type`, or from a field with one letter per layer; empty if all are
/// absent.
std::vector<std::string> read_layer_parts(const ConfigFields& fields, const char* letters_field = nullptr);
/// Gives each layer the part that `parts` names, and the rope with index `rope`. If `alone`, the layer has no
/// other part; otherwise it also has an MLP or experts, which no name mentions.
void set_layer_parts(const ConfigFields& fields, ModelConfig& model, const std::vector<std::string>& parts,
                     int rope, bool alone);
/// Returns the field's `count` numbers, or ones if the field is absent.
std::vector<double> read_factors(const ConfigFields& fields, const char* key, size_t count);
/// Makes the field an obstacle if its text differs from `only`, the only value that the engine computes.
void expect_text(const ConfigFields& fields, ModelConfig& model, const char* key, const char* only);
/// Returns `sliding_window`, or `otherwise` if it is absent; null means no window.
std::optional<int64_t> read_window(const ConfigFields& fields, std::optional<int64_t> otherwise);

}  // namespace ringmaster
