#include "engine/config/optimizer_arguments.h"

#include <algorithm>
#include <limits>

namespace ringmaster {
namespace {

using Kind = OptimizerArgument::Kind;

constexpr double kAny = std::numeric_limits<double>::max();

std::vector<OptimizerArgument> rmsprop_arguments(const OptimizerKind& kind) {
    // transformers passes strings to bitsandbytes' RMSprop, which rejects them.
    if (kind.states != StateKind::AsWeights) return {};
    return {{"momentum", 0, 0, kAny},
            {"alpha", 0.99, 0, 1},
            {"eps", 1e-8, 0, kAny},
            {"centered", 0, 0, 1, Kind::Switch}};
}

}  // namespace

std::vector<OptimizerArgument> arguments_of(const OptimizerKind& kind) {
    switch (kind.rule) {
        case UpdateRule::Sgd:
            return {{"momentum", 0, 0, kAny}, {"dampening", 0, 0, kAny}, {"nesterov", 0, 0, 1, Kind::Switch}};
        case UpdateRule::RmsProp:
            return rmsprop_arguments(kind);
        case UpdateRule::AdEMAMix:
            return {{"beta1", 0.9},
                    {"beta2", 0.999},
                    {"beta3", 0.9999},
                    {"alpha", 5, 0, kAny},
                    {"eps", 1e-8, 0, kAny},
                    {"t_alpha", 0, 0, kAny, Kind::Whole},
                    {"t_beta3", 0, 0, kAny, Kind::Whole}};
        case UpdateRule::ScheduleFree:
            return {{"weight_lr_power", 2, 0, kAny}, {"r", 0, 0, kAny}};
        case UpdateRule::Came:
            return {{"clip_threshold", 1, 0, kAny}, {"beta3", 0.9999}, {"eps2", 1e-16, 0, kAny}};
        case UpdateRule::Muon:
            return {
                {"momentum", 0.95}, {"nesterov", 1, 0, 1, Kind::Switch}, {"ns_steps", 5, 1, 99, Kind::Whole}};
        case UpdateRule::AdamW:
        case UpdateRule::AdamWHf:
        case UpdateRule::Lion:
        case UpdateRule::Adafactor:
            return {};
    }
    return {};
}

double optimizer_argument(const Config& config, std::string_view name) {
    if (const auto said = config.optim_args.find(std::string(name)); said != config.optim_args.end())
        return said->get<double>();
    const OptimizerKind* kind = find_optimizer(config.optimizer);
    if (!kind) return 0;
    for (const OptimizerArgument& argument : arguments_of(*kind)) {
        if (argument.name == name) return argument.otherwise;
    }
    return name == "alpha" ? 0.99 : name == "eps" ? 1e-8 : 0;  // constants of bitsandbytes' RMSprop
}

OptimizerStates optimizer_states(const Config& config) {
    const OptimizerKind& kind = *find_optimizer(config.optimizer);
    return {kind.rule, kind.states, optimizer_argument(config, "momentum") > 0,
            optimizer_argument(config, "centered") > 0};
}

}  // namespace ringmaster
