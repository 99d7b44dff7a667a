/// Decides how an optimizer treats each parameter: its learning rate, its decay, and whether the parameter is
/// trained. The groups are those of transformers, axolotl's own trainer, PEFT's LoRA+ and axolotl's muon.
#pragma once

#include <vector>

#include "engine/config/config.h"
#include "engine/families/model_config.h"

namespace ringmaster {

struct ParameterGroup {
    double rate = 1;   ///< factor of the schedule's rate
    double decay = 0;  ///< weight_decay
    bool trained = true;

    bool operator==(const ParameterGroup&) const = default;
};

/// Returns the group of each parameter.
std::vector<ParameterGroup> parameter_groups(const std::vector<ParameterShape>& shapes, const Config& config);

}  // namespace ringmaster
