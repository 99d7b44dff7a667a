// Reads `adapter: lora` or qlora, and the adapter's keys.
#include <algorithm>
#include <filesystem>
#include <fstream>
#include <set>

#include "engine/config/keys.h"
#include "engine/config/lora_targets.h"
#include "engine/config/paths.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;

constexpr const char* kModules = "lora_target_modules";
constexpr const char* kParameters = "lora_target_parameters";
constexpr int64_t kMostRank = 65536;  // above any matrix's rank, and far from overflow

/// Reads lora_target_modules, or the same setting of a saved adapter. Calls `refuse(index, problem, hint)`
/// with the index of a list's item, or -1 for the whole value.
template <class Refuse>
void take_targets(const json& said, bool text_is_a_name, LoraTargets& targets, const Refuse& refuse) {
    if (said.is_string() && !text_is_a_name) {
        const auto& text = said.get_ref<const std::string&>();
        if (text == "all-linear")
            targets.linear = true;
        else if (match_pattern(text, {}))
            targets.pattern = text;
        else
            refuse(-1, "is a regular expression that cannot be read: " + shown(said),
                   "a list of modules: [q_proj, v_proj]");
        return;
    }
    const json list = said.is_array() ? said : json::array({said});
    for (std::size_t i = 0; i < list.size(); ++i) {
        const int at = said.is_array() ? static_cast<int>(i) : -1;
        if (list[i].is_string())
            targets.names.push_back(list[i].get<std::string>());
        else
            refuse(at, "is " + shown(list[i]) + ", but must be a module's name", "q_proj");
    }
}

/// Returns the layers from a number or a list of numbers; nullopt if it is neither.
std::optional<std::vector<int64_t>> layers_of(const json& said) {
    constexpr int64_t kMost = 100'000;
    std::set<int64_t> found;
    for (const json& layer : said.is_array() ? said : json::array({said})) {
        if (!layer.is_number_integer() || layer < 0 || layer > kMost) return std::nullopt;
        found.insert(layer.get<int64_t>());
    }
    return std::vector<int64_t>(found.begin(), found.end());
}

void read_layers(KeyReader& keys, Lora& lora) {
    constexpr const char* kLayers = "peft_layers_to_transform";
    const json* said = keys.find(kLayers);
    if (!said || said->is_null() || (said->is_array() && said->empty())) return;
    const json* modules = keys.find(kModules);
    const auto found = layers_of(*said);
    if (!found) {
        keys.error(Form("CFG-TYPE", "layers"), kLayers, {{"value", shown(*said)}});
    } else if (modules && modules->is_string() && !modules->get_ref<const std::string&>().empty()) {
        keys.error(Form("CFG-CONFLICT", "layers-pattern"), kLayers);
    } else {
        lora.layers = *found;
    }
}

/// Reads a name or a list of names of parameters.
void read_parameters(KeyReader& keys, Lora& lora) {
    const json* said = keys.find(kParameters);
    if (!said || !is_on(*said)) return;
    for (const json& name : said->is_array() ? *said : json::array({*said})) {
        if (name.is_string() && name != "")
            lora.parameters.push_back(name.get<std::string>());
        else
            return keys.error(Form("CFG-TYPE", "parameters"), kParameters, {{"value", shown(name)}});
    }
    if (lora.dropout > 0)
        keys.error(Form("CFG-CONFLICT", "parameters-dropout"), kParameters, {{"dropout", lora.dropout}});
    if (lora.dora) keys.error(Form("CFG-CONFLICT", "parameters-dora"), kParameters);
    if (!lora.layers.empty()) keys.error(Form("CFG-CONFLICT", "parameters-layers"), kParameters);
}

/// Reads the targets. As in axolotl, lora_target_linear adds all linear modules to lora_target_modules.
void read_targets(KeyReader& keys, bool adapts_parameters, LoraTargets& targets) {
    targets.linear = keys.flag("lora_target_linear").value_or(false);
    const json* said = keys.find(kModules);
    bool refused = false;
    if (said && *said != "" && (said->is_array() || said->is_string())) {
        take_targets(
            *said, targets.linear, targets,
            [&](int item, const std::string& problem, const std::string& hint) {
                const std::string path = kModules + (item < 0 ? std::string() : "." + std::to_string(item));
                keys.error(Form("CFG-VALUE", "modules-said"), path, {{"problem", problem}, {"advice", hint}});
                refused = true;
            });
    } else if (said && *said != "") {
        keys.error(Form("CFG-TYPE", "modules"), kModules, {{"value", shown(*said)}});
        refused = true;
    }
    if (!targets.adapts_modules() && !adapts_parameters && !refused)
        keys.missing(Form("CFG-MISSING", "lora_targets"), kModules,
                     keys.has(kModules) ? kModules : "adapter");
}

// ------------------------------------------------------------------------------- modules trained in full

constexpr const char* kSaved = "lora_modules_to_save";

