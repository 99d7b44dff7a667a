// Finds the modules of the model that an adapter is attached to, and the adapter's size.
#include <algorithm>
#include <cstdio>
#include <set>

#include "engine/blocks/sites.h"
#include "engine/config/key_reader.h"
#include "engine/config/keys.h"
#include "engine/config/lora_targets.h"
#include "engine/config/paths.h"
#include "engine/families/lora_sizes.h"
#include "engine/families/peft_names.h"
#include "engine/plan/resolve/resolve.h"
#include "engine/words/spelling.h"

namespace ringmaster {

namespace {

constexpr const char* kModules = "lora_target_modules";

/// Returns whether the parameter belongs to a linear module. In transformers 5, the routers of experts are
/// not linear modules.
bool is_linear(const ParameterShape& shape) {
    return shape.layer >= 0 && shape.shape.size() == 2 && shape.name.ends_with(".weight") &&
           !shape.name.ends_with(".mlp.gate.weight");
}

std::string in_layer(const ParameterShape& shape, const std::string& module) {
    const std::string number = "." + std::to_string(shape.layer) + ".";
    const std::size_t at = module.find(number);
    return shape.layer < 0 || at == std::string::npos ? "" : module.substr(at + number.size());
}

/// Returns the modules that hold parameters, and their parent modules.
std::vector<ModulePath> module_paths(const ModelConfig& model) {
    std::vector<ModulePath> modules;
    std::set<std::string> seen;
    for (const ParameterShape& shape : parameter_shapes(model)) {
        std::string module = peft_name(model, shape);
        module.resize(module.rfind('.'));
        if (seen.insert(module).second)
            modules.push_back({module, in_layer(shape, module), shape.layer, is_linear(shape)});
        for (std::size_t dot = module.rfind('.'); dot != std::string::npos; dot = module.rfind('.')) {
            module.resize(dot);
            if (seen.insert(module).second)
                modules.push_back({module, in_layer(shape, module), shape.layer, false});
        }
    }
    return modules;
}

std::vector<std::string> linear_names(const std::vector<ModulePath>& modules) {
    std::vector<std::string> names;
    for (const ModulePath& module : modules) {
        const std::string name = module.in_layer.substr(module.in_layer.rfind('.') + 1);
        if (module.linear && std::find(names.begin(), names.end(), name) == names.end())
            names.push_back(name);
    }
    return names;
}

/// Returns the key that chose the modules: one of the file's keys, or lora_model_dir if the adapter's folder
/// decides.
std::string key_of_targets(const Lora& lora, const Findings& findings) {
    if (is_folder(lora.model_dir)) return "lora_model_dir";
    return findings.key_of({kModules, "lora_target_linear"});
}

std::string nearest_module(const Lora& lora, const std::vector<std::string>& known) {
    const LoraTargets targets = targets_of(lora);
    for (const std::string& name : targets.names) {
        if (const std::string nearest = nearest_word(name, known); !nearest.empty()) return nearest;
    }
    return nearest_word(targets.pattern, known);
}

/// If the pattern has the path that the layers of image models had before transformers 4.52, returns the
/// pattern with their new path; otherwise returns an empty string.
std::string pattern_of_today(const std::string& pattern) {
    constexpr std::string_view kBefore = "language_model.model.", kToday = "model.language_model.";
    const size_t at = pattern.find(kBefore);
    if (at == std::string::npos || pattern.find(kToday) != std::string::npos) return "";
    return pattern.substr(0, at) + std::string(kToday) + pattern.substr(at + kBefore.size());
}

void refuse_targets(const Lora& lora, const MatchedTargets& found, const std::vector<ModulePath>& modules,
                    Findings& findings) {
    const std::string key = key_of_targets(lora, findings);
    const std::vector<std::string> known = linear_names(modules);
    if (found.problem == TargetProblem::OtherKind)
        return findings.error(Form("CFG-VALUE", "target-kind"), key, {{"module", found.at}});
    if (found.problem == TargetProblem::Uneven)
        return findings.error(Form("CFG-VALUE", "target-layers"), key, {{"layer", found.layer}});
    FindingValues parameters{{"known", listed(known)}};
    if (const std::string nearest = nearest_module(lora, known); !nearest.empty())
        parameters["nearest"] = nearest;
    findings.error(Form("CFG-VALUE", "target-none"), key, std::move(parameters));
}

bool has_all_layers(const Lora& lora, int64_t layers, Findings& findings) {
    if (lora.layers.empty() || lora.layers.back() < layers) return true;
    findings.error(Form("CFG-RANGE", "layer"), "peft_layers_to_transform",
                   {{"layer", lora.layers.back()}, {"last", layers - 1}});
    return false;
}

/// Returns the target by which PEFT 0.21 adapts a mixture's router or experts, which transformers 5 stacks in
/// parameters; empty if there is none. PEFT treats the last parts of the names that a pattern matches as
/// targets in all layers, and adds the experts to all-linear. With lora_target_linear, axolotl instead names
/// the modules that are linear in transformers 5, including those of a shared expert.
std::string expert_target(const ModelConfig& model, const LoraTargets& targets, const Findings& findings) {
    if (!renames_expert_targets(model)) return "";
    if (!targets.pattern.empty()) return targets.pattern;
    if (targets.linear && findings.key_of({"lora_target_linear", kModules}) == kModules) return "all-linear";
    if (targets.linear && model.shared_expert_intermediate_size > 0) return "gate_proj";
    for (const std::string& name : targets.names)
        if (is_expert_target(model, name)) return name;
    return "";
}

/// Returns the names to write in lora_target_modules instead of refused targets: those of `names` that PEFT
/// accepts, or those of all linear modules if it accepts none.
FindingValues other_targets(const ModelConfig& model, const std::string& key, std::vector<std::string> names,
                            const std::vector<ModulePath>& modules) {
    const auto refused = [&](const std::string& name) { return peft_refuses(model, name); };
    std::erase_if(names, refused);
    if (names.empty()) names = linear_names(modules);
    std::erase_if(names, refused);
    // The finding has two fixes, each of which names one of these parameters.
    const bool is_linear = key == "lora_target_linear";
    return {{is_linear ? "modules" : "names", "[" + listed(names) + "]"}};
}

/// Refuses modules that PEFT refuses to adapt in this type of model: PEFT raises an error even if they are
/// only among all linear modules.
void refuse_unloadable(const ModelConfig& model, const Lora& lora, const std::vector<ModulePath>& modules,
                       Findings& findings) {
    const std::string key = key_of_targets(lora, findings);
    const std::vector<std::string> names = targets_of(lora).names;
    for (const std::string& name : names) {
        if (!peft_refuses(model, name)) continue;
        FindingValues parameters = other_targets(model, key, names, modules);
        parameters["module"] = name;
        return findings.error(Form("CFG-VALUE", "target-unloadable"), key, std::move(parameters));
    }
}

/// Returns the name of the module whose adapter a model's class bypasses unless the base is quantised:
/// Mamba-1's class multiplies by the weight of dt_proj.
std::string bypassed_module(const Plan& plan) {
    return plan.model->delta.scans() && !plan.config.quantization.on() ? "dt_proj" : "";
}

/// Removes the bypassed module from all linear modules: its adapter would change nothing. Refuses it if the
/// file names it.
void leave_out_bypassed(Plan& plan, bool is_linear, Findings& findings) {
    const std::string bypassed = bypassed_module(plan);
    LoraTargets targets = targets_of(plan.config.lora);
    const auto removed =
        std::erase_if(targets.names, [&](const std::string& name) { return name == bypassed; });
    if (removed == 0) return;
    if (is_linear) {
        plan.config.lora.targets = written_targets(targets);
        return;
    }
    findings.error(Form("CFG-VALUE", "target-bypassed"), key_of_targets(plan.config.lora, findings),
                   {{"module", bypassed}, {"names", "[" + listed(targets.names) + "]"}});
}

/// Refuses an adapter on all linear modules if one of them is outside the layers. Returns whether it did.
bool has_linear_outside(const ModelConfig& model, const Lora& lora, const std::vector<ModulePath>& modules,
                        Findings& findings) {
    if (!targets_of(lora).linear || model.layer_input_width == 0) return false;
    const std::string key = key_of_targets(lora, findings);
    FindingValues parameters = other_targets(model, key, {}, modules);
    parameters["module"] = "per_layer_model_projection";
    findings.error(Form("KEY-UNSUPPORTED", "linear-outside"), key, std::move(parameters));
    return true;
}

void match_modules(Plan& plan, Findings& findings) {
    Lora& lora = plan.config.lora;
    LoraTargets targets = targets_of(lora);
    if (!targets.adapts_modules() || !has_all_layers(lora, plan.model->num_layers, findings)) return;
    if (const std::string named = expert_target(*plan.model, targets, findings); !named.empty())
        return findings.error(Form("KEY-UNSUPPORTED", "expert-targets"), key_of_targets(lora, findings),
                              {{"value", named}});
    const std::vector<ModulePath> modules = module_paths(*plan.model);
    if (has_linear_outside(*plan.model, lora, modules, findings)) return;
    MatchedTargets found = match_targets(lora, modules);
    const std::string today = pattern_of_today(targets.pattern);
    if (found.problem == TargetProblem::NoMatch && !today.empty()) {
        targets.pattern = today;
        lora.targets = written_targets(targets);
        found = match_targets(lora, modules);
        if (found.problem == TargetProblem::None)
            findings.warn(Form("CFG-VALUE", "target-before"), key_of_targets(lora, findings),
                          {{"today", one_line_of(today)}});
    }
    if (found.problem != TargetProblem::None) return refuse_targets(lora, found, modules, findings);
    const bool is_linear = targets.linear;
    targets.names = found.targets;
    targets.pattern.clear();
    targets.linear = false;
    lora.targets = written_targets(targets);
    lora.layers = found.layers;
    leave_out_bypassed(plan, is_linear, findings);
    refuse_unloadable(*plan.model, lora, modules, findings);
    if (!found.idle.empty())
        findings.warn(Form("CFG-VALUE", "target-idle"), key_of_targets(lora, findings),
                      {{"names", listed(found.idle)}});
}

/// Returns the paths in a layer of the parameters that a name selects. As in PEFT, the name is the end of a
/// path.
std::set<std::string> parameters_named(const ModelConfig& model, const std::string& name) {
    std::set<std::string> found;
    for (const ParameterShape& shape : parameter_shapes(model)) {
        const std::string path = peft_name(model, shape);
        if (path == name || path.ends_with("." + name)) found.insert(in_layer(shape, path));
    }
    return found;
}

/// Adapts the parameters of experts; refuses names of other parameters and unknown names, as PEFT does.
void match_parameters(Plan& plan, Findings& findings) {
    std::vector<std::string>& asked = plan.config.lora.parameters;
    if (asked.empty()) return;
    std::set<std::string> matched;
    for (const std::string& name : asked) matched.merge(parameters_named(*plan.model, name));
    std::vector<std::string> found;
    for (const char* parameter : kExpertParameters)
        if (plan.model->num_experts > 0 && matched.erase(peft_parameter(*plan.model, parameter)) > 0)
            found.emplace_back(parameter);
    const std::string key = findings.key_of({"lora_target_parameters", "lora_model_dir"});
    if (!matched.empty())
        return findings.error(Form("KEY-UNSUPPORTED", "parameter"), key, {{"value", *matched.begin()}});
    if (found.empty())
        return findings.error(Form("CFG-VALUE", "parameter-none"), key, {{"names", listed(asked)}});
    asked = found;
}

/// Replaces the name of a module that is trained in full by this model's name for it. Returns false if the
/// two names differed.
bool rename_saved(const ModelConfig& model, Role role, std::string& said) {
    const std::string path = peft_table(model, role);
    if (path.ends_with(said)) return true;
    said = path.substr(path.rfind('.') + 1);
    return false;
}

/// Rejects names of other models' embeddings and heads. The name of GPT-NeoX's head before transformers 5 is
/// only a warning: older versions of PEFT trained the head by that name, and current PEFT ignores it.
void resolve_saved(Plan& plan, Findings& findings) {
    constexpr const char* kKey = "lora_modules_to_save";
    const LoraTargets said = targets_of(plan.config.lora);
    LoraTargets named = said;
    const bool embedding = rename_saved(*plan.model, Role::Embedding, named.saved_embedding);
    const bool head = rename_saved(*plan.model, Role::Head, named.saved_head);
    if (embedding && head) return;
    const FindingValues parameters{{"value", embedding ? said.saved_head : said.saved_embedding},
                                   {"module", embedding ? named.saved_head : named.saved_embedding},
                                   {"modules", "[" + listed(named.saved_modules()) + "]"}};
    if (!embedding || head_in_files(*plan.model) != said.saved_head)
        return findings.error(Form("KEY-UNSUPPORTED", "saved-name"),
                              findings.key_of({kKey, "lora_model_dir"}), parameters);
    plan.config.lora.targets = written_targets(named);
    findings.warn(Form("CFG-DEPRECATED", "saved-name"), kKey, parameters);
}

void say_size(const Plan& plan, Findings& findings) {
    const int64_t trained = lora_count(*plan.model, plan.config.lora);
    if (trained == 0) return;
    char share[32];
    std::snprintf(share, sizeof share, "%.3g %%",
                  100 * double(trained) / double(parameter_count(*plan.model)));
    findings.inform(Form("LORA-SIZE"), "adapter", {{"parameters", trained}, {"share", share}});
}

}  // namespace

void resolve_adapter(Plan& plan, Findings& findings) {
    if (!plan.config.lora.on()) return;
    match_modules(plan, findings);
    match_parameters(plan, findings);
    resolve_saved(plan, findings);
    say_size(plan, findings);
}

}  // namespace ringmaster
