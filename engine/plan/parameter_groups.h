/// How an optimizer treats each parameter: its learning rate, its decay, and whether it is trained at all.
/// The groups are those that transformers, axolotl's own trainer, PEFT's LoRA+ and axolotl's muon make.
#pragma once

#include <vector>

#include "engine/config/config.h"
#include "engine/families/model_config.h"

namespace ringmaster {

struct ParameterGroup {
    double rate = 1;   ///< times the schedule's learning rate
    double decay = 0;  ///< weight_decay
    bool trained = true;

    bool operator==(const ParameterGroup&) const = default;
};

/// Returns the group of each parameter.
std::vector<ParameterGroup> parameter_groups(const std::vector<ParameterShape>& shapes, const Config& config);

}  // namespace ringmaster