void read_saved_modules(KeyReader& keys, LoraTargets& targets) {
    const json* said = keys.find(kSaved);
    if (!said || !is_on(*said)) return;
    for (const json& name : said->is_array() ? *said : json::array({*said})) {
        if (name.is_string() && targets.save(name.get<std::string>())) continue;
        keys.error(Form("KEY-UNSUPPORTED", "saved-module"), kSaved, {{"value", shown(name)}});
    }
}

void read_sizes(KeyReader& keys, Lora& lora) {
    if (keys.has("lora_r")) {
        lora.r = keys.whole("lora_r", {1, kMostRank}).value_or(1);
    } else {
        keys.missing(Form("CFG-MISSING", "lora_r"), "lora_r", "adapter");
        lora.r = 1;
    }
    if (keys.has("lora_alpha")) {
        take(lora.alpha, keys.whole("lora_alpha"));
    } else {
        keys.missing(Form("CFG-MISSING", "lora_alpha"), "lora_alpha", "adapter", {{"alpha", 2 * lora.r}});
    }
    take(lora.dropout, keys.number("lora_dropout", {.least = 0, .most = 1, .open_above = true}));
    take(lora.rslora, keys.flag("peft_use_rslora"));
    take(lora.dora, keys.flag("peft_use_dora"));
}

// ------------------------------------------------------------------------------- resuming from an adapter

std::optional<json> read_json_object(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file || is_folder(path)) return std::nullopt;
    std::string text(kMaxConfigBytes + 1, '\0');
    file.read(text.data(), static_cast<std::streamsize>(text.size()));
    text.resize(static_cast<std::size_t>(file.gcount()));
    json read = json::parse(text, nullptr, /*allow_exceptions=*/false);
    if (text.size() > kMaxConfigBytes || !read.is_object()) return std::nullopt;
    return read;
}

/// Returns a setting of a saved adapter that cannot be trained here; empty if there is none.
std::string foreign_part(const json& saved) {
    if (saved.value("peft_type", json("LORA")) != "LORA") return "peft_type " + shown(saved["peft_type"]);
    if (saved.value("bias", json("none")) != "none") return "bias " + shown(saved["bias"]);
    for (const char* key :
         {"rank_pattern", "alpha_pattern", "layers_pattern", "layer_replication", "trainable_token_indices",
          "fan_in_fan_out", "exclude_modules", "lora_bias", "use_qalora"}) {
        if (const auto found = saved.find(key); found != saved.end() && is_on(*found)) return key;
    }
    return "";
}

void refuse_saved(KeyReader& keys, const std::string& problem, const std::string& hint = {}) {
    keys.error(Form("CFG-LORA", "saved"), "lora_model_dir", {{"problem", problem}, {"advice", hint}});
}

/// Takes the saved adapter's settings: as in axolotl, its adapter_config.json takes precedence.
void take_saved(KeyReader& keys, const json& saved, Lora& lora) {
    if (const std::string part = foreign_part(saved); !part.empty())
        return refuse_saved(keys, "its adapter has " + part + ", which is not built");
    const json r = saved.value("r", json()), alpha = saved.value("lora_alpha", json());
    const json dropout = saved.value("lora_dropout", json(0.0));
    const json rslora = saved.value("use_rslora", json(false)), dora = saved.value("use_dora", json(false));
    const bool good = r.is_number_integer() && r >= 1 && r <= kMostRank && alpha.is_number_integer() &&
                      alpha >= 1 && dropout.is_number() && dropout >= 0 && dropout < 1 &&
                      rslora.is_boolean() && dora.is_boolean();
    if (!good) return refuse_saved(keys, "its adapter_config.json has no usable r, lora_alpha, lora_dropout");
    lora.r = r;
    lora.alpha = alpha;
    lora.dropout = dropout;
    lora.rslora = rslora;
    lora.dora = dora;
    const json layers = saved.value("layers_to_transform", json());
    if (const auto found = layers_of(layers.is_null() ? json::array() : layers))
        lora.layers = *found;
    else
        return refuse_saved(keys, "its layers_to_transform are no layers' numbers");
    LoraTargets found;
    const json modules = saved.value("modules_to_save", json::array());
    const json task = saved.value("task_type", json());
    const bool scores = task == "SEQ_CLS" || task == "TOKEN_CLS";
    for (const json& name : modules.is_array() ? modules : json::array()) {
        // PEFT also calls a head `classifier`, but no model here does.
        if (scores && name == "classifier") continue;
        if (!name.is_string() || name == kFormerHead || !found.save(name.get<std::string>()))
            return refuse_saved(keys,
                                "its adapter has " + shown(name) + " in modules_to_save, which is not built");
    }
    bool refused = false;
    const json targets = saved.value("target_modules", json::array());
    take_targets(targets.is_null() ? json::array() : targets, false, found,
                 [&](int, const std::string& problem, const std::string&) {
                     refuse_saved(keys, "its target_modules " + problem);
                     refused = true;
                 });
    const json parameters = saved.value("target_parameters", json());
    for (const json& name : parameters.is_array() ? parameters : json::array())
        lora.parameters.push_back(name.is_string() ? name.get<std::string>() : name.dump());
    if (!found.adapts_modules() && lora.parameters.empty() && !refused)
        refuse_saved(keys, "its adapter_config.json names no target_modules");
    lora.targets = written_targets(found);
}

