/// Lists the arguments that optimizers take besides rate, decay, betas and epsilon: their names in
/// `optim_args`, their defaults and bounds. The defaults are those of the library that defines the optimizer.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/config/config.h"
#include "engine/config/optimizers.h"

namespace ringmaster {

struct OptimizerArgument {
    std::string_view name;
    double otherwise = 0;  ///< default value; a switch has the value 0 or 1
    double least = 0, most = 1;
    enum class Kind { Number, Whole, Switch } kind = Kind::Number;
};

/// Returns the arguments that `kind` reads from optim_args; empty if it reads none.
std::vector<OptimizerArgument> arguments_of(const OptimizerKind& kind);

/// Returns an argument's value for config.optimizer, or its default if the configuration does not set it.
double optimizer_argument(const Config& config, std::string_view name);

/// Returns the settings that decide which states config.optimizer keeps; the optimizer must be known.
OptimizerStates optimizer_states(const Config& config);

}  // namespace ringmaster
