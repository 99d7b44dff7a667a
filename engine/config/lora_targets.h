/// Which modules an adapter goes beside, by PEFT's rules
/// (peft.tuners.tuners_utils.check_target_module_exists), and which are trained whole with it.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/config/lora.h"

namespace ringmaster {

/// The modules that an adapter is for: "q_proj" is a name or the end of a path, "all-linear" PEFT's word for
/// every linear module of the layers, "^…" a regular expression of whole paths, "=lm_head" a module that is
/// trained whole. Once the model is known, only names of its layers' modules and of whole modules are left.
struct LoraTargets {
    std::vector<std::string> names;
    std::string pattern;
    bool linear = false;
    bool saves_embedding = false, saves_head = false;

    bool adapts_modules() const { return linear || !pattern.empty() || !names.empty(); }
    std::vector<std::string> saved_modules() const;  ///< Gives PEFT's modules_to_save.
};

LoraTargets targets_of(const Lora& lora);
std::vector<std::string> written_targets(const LoraTargets& targets);

/// Return true if the adapter leaves the model's embedding or head as it is.
bool freezes_embedding(const Lora& lora);
bool freezes_head(const Lora& lora);

/// One module of a model, as PEFT sees it.
struct ModulePath {
    std::string path;      ///< "model.layers.0.self_attn.q_proj"
    std::string in_layer;  ///< "self_attn.q_proj"; empty outside the layers
    int layer = -1;
    bool linear = false;  ///< A linear module of a layer: the kind that is adapted here.
};

enum class TargetProblem {
    None,
    NoMatch,    ///< nothing matches
    OtherKind,  ///< `at` matches, and is no linear module of a layer
    Uneven      ///< `layer` has other matching modules than the first matching layer
};

struct MatchedTargets {
    TargetProblem problem = TargetProblem::None;
    std::string at;
    int layer = 0;
    std::vector<std::string> targets;  ///< names in a layer, in the order of the model's modules
    std::vector<int64_t> layers;       ///< that are adapted; empty: all
    std::vector<std::string> idle;     ///< names that match nothing, which PEFT passes over
};

/// Matches targets against a model's modules, in the layers that `lora.layers` names.
MatchedTargets match_targets(const Lora& lora, const std::vector<ModulePath>& modules);

/// nullopt: no regular expression that is read here.
std::optional<std::vector<bool>> match_pattern(const std::string& pattern,
                                               const std::vector<ModulePath>& modules);

}  // namespace ringmaster
