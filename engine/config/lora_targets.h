/// Selects the modules that get an adapter, by PEFT's rules
/// (peft.tuners.tuners_utils.check_target_module_exists), and the modules that are trained in full with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/lora.h"

namespace ringmaster {

constexpr const char* kFormerHead = "embed_out";  ///< head of GPT-NeoX before transformers 5

/// Lists the modules that an adapter targets: "q_proj" is a name or the end of a path, "all-linear" is PEFT's
/// word for all linear modules of the layers, "^…" is a regular expression for whole paths, "=lm_head" is a
/// module trained in full. Once the model is known, the list holds only names of layers' modules and modules
/// trained in full.
struct LoraTargets {
    std::vector<std::string> names;
    std::string pattern;
    bool linear = false;
    /// Names of modules that are trained in full; empty if they are frozen.
    std::string saved_embedding, saved_head;

    bool adapts_modules() const { return linear || !pattern.empty() || !names.empty(); }
    std::vector<std::string> saved_modules() const;  ///< PEFT's modules_to_save
    /// Trains the modules in full whose path ends with the name; returns false if there are none.
    bool save(const std::string& name);
};

LoraTargets targets_of(const Lora& lora);                              ///< parses lora.targets
std::vector<std::string> written_targets(const LoraTargets& targets);  ///< inverse of targets_of

/// Return whether the adapter leaves the model's embedding or head unchanged.
bool freezes_embedding(const Lora& lora);
bool freezes_head(const Lora& lora);

/// One module of a model, as PEFT sees it.
struct ModulePath {
    std::string path;      ///< "model.layers.0.self_attn.q_proj"
    std::string in_layer;  ///< "self_attn.q_proj"; empty outside the layers
    int layer = -1;
    bool linear = false;  ///< a linear module of a layer, which can be adapted here
};

enum class TargetProblem {
    None,
    NoMatch,    ///< nothing matches
    OtherKind,  ///< `at` matches, but is not a linear module of a layer
    Uneven      ///< matching modules of `layer` differ from those of the first matching layer
};

struct MatchedTargets {
    TargetProblem problem = TargetProblem::None;
    std::string at;
    int layer = 0;
    std::vector<std::string> targets;  ///< names in a layer, in the order of the model's modules
    std::vector<int64_t> layers;       ///< adapted layers; empty: all
    std::vector<std::string> idle;     ///< names that match no module, and that PEFT therefore ignores
};

/// Matches targets with a model's modules in the layers that `lora.layers` names.
MatchedTargets match_targets(const Lora& lora, const std::vector<ModulePath>& modules);

/// Returns nullopt if the pattern is not a regular expression that is supported here.
std::optional<std::vector<bool>> match_pattern(const std::string& pattern,
                                               const std::vector<ModulePath>& modules);

}  // namespace ringmaster
