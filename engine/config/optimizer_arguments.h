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
    double otherwise = 0;  ///< the default; a switch is 0 or 1
    double least = 0, most = 1;
    enum class Kind { Number, Whole, Switch } kind = Kind::Number;
};

/// Returns what `kind` reads of optim_args; empty if it reads nothing.
std::vector<OptimizerArgument> arguments_of(const OptimizerKind& kind);

/// Returns the value of an argument of config.optimizer, its default if the configuration is silent.
double optimizer_argument(const Config& config, std::string_view name);

/// Returns what decides which states config.optimizer keeps; it has to be a known optimizer.
OptimizerStates optimizer_states(const Config& config);

}  // namespace ringmaster
