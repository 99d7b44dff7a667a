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
    ExpertsIn,   ///< projects hidden states to the experts' width
    ExpertsOut,  ///< projects the experts' width to hidden states
    LayerGate,   ///< gate of the layer's additional input
    LayerOutput,
    SelectIn,  ///< projects a Mamba-1 layer's channels to keys, queries and the vector for the steps
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
    MlpPart,  ///< output of an MLP that runs in parallel with experts
    Experts,  ///< input of experts that run in parallel with an MLP
    ExpertsPart,
    Router,
    LayerInput,  ///< output of the block that reads the layer's additional input
    Steps,       ///< vector from which a Mamba-1 layer's steps are computed
    StateKeys,
    StateQueries
};
constexpr size_t kNormSites = 17;

/// Lists the paths of a layer's linear modules, in the engine's order: attention; MLP; recurrence; the expert
/// that every token uses; latents; a router that is a linear module; the experts' latents; the layer's
/// additional input; a Mamba-1 state space.
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

/// Lists the paths of the parameters that hold the matrices of all experts of a layer, in the order of
/// transformers' class.
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
