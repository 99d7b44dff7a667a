#include "engine/config/lora_targets.h"

#include <algorithm>
#include <array>
#include <map>
#include <regex>
#include <set>
#include <span>
#include <string_view>

namespace ringmaster {
namespace {

constexpr std::size_t kMostPattern = 500;
constexpr const char* kAllLinear = "all-linear";
/// Paths of embeddings and heads in transformers' models; the last head is that of GPT-NeoX before version 5.
constexpr std::array<std::string_view, 2> kEmbeddings = {"model.embed_tokens", "gpt_neox.embed_in"};
constexpr std::array<std::string_view, 3> kHeads = {"lm_head", kFormerHead, "score"};

/// Returns the module's name if one of the paths ends with the given name, which is PEFT's rule.
std::string named_among(std::span<const std::string_view> paths, std::string_view name) {
    for (const std::string_view path : paths)
        if (!name.empty() && path.ends_with(name)) return std::string(path.substr(path.rfind('.') + 1));
    return "";
}

/// Returns whether the name is the module's whole path or the end of it, as in PEFT.
bool is_named(const ModulePath& module, const std::string& name) {
    return module.path == name || module.path.ends_with("." + name);
}

bool matches_a_name(const LoraTargets& targets, const ModulePath& module) {
    return std::any_of(targets.names.begin(), targets.names.end(),
                       [&](const std::string& name) { return is_named(module, name); });
}

/// Returns true if a name is the module's whole path. Such a name applies in every layer, whatever `layers`
/// says.
bool is_whole_path(const LoraTargets& targets, const ModulePath& module) {
    return std::find(targets.names.begin(), targets.names.end(), module.path) != targets.names.end();
}

/// Returns whether the module is trained in full; PEFT then gives it no adapter, even if a target names it.
bool is_saved(const LoraTargets& targets, const ModulePath& module) {
    const std::vector<std::string> saved = targets.saved_modules();
    return module.layer < 0 && std::any_of(saved.begin(), saved.end(),
                                           [&](const std::string& name) { return is_named(module, name); });
}

std::vector<bool> matching(const LoraTargets& targets, const std::vector<ModulePath>& modules) {
    if (!targets.pattern.empty())
        return match_pattern(targets.pattern, modules).value_or(std::vector<bool>(modules.size()));
    std::vector<bool> matched;
    for (const ModulePath& module : modules)
        matched.push_back((targets.linear && module.linear) || matches_a_name(targets, module));
    return matched;
}

/// Returns names of a layer's matching modules: the last part of each path, or the whole path in the layer if
/// another module has the same last part.
std::vector<std::string> names_in_layer(const std::vector<const ModulePath*>& matched,
                                        const std::vector<ModulePath>& modules) {
    std::vector<std::string> names;
    for (const ModulePath* module : matched) {
        const std::string last = module->in_layer.substr(module->in_layer.rfind('.') + 1);
        const auto is_alike = [&](const ModulePath& other) {
            return other.layer == module->layer && is_named(other, last);
        };
        const bool alone = std::count_if(modules.begin(), modules.end(), is_alike) == 1;
        names.push_back(alone ? last : module->in_layer);
    }
    return names;
}

/// Counts the names for which the layer has a module; layers of another kind lack some modules.
std::size_t present(const std::vector<std::string>& names, const std::vector<ModulePath>& modules,
                    int layer) {
    return static_cast<std::size_t>(std::count_if(names.begin(), names.end(), [&](const std::string& name) {
        return std::any_of(modules.begin(), modules.end(), [&](const ModulePath& module) {
            return module.layer == layer && is_named(module, name);
        });
    }));
}

std::vector<std::string> idle_names(const LoraTargets& targets, const std::vector<ModulePath>& modules) {
    std::vector<std::string> idle;
    for (const std::string& name : targets.names) {
        const auto is = [&](const ModulePath& module) { return is_named(module, name); };
        if (std::none_of(modules.begin(), modules.end(), is)) idle.push_back(name);
    }
    return idle;
}

}  // namespace

std::vector<std::string> LoraTargets::saved_modules() const {
    std::vector<std::string> saved;
    for (const std::string& name : {saved_embedding, saved_head})
        if (!name.empty()) saved.push_back(name);
    return saved;
}

bool LoraTargets::save(const std::string& name) {
    const std::string embedding = named_among(kEmbeddings, name), head = named_among(kHeads, name);
    if (!embedding.empty()) saved_embedding = embedding;
    if (!head.empty()) saved_head = head;
    return !embedding.empty() || !head.empty();
}

LoraTargets targets_of(const Lora& lora) {
    LoraTargets targets;
    for (const std::string& said : lora.targets) {
        if (said == kAllLinear)
            targets.linear = true;
        else if (said.starts_with('^'))
            targets.pattern = said.substr(1);
        else if (said.starts_with('='))
            targets.save(said.substr(1));
        else
            targets.names.push_back(said);
    }
    return targets;
}

std::vector<std::string> written_targets(const LoraTargets& targets) {
    std::vector<std::string> written = targets.names;
    if (targets.linear) written.emplace_back(kAllLinear);
    if (!targets.pattern.empty()) written.push_back("^" + targets.pattern);
    for (const std::string& module : targets.saved_modules()) written.push_back("=" + module);
    return written;
}

bool freezes_embedding(const Lora& lora) {
    return lora.on() && targets_of(lora).saved_embedding.empty();
}

bool freezes_head(const Lora& lora) {
    return lora.on() && targets_of(lora).saved_head.empty();
}

std::optional<std::vector<bool>> match_pattern(const std::string& pattern,
                                               const std::vector<ModulePath>& modules) {
    try {
        if (pattern.size() > kMostPattern || pattern.find('{') != std::string::npos) return std::nullopt;
        // This mode takes polynomial time, so no pattern can run forever.
        const std::regex regex(pattern, std::regex::ECMAScript | std::regex_constants::__polynomial);
        std::vector<bool> matched;
        for (const ModulePath& module : modules) matched.push_back(std::regex_match(module.path, regex));
        return matched;
    } catch (const std::regex_error&) {
        return std::nullopt;
    }
}

MatchedTargets match_targets(const Lora& lora, const std::vector<ModulePath>& modules) {
    MatchedTargets found;
    const LoraTargets targets = targets_of(lora);
    const std::vector<bool> matched = matching(targets, modules);
    std::map<int, std::vector<const ModulePath*>> by_layer;
    std::set<int> all_layers;
    for (std::size_t i = 0; i < modules.size(); ++i) {
        if (modules[i].layer >= 0) all_layers.insert(modules[i].layer);
        const bool counts = lora.adapts(modules[i].layer) || is_whole_path(targets, modules[i]);
        if (!matched[i] || !counts || is_saved(targets, modules[i])) continue;
        if (!modules[i].linear)
            return {TargetProblem::OtherKind, modules[i].path, modules[i].layer, {}, {}, {}};
        by_layer[modules[i].layer].push_back(&modules[i]);
    }
    found.idle = idle_names(targets, modules);
    if (by_layer.empty()) {
        found.problem = TargetProblem::NoMatch;
        return found;
    }
    std::map<int, std::vector<std::string>> names_of;
    for (const auto& [layer, paths] : by_layer) {
        names_of[layer] = names_in_layer(paths, modules);
        for (const std::string& name : names_of[layer])
            if (std::find(found.targets.begin(), found.targets.end(), name) == found.targets.end())
                found.targets.push_back(name);
        found.layers.push_back(layer);
    }
    for (const auto& [layer, names] : names_of)
        if (names.size() != present(found.targets, modules, layer))
            return {TargetProblem::Uneven, "", layer, {}, {}, {}};
    if (found.layers.size() == all_layers.size()) found.layers.clear();
    return found;
}

}  // namespace ringmaster
