// Reads which activations are kept for the backward pass, where they are kept, and what is computed in parts.
#include "engine/config/key_reader.h"
#include "engine/config/keys.h"
#include "engine/config/sections.h"

namespace ringmaster {

namespace {

using nlohmann::json;

constexpr const char* kCheckpointing = "gradient_checkpointing";

/// Returns whether gradient_checkpointing is "offload", "offload_disk", or "unsloth", the name of "offload"
/// in axolotl 0.6 to 0.9.
bool offloads_checkpoints(KeyReader& keys) {
    const json* said = keys.find(kCheckpointing);
    return said && said->is_string() &&
           (*said == "unsloth" || said->get<std::string>().starts_with("offload"));
}

void say_without_effect(KeyReader& keys, const char* key, const std::string& needed) {
    keys.warn(Form("CFG-CHECKPOINT", "idle"), key, {{"needed", needed}});
}

void read_offloading(KeyReader& keys, Config& config) {
    const char* key = offloads_checkpoints(keys) ? kCheckpointing : "activation_offloading";
    const json* how = keys.find(key);
    if (!how || !is_on(*how) || (key == kCheckpointing && !offloads_checkpoints(keys))) return;
    if (!config.gradient_checkpointing) return say_without_effect(keys, key, kCheckpointing);
    config.activation_offloading = true;
    if (how->is_string() && how->get<std::string>().ends_with("disk"))
        keys.inform(Form("CFG-OFFLOAD", "disk"), key);
}

void read_selection(KeyReader& keys, Config& config) {
    const char* key = "selective_checkpointing";
    const json* said = keys.find(key);
    if (!said || !is_on(*said)) return;
    if (!config.gradient_checkpointing) return say_without_effect(keys, key, kCheckpointing);
    const json* save = said->is_object() && said->contains("save") ? &said->at("save") : nullptr;
    config.selective_checkpointing = !save || save->dump().find("attention") != std::string::npos;
    if (!save || *save == json::array({"attention"})) return;
    keys.warn(Form("CFG-CHECKPOINT", "partial"), key);
}

void read_tiles(KeyReader& keys, Config& config) {
    const json* said = keys.find("tiled_mlp");
    const bool is_auto = !said || *said == "auto";
    if (!is_auto) {
        config.tiled_mlp = keys.flag("tiled_mlp").value_or(false);
        if (!config.tiled_mlp) config.tiled_mlp_shards = 1;
    }
    const auto shards = keys.whole("tiled_mlp_num_shards");
    if (shards && !config.tiled_mlp) return say_without_effect(keys, "tiled_mlp_num_shards", "tiled_mlp");
    if (shards) config.tiled_mlp_shards = shards;
}

void read_chunks(KeyReader& keys, Config& config) {
    const char* key = "sequence_chunks";
    const json* said = keys.find(key);
    if (said && *said == "auto")
        config.sequence_chunks = 0;
    else
        config.sequence_chunks = keys.whole(key).value_or(1);
}

}  // namespace

void read_checkpointing(KeyReader& keys, Config& config) {
    const bool offloads = offloads_checkpoints(keys);
    const bool asked = offloads || keys.flag(kCheckpointing).value_or(false);
    config.gradient_checkpointing = config.gradient_checkpointing || asked;  // fsdp_config can ask too
    read_selection(keys, config);
    read_offloading(keys, config);
    read_tiles(keys, config);
    read_chunks(keys, config);
}

}  // namespace ringmaster
