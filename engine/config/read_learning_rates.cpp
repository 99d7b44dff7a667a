// Reads learning rates of some parameters: embedding_lr, embedding_lr_scale, lr_groups, loraplus_lr_ratio.
#include "engine/config/keys.h"
#include "engine/config/optimizers.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;

bool is_group(const json& group) {
    if (!group.is_object()) return false;
    const json name = group.value("name", json()), modules = group.value("modules", json());
    const json rate = group.value("lr", json());
    if (!name.is_string() || !modules.is_array() || modules.empty()) return false;
    for (const json& module : modules) {
        if (!module.is_string()) return false;
    }
    return rate.is_number() && rate >= 0;
}

void read_groups(KeyReader& keys, Config& config) {
    const json* said = keys.find("lr_groups");
    if (!said || !is_on(*said)) return;
    if (!said->is_array())
        return keys.error(Form("CFG-TYPE", "groups"), "lr_groups", {{"value", shown(*said)}});
    for (size_t i = 0; i < said->size(); ++i) {
        if (is_group((*said)[i])) continue;
        keys.error(Form("CFG-TYPE", "group"), "lr_groups." + std::to_string(i));
        return;
    }
    config.lr_groups = *said;
}

const char* first_key(const Config& config) {
    if (config.loraplus_lr_ratio) return "loraplus_lr_ratio";
    if (!config.lr_groups.empty()) return "lr_groups";
    if (config.embedding_lr_scale) return "embedding_lr_scale";
    return config.embedding_lr ? "embedding_lr" : nullptr;
}

void drop_all(Config& config) {
    config.loraplus_lr_ratio.reset();
    config.embedding_lr.reset();
    config.embedding_lr_scale.reset();
    config.lr_groups = json::array();
}

void check_groups(KeyReader& keys, Config& config) {
    const char* key = first_key(config);
    if (!key) return;
    if (config.loraplus_lr_ratio && !config.lr_groups.empty())
        return keys.error(Form("CFG-OPTIMIZER", "groups"), "lr_groups");
    if (find_optimizer(config.optimizer)->rule == UpdateRule::Muon) {
        keys.warn(Form("CFG-OPTIMIZER", "groups-muon"), key);
        return drop_all(config);
    }
    if (config.lr_scheduler == LrScheduler::OneCycle || config.lr_scheduler == LrScheduler::Rex)
        return keys.error(Form("CFG-OPTIMIZER", "groups-schedule"), key,
                          {{"scheduler", to_string(config.lr_scheduler)}});
    if (config.learning_rate == 0 && keys.has("learning_rate"))
        keys.error(Form("CFG-OPTIMIZER", "groups-rate"), key);
}

void say_loraplus(KeyReader& keys, const Config& config) {
    if (!config.loraplus_lr_ratio) return;
    if (config.weight_decay > 0) keys.warn(Form("CFG-OPTIMIZER", "loraplus-decay"), "weight_decay");
}

}  // namespace

void read_learning_rates(KeyReader& keys, Config& config) {
    const auto rate = [&](const char* key, NumberRange range) -> std::optional<double> {
        const json* said = keys.find(key);
        return said && !said->is_null() ? keys.number(key, range) : std::nullopt;
    };
    config.embedding_lr = rate("embedding_lr", {});
    config.embedding_lr_scale = rate("embedding_lr_scale", {});
    config.loraplus_lr_ratio = rate("loraplus_lr_ratio", {.least = 0, .open_below = true});
    rate("loraplus_lr_embedding", {});  // sets the rate of adapted embeddings, which no model here has
    read_groups(keys, config);
    check_groups(keys, config);
    say_loraplus(keys, config);
}

}  // namespace ringmaster
