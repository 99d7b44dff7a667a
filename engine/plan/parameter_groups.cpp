#include "engine/plan/parameter_groups.h"

#include <algorithm>
#include <map>
#include <utility>

#include "engine/config/optimizers.h"
#include "engine/plan/unfrozen.h"

namespace ringmaster {

namespace {

double share_of(double rate, const Config& config) {
    return config.learning_rate > 0 ? rate / config.learning_rate : 1;
}

/// Returns the rate for embedding and head. Source: axolotl 0.19, core/trainers/mixins/optimizer.py.
double table_rate(const Config& config) {
    if (config.embedding_lr_scale.value_or(0) != 0) return *config.embedding_lr_scale;
    return config.embedding_lr.value_or(0) != 0 ? share_of(*config.embedding_lr, config) : 1;
}

/// Returns the rate of the first module of lr_groups that the name contains. As in axolotl's dictionaries, a
/// later entry for the same module or name wins, but keeps the first entry's place.
double group_rate(const std::string& name, const Config& config) {
    std::map<std::string, double> rates;
    std::vector<std::pair<std::string, std::string>> group_of;
    for (const nlohmann::json& group : config.lr_groups) {
        rates[group.at("name")] = group.at("lr");
        for (const std::string module : group.at("modules")) {
            const auto known = std::find_if(group_of.begin(), group_of.end(),
                                            [&](const auto& one) { return one.first == module; });
            if (known == group_of.end()) {
                group_of.emplace_back(module, group.at("name"));
            } else {
                known->second = group.at("name");
            }
        }
    }
    for (const auto& [module, group] : group_of) {
        if (name.find(module) != std::string::npos) return share_of(rates.at(group), config);
    }
    return 1;
}

ParameterGroup of_axolotl(const ParameterShape& shape, const Config& config) {
    if (is_table(shape.name)) return {table_rate(config), 0};
    if (!shape.decays) return {};
    return {group_rate(shape.file_name(), config), config.weight_decay};
}

/// Returns LoRA+'s group, which decays nothing. Source: PEFT 0.21, optimizers/loraplus.py.
ParameterGroup of_loraplus(const ParameterShape& shape, const Config& config) {
    const bool is_b = shape.name.find("lora_B") != std::string::npos || shape.shape.size() == 1;
    return {is_b ? *config.loraplus_lr_ratio : 1, 0};
}

/// Returns Muon's group, which trains no vectors and decays everything else. Source: axolotl-contribs-mit
/// 0.0.6, muon/muon.py.
ParameterGroup of_muon(const ParameterShape& shape, const Config& config) {
    return {1, config.weight_decay, shape.shape.size() >= 2};
}

ParameterGroup group_of(const ParameterShape& shape, const Config& config) {
    const OptimizerKind* kind = find_optimizer(config.optimizer);
    if (kind && kind->rule == UpdateRule::Muon) return of_muon(shape, config);
    if (config.loraplus_lr_ratio) return of_loraplus(shape, config);
    const bool is_axolotls = kind && kind->is_axolotls;
    if (is_axolotls || config.embedding_lr || config.embedding_lr_scale || !config.lr_groups.empty())
        return of_axolotl(shape, config);
    return {1, shape.decays ? config.weight_decay : 0};
}

}  // namespace

std::vector<ParameterGroup> parameter_groups(const std::vector<ParameterShape>& shapes,
                                             const Config& config) {
    std::vector<ParameterGroup> groups;
    for (const ParameterShape& shape : shapes) {
        groups.push_back(group_of(shape, config));
        if (!config.unfrozen_parameters.empty() && !unfrozen_of(shape, config.unfrozen_parameters).trained)
            groups.back().trained = false;
    }
    return groups;
}

}  // namespace ringmaster
