/// Names a layer's norms, its linear modules, and its matrices; a matrix joins the modules that read the same
/// input.
#pragma once

#include <array>
#include <cstddef>
#include <string>
#include <vector>

namespace ringmaster {

enum class LoraSite {
    Qkv,
    Output,
    GateUp,
    Down,
    DeltaIn,
    DeltaOutput,
    SharedGateUp,
    SharedDown,
    SharedGate,
    LatentIn,
    QueryUp,
    KeyValueUp,
    Router,
    ExpertsIn,   ///< from the hidden states to what experts read
    ExpertsOut,  ///< from what experts return to the hidden states
    LayerGate,   ///< of a layer's input
    LayerOutput,
    SelectIn,  ///< from a Mamba-1 layer's channels to what makes steps, keys and queries
    Steps
};
constexpr size_t kLoraSites = 19;

enum class NormSite {
    Input,
    Queries,
    Keys,
    AttentionOutput,
    Mlp,
    MlpOutput,
    QueryLatent,
    KeyValueLatent,
    Values,
    MlpPart,  ///< output of an MLP beside experts
    Experts,  ///< input of experts beside an MLP
    ExpertsPart,
    Router,
    LayerInput,  ///< of what a layer's input adds
    Steps,       ///< of what makes the steps of a Mamba-1 layer
    StateKeys,
    StateQueries
};
constexpr size_t kNormSites = 17;

/// Paths of a layer's linear modules, in the engine's order: of attention, of the MLP, of a recurrence, of
/// the expert that every token uses, of latents, of a router that is a linear module, of the latents of
/// experts, of a layer's input, and of a Mamba-1 state space.
inline constexpr std::array kModulePaths = {"self_attn.q_proj",
                                            "self_attn.k_proj",
                                            "self_attn.v_proj",
                                            "self_attn.o_proj",
                                            "mlp.gate_proj",
                                            "mlp.up_proj",
                                            "mlp.down_proj",
                                            "linear_attn.in_proj_qkv",
                                            "linear_attn.in_proj_z",
                                            "linear_attn.in_proj_b",
                                            "linear_attn.in_proj_a",
                                            "linear_attn.in_proj_qkvz",
                                            "linear_attn.in_proj_ba",
                                            "linear_attn.out_proj",
                                            "mlp.shared_expert.gate_proj",
                                            "mlp.shared_expert.up_proj",
                                            "mlp.shared_expert.down_proj",
                                            "mlp.shared_expert_gate",
                                            "self_attn.q_a_proj",
                                            "self_attn.kv_a_proj_with_mqa",
                                            "self_attn.q_b_proj",
                                            "self_attn.kv_b_proj",
                                            "router.proj",
                                            "mlp.fc1_latent_proj",
                                            "mlp.fc2_latent_proj",
                                            "per_layer_input_gate",
                                            "per_layer_projection",
                                            "linear_attn.x_proj",
                                            "linear_attn.dt_proj"};

/// Paths of the parameters that hold the matrices of all experts of a layer, in their class's order.
inline constexpr std::array kExpertParameters = {"mlp.experts.gate_up_proj", "mlp.experts.down_proj"};

/// Returns a path such as "self_attn.q_proj".
inline std::string module_path(size_t module) {
    return kModulePaths[module];
}

/// Returns the last part of every path.
inline std::vector<std::string> module_names() {
    std::vector<std::string> names;
    for (const std::string path : kModulePaths) names.push_back(path.substr(path.rfind('.') + 1));
    return names;
}

/// Selects the modules [first, first + count) of kModulePaths.
struct TargetRange {
    size_t first, count;
};

inline TargetRange targets_of(LoraSite site) {
    constexpr std::array<TargetRange, kLoraSites> kRanges = {{{0, 3},
                                                              {3, 1},
                                                              {4, 2},
                                                              {6, 1},
                                                              {7, 6},
                                                              {13, 1},
                                                              {14, 2},
                                                              {16, 1},
                                                              {17, 1},
                                                              {18, 2},
                                                              {20, 1},
                                                              {21, 1},
                                                              {22, 1},
                                                              {23, 1},
                                                              {24, 1},
                                                              {25, 1},
                                                              {26, 1},
                                                              {27, 1},
                                                              {28, 1}}};
    return kRanges[static_cast<size_t>(site)];
}

}  // namespace ringmaster