/// Returns the targets in an order that does not depend on the file.
std::vector<std::string> sorted(LoraTargets targets) {
    targets.saved_embedding = targets.saved_head = "";
    std::vector<std::string> written = written_targets(targets);
    std::sort(written.begin(), written.end());
    return written;
}

void say_overruled(KeyReader& keys, const Lora& lora) {
    const auto say = [&](const char* key, const std::string& rules) {
        keys.warn(Form("CFG-CONFLICT", "saved"), key, {{"saved", rules}});
    };
    const auto number = [&](const char* key) { return keys.number(key); };
    if (const auto r = number("lora_r"); r && *r != double(lora.r)) say("lora_r", std::to_string(lora.r));
    if (const auto alpha = number("lora_alpha"); alpha && *alpha != double(lora.alpha))
        say("lora_alpha", std::to_string(lora.alpha));
    if (const auto dropout = number("lora_dropout"); dropout && *dropout != lora.dropout)
        say("lora_dropout", shown(lora.dropout));
    if (const auto rslora = keys.flag("peft_use_rslora"); rslora && *rslora != lora.rslora)
        say("peft_use_rslora", lora.rslora ? "true" : "false");
    if (const auto dora = keys.flag("peft_use_dora"); dora && *dora != lora.dora)
        say("peft_use_dora", lora.dora ? "true" : "false");
    if (!keys.has(kModules) && !keys.flag("lora_target_linear").value_or(false)) return;
    LoraTargets asked;
    read_targets(keys, true, asked);
    const LoraTargets counts = targets_of(lora);
    if (!asked.adapts_modules() || sorted(asked) == sorted(counts)) return;
    const std::string saved = "[" + listed(sorted(counts)) + "]";
    if (keys.has(kModules)) return say(kModules, saved);
    keys.warn(Form("CFG-CONFLICT", "saved-linear"), "lora_target_linear", {{"saved", saved}});
}

void read_saved_adapter(KeyReader& keys, const std::string& folder, Lora& lora) {
    lora.model_dir = folder;
    lora.r = lora.alpha = 1;  // marks the adapter as present even if it is unreadable
    const std::string settings = folder + "/adapter_config.json";
    if (!is_folder(folder)) {
        return refuse_saved(keys, "no such folder: " + folder,
                            "a folder that PEFT or a run has saved an adapter in; one of the hub has to be "
                            "fetched first");
    }
    const auto saved = read_json_object(settings);
    if (!saved)
        return refuse_saved(keys, (exists(settings) ? "cannot be read: " : "there is no ") + settings);
    if (!exists(folder + "/adapter_model.safetensors"))
        return refuse_saved(keys, "there is no " + folder + "/adapter_model.safetensors");
    take_saved(keys, *saved, lora);
    say_overruled(keys, lora);
}

/// Returns true, and warns, if the adapter's folder is missing while the file has the settings of the same
/// adapter: the run can then be planned, but not launched.
bool is_absent(KeyReader& keys, const std::string& folder) {
    if (is_folder(folder) || !keys.has("lora_r") || !keys.has("lora_alpha")) return false;
    keys.warn(Form("CFG-LORA", "absent"), "lora_model_dir", {{"path", folder}});
    return true;
}

void read_own_settings(KeyReader& keys, Lora& lora) {
    read_sizes(keys, lora);
    read_layers(keys, lora);
    read_parameters(keys, lora);
    LoraTargets targets;
    read_targets(keys, !lora.parameters.empty(), targets);
    read_saved_modules(keys, targets);
    lora.targets = written_targets(targets);
}

bool asks_for_lora(KeyReader& keys) {
    const json* said = keys.find("adapter");
    if (!said || !is_on(*said)) return false;
    if (*said == "lora" || *said == "qlora") return true;
    keys.error(Form("KEY-UNSUPPORTED", "adapter"), "adapter", {{"value", shown(*said)}});
    return false;
}

}  // namespace

void read_lora(KeyReader& keys, Config& config) {
    if (!asks_for_lora(keys)) return;
    Lora& lora = config.lora;
    lora.base_model = config.model_dir.empty() ? config.base_model : config.model_dir;
    const std::string said = keys.text("lora_model_dir").value_or("");
    const std::string folder = said.empty() ? "" : absolute_path(config.base_dir, said);
    if (said.empty() || is_absent(keys, folder)) {
        lora.model_dir = folder;
        read_own_settings(keys, lora);
    } else {
        read_saved_adapter(keys, folder, lora);
    }
    if (config.reinit_weights) {
        keys.warn(Form("CFG-LORA", "random"), "reinit_weights");
    }
}

}  // namespace ringmaster
