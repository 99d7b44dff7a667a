// Reads which server completes a run's prompts: `trl.use_vllm` and `trl.vllm_*`, as axolotl 0.19 passes them
// to TRL 1.16 (core/trainers/grpo/__init__.py).
#include <algorithm>
#include <cctype>

#include "engine/config/keys.h"
#include "engine/config/rollout_server.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;

/// Keys that say how vLLM gets the weights. Here it always gets all of them, before each step.
constexpr const char* kIdle[] = {"vllm_lora_sync", "vllm_sync_interval", "vllm_enable_sleep_mode"};

bool is_given(KeyReader& keys, const char* key) {
    const json* value = keys.find(key);
    return value && !value->is_null();
}

/// Accepts a name, an IPv4 address or an IPv6 address, and no port or path.
bool is_host(const std::string& text) {
    const bool is_ipv6 = std::count(text.begin(), text.end(), ':') >= 2;
    const auto fits = [&](unsigned char c) {
        return is_ipv6 ? std::isxdigit(c) || c == ':' || c == '.'
                       : std::isalnum(c) || c == '.' || c == '-' || c == '_';
    };
    return !text.empty() && text.size() <= 253 && std::all_of(text.begin(), text.end(), fits);
}

/// Returns whether a server is asked. TRL's mode is `colocate` unless the file says otherwise; a file that
/// names a host or port without a mode was written for older versions of TRL, whose mode was `server`.
bool asks_server(KeyReader& keys) {
    if (!keys.flag("trl.use_vllm").value_or(false)) return false;
    if (is_given(keys, "trl.vllm_mode"))
        return keys.word("trl.vllm_mode", {"server", "colocate"}) == "server";
    return is_given(keys, "trl.vllm_server_host") || is_given(keys, "trl.vllm_server_port");
}

void read_address(KeyReader& keys, RolloutServer& server) {
    constexpr const char* kHost = "trl.vllm_server_host";
    if (is_given(keys, kHost)) {
        if (const auto host = keys.text(kHost)) {
            if (is_host(*host))
                server.host = *host;
            else
                keys.error(Form("CFG-SAMPLING", "host"), kHost, {{"value", *host}});
        }
    }
    if (is_given(keys, "trl.vllm_server_port"))
        take(server.port, keys.whole("trl.vllm_server_port", {1, 65535}));
    const json* timeout = keys.find("trl.vllm_server_timeout");
    // Axolotl passes 0 on as TRL's default.
    if (is_given(keys, "trl.vllm_server_timeout") && *timeout != 0)
        take(server.timeout, keys.whole("trl.vllm_server_timeout", {1, 86400}));
}

}  // namespace

const char* to_string(ImportanceRatio ratio) {
    constexpr const char* kWords[] = {"token_truncate", "token_mask", "sequence_truncate", "sequence_mask"};
    return kWords[static_cast<int>(ratio)];
}

std::string RolloutServer::address() const {
    const std::string shown = host == "0.0.0.0" ? "127.0.0.1" : host;
    const bool is_ipv6 = shown.find(':') != std::string::npos;
    return "http://" + (is_ipv6 ? "[" + shown + "]" : shown) + ":" + std::to_string(port);
}

std::optional<RolloutServer> read_rollout_server(KeyReader& keys) {
    if (!asks_server(keys)) {
        if (keys.flag("trl.use_vllm").value_or(false))
            keys.inform(Form("CFG-SAMPLING", "vllm"), "trl.use_vllm");
        return std::nullopt;
    }
    RolloutServer server;
    read_address(keys, server);
    if (is_given(keys, "trl.vllm_reload_command"))
        take(server.reload_command, keys.text("trl.vllm_reload_command"));
    if (is_given(keys, "trl.vllm_importance_sampling_correction"))
        take(server.corrects, keys.flag("trl.vllm_importance_sampling_correction"));
    if (is_given(keys, "trl.vllm_importance_sampling_mode"))
        take(server.ratio, keys.choice<ImportanceRatio>("trl.vllm_importance_sampling_mode"));
    if (is_given(keys, "trl.vllm_importance_sampling_cap"))
        take(server.cap, keys.number("trl.vllm_importance_sampling_cap", {.least = 0, .open_below = true}));
    for (const std::string key : kIdle) {
        const json* value = keys.find("trl." + key);
        if (value && is_on(*value)) keys.inform(Form("CFG-SAMPLING", "whole-weights"), "trl." + key);
    }
    return server;
}

}  // namespace ringmaster
