#include "engine/families/computed.h"

#include <algorithm>

namespace ringmaster {

namespace {

struct Feature {
    const char* name;
    bool computed;  // true if the engine, preflight's reference and the memory trace support it
    bool (*asked)(const ModelConfig& model);
};

bool some_rope(const ModelConfig& model, bool (*asked)(const RopeConfig& rope)) {
    return std::any_of(model.ropes.begin(), model.ropes.end(), asked);
}

constexpr Feature kFeatures[] = {
    {"norm weights of 1 + w", true, [](const ModelConfig& m) { return m.norm_adds_one; }},
    {"norms behind attention and MLP", true, [](const ModelConfig& m) { return m.norms_outputs; }},
    {"no norm before attention and MLP", true, [](const ModelConfig& m) { return !m.norms_inputs; }},
    {"LayerNorm", true, [](const ModelConfig& m) { return m.layer_norms; }},
    {"attention and MLP side by side", true, [](const ModelConfig& m) { return m.parallel_blocks; }},
    {"q/k norm over all heads", true, [](const ModelConfig& m) { return m.qk_norm == QkNorm::Whole; }},
    {"q/k norm after the rotation", true, [](const ModelConfig& m) { return m.qk_norm_after_rotary; }},
    {"hidden_act", true, [](const ModelConfig& m) { return m.gate.activation != Activation::Silu; }},
    {"an MLP without gate", true, [](const ModelConfig& m) { return !m.gate.gated; }},
    {"attention scale", true, [](const ModelConfig& m) { return m.attention_scale != 0; }},
    {"attn_logit_softcapping", true, [](const ModelConfig& m) { return m.score_softcap != 0; }},
    {"final_logit_softcapping", true, [](const ModelConfig& m) { return m.logit_softcap != 0; }},
    {"embedding multiplier", true, [](const ModelConfig& m) { return m.embedding_multiplier != 1; }},
    {"residual multiplier", true, [](const ModelConfig& m) { return m.residual_multiplier != 1; }},
    {"logit multiplier", true, [](const ModelConfig& m) { return m.logit_multiplier != 1; }},
    {"bias of the head", true, [](const ModelConfig& m) { return m.head_bias; }},
    {"layers that differ in their rotation", true,
     [](const ModelConfig& m) {
         return std::any_of(m.layers.begin(), m.layers.end(),
                            [](const LayerKind& kind) { return kind.rope != 0; });
     }},
    {"partial_rotary_factor", true,
     [](const ModelConfig& m) {
         return some_rope(m, [](const RopeConfig& rope) { return rope.rotary_dim != 0; });
     }},
    {"rotation of neighbouring elements", true,
     [](const ModelConfig& m) {
         return some_rope(m, [](const RopeConfig& rope) { return rope.interleaved; });
     }},
    {"rope_type 'longrope'", true,
     [](const ModelConfig& m) {
         return some_rope(m, [](const RopeConfig& rope) { return rope.type == "longrope"; });
     }},
    {"llama_4_scaling_beta", true,
     [](const ModelConfig& m) {
         return some_rope(m, [](const RopeConfig& rope) { return rope.query_scale_beta != 0; });
     }},
    {"a mixture of experts", true, [](const ModelConfig& m) { return m.num_experts > 0; }},
    {"attention sinks", true, [](const ModelConfig& m) { return m.attention_sinks; }},
    {"swiglu_limit", true, [](const ModelConfig& m) { return m.gate.is_clamped(); }},
    {"biases of experts", true, [](const ModelConfig& m) { return m.expert_biases; }},
    {"experts in only some of the layers", true,
     [](const ModelConfig& m) { return m.sparse_layers() < m.num_layers && m.num_experts > 0; }},
    {"scores of experts by sigmoids", true, [](const ModelConfig& m) { return m.router.sigmoid; }},
    {"groups of experts", true, [](const ModelConfig& m) { return m.router.groups > 1; }},
    {"multi-head latent attention", true, [](const ModelConfig& m) { return m.latent.on(); }},
    {"heads of several sizes", true, [](const ModelConfig& m) { return m.global_heads.head_dim > 0; }},
    {"attention_k_eq_v", true, [](const ModelConfig& m) { return m.global_heads.values_are_keys; }},
    {"a norm of values", true, [](const ModelConfig& m) { return m.norms_values; }},
    {"layer_scalar", true, [](const ModelConfig& m) { return m.layer_scalars; }},
    {"enable_moe_block", true, [](const ModelConfig& m) { return m.experts_beside_mlp; }},
    {"a shared expert", true, [](const ModelConfig& m) { return m.shared_expert_intermediate_size > 0; }},
};

}  // namespace

std::vector<std::string> not_computed(const ModelConfig& model) {
    std::vector<std::string> names;
    for (const Feature& feature : kFeatures)
        if (!feature.computed && feature.asked(model)) names.push_back(feature.name);
    return names;
}

}  // namespace ringmaster
