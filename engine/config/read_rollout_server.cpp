// Reads which server completes a run's prompts: `trl.use_vllm` and `trl.vllm_*`, as axolotl 0.19 passes them
// to TRL 1.16 (core/trainers/grpo/__init__.py).
#include <algorithm>
#include <cctype>
#include <string_view>

#include "engine/config/keys.h"
#include "engine/config/paths.h"
#include "engine/config/rollout_server.h"
#include "engine/config/sections.h"

namespace ringmaster {
namespace {

using nlohmann::json;

/// Lists keys that control when and how vLLM gets the weights. This engine always sends it all weights before
/// each step.
constexpr const char* kIdle[] = {"vllm_lora_sync", "vllm_sync_interval", "vllm_enable_sleep_mode"};

constexpr const char* kUrl = "trl.vllm_server_base_url";
constexpr const char* kKeyVariable = "trl.vllm_server_api_key_env";
constexpr const char* kKeyFile = "trl.vllm_server_api_key_file";
constexpr const char* kCaFile = "trl.vllm_server_ca_file";

/// Lists keys that would hold the API key itself. They are refused, because a configuration is copied, shown
/// and sent to nodes.
constexpr const char* kOpenKeys[] = {"trl.vllm_server_api_key", "trl.vllm_api_key"};

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

/// Returns true if a server makes the completions. TRL's mode is `colocate` unless the file says otherwise; a
/// file that names a host or port without a mode was written for older versions of TRL, whose mode was
/// `server`.
bool asks_server(KeyReader& keys) {
    if (!keys.flag("trl.use_vllm").value_or(false)) return false;
    if (is_given(keys, "trl.vllm_mode"))
        return keys.word("trl.vllm_mode", {"server", "colocate"}) == "server";
    return is_given(keys, "trl.vllm_server_host") || is_given(keys, "trl.vllm_server_port") ||
           is_given(keys, kUrl);
}

bool is_port(const std::string& text) {
    const bool digits =
        !text.empty() && text.size() <= 5 &&
        std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c); });
    return digits && std::stoi(text) >= 1 && std::stoi(text) <= 65535;
}

/// Accepts letters, digits and the characters that a path may contain unescaped and without ambiguity.
bool is_url_path(const std::string& text) {
    const auto fits = [](unsigned char c) {
        return std::isalnum(c) ||
               (c != 0 && std::string_view("/-._~").find(char(c)) != std::string_view::npos);
    };
    return text.size() <= 1024 && std::all_of(text.begin(), text.end(), fits) &&
           text.find("//") == std::string::npos && text.find("..") == std::string::npos;
}

/// Returns http(s)://host[:port][/path] without a slash at its end; nothing for any other text, such as one
/// with a user, a password or a query.
std::optional<std::string> checked_url(std::string text) {
    while (text.ends_with('/')) text.pop_back();
    const bool is_tls = text.starts_with("https://");
    if (!is_tls && !text.starts_with("http://")) return std::nullopt;
    const std::string rest = text.substr(is_tls ? 8 : 7);
    const size_t slash = std::min(rest.find('/'), rest.size());
    std::string host = rest.substr(0, slash);
    std::string port = is_tls ? "443" : "80";
    const bool is_bracketed = host.starts_with('[');
    const size_t colon = is_bracketed ? host.find("]:") : host.find(':');
    if (colon != std::string::npos) {
        port = host.substr(colon + (is_bracketed ? 2 : 1));
        host.resize(colon + (is_bracketed ? 1 : 0));
    }
    if (is_bracketed) {
        if (host.size() < 4 || !host.ends_with(']')) return std::nullopt;
        host = host.substr(1, host.size() - 2);
        if (std::count(host.begin(), host.end(), ':') < 2) return std::nullopt;
    }
    if (!is_host(host) || !is_port(port) || !is_url_path(rest.substr(slash))) return std::nullopt;
    return text;
}

void read_url(KeyReader& keys, RolloutServer& server) {
    if (!is_given(keys, kUrl)) return;
    const auto said = keys.text(kUrl);
    if (!said) return;
    const auto url = checked_url(*said);
    // The message does not repeat the text, because it may hold a password.
    if (!url) return keys.error(Form("CFG-SAMPLING", "url"), kUrl);
    server.url = *url;
    for (const char* key : {"trl.vllm_server_host", "trl.vllm_server_port"}) {
        if (is_given(keys, key)) keys.warn(Form("CFG-SAMPLING", "url-wins"), key);
    }
}

/// Accepts the name of an environment variable; an API key itself hardly ever looks like such a name.
bool is_variable(const std::string& text) {
    const auto fits = [](unsigned char c) { return std::isupper(c) || std::isdigit(c) || c == '_'; };
    return !text.empty() && text.size() <= 128 && !std::isdigit(static_cast<unsigned char>(text[0])) &&
           std::all_of(text.begin(), text.end(), fits);
}

/// Reads a path; nothing if the key is absent. Warns if there is no such file yet.
std::string file_named(KeyReader& keys, const char* key, const std::string& base_dir) {
    if (!is_given(keys, key)) return {};
    const auto said = keys.text(key);
    if (!said || said->empty()) return {};
    const std::string path = absolute_path(base_dir, *said);
    if (!exists(path)) keys.warn(Form("CFG-SAMPLING", "server-file"), key, {{"path", path}});
    return path;
}

/// Reads where the API key is and which CAs are trusted.
void read_credentials(KeyReader& keys, RolloutServer& server, const std::string& base_dir) {
    for (const char* key : kOpenKeys) {
        if (is_given(keys, key)) keys.error(Form("CFG-SAMPLING", "open-key"), key);
    }
    if (is_given(keys, kKeyVariable)) {
        if (const auto name = keys.text(kKeyVariable)) {
            if (is_variable(*name))
                server.key_variable = *name;
            else
                keys.error(Form("CFG-SAMPLING", "key-variable"), kKeyVariable);
        }
    }
    server.key_file = file_named(keys, kKeyFile, base_dir);
    server.ca_file = file_named(keys, kCaFile, base_dir);
    if (!server.key_variable.empty() && !server.key_file.empty())
        keys.error(Form("CFG-SAMPLING", "two-keys"), kKeyFile);
    const bool is_tls = server.url.starts_with("https:");
    if (!server.ca_file.empty() && !is_tls) keys.warn(Form("CFG-SAMPLING", "ca-idle"), kCaFile);
    const bool has_key = !server.key_variable.empty() || !server.key_file.empty();
    if (has_key && !is_tls)
        keys.warn(Form("CFG-SAMPLING", "key-readable"), server.key_file.empty() ? kKeyVariable : kKeyFile);
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
    // For 0, axolotl passes on TRL's default.
    if (is_given(keys, "trl.vllm_server_timeout") && *timeout != 0)
        take(server.timeout, keys.whole("trl.vllm_server_timeout", {1, 86400}));
}

}  // namespace

const char* to_string(ImportanceRatio ratio) {
    constexpr const char* kWords[] = {"token_truncate", "token_mask", "sequence_truncate", "sequence_mask"};
    return kWords[static_cast<int>(ratio)];
}

std::string RolloutServer::address() const {
    if (!url.empty()) return url;
    const std::string shown = host == "0.0.0.0" ? "127.0.0.1" : host;
    const bool is_ipv6 = shown.find(':') != std::string::npos;
    return "http://" + (is_ipv6 ? "[" + shown + "]" : shown) + ":" + std::to_string(port);
}

std::optional<RolloutServer> read_rollout_server(KeyReader& keys, const std::string& base_dir) {
    if (!asks_server(keys)) {
        if (keys.flag("trl.use_vllm").value_or(false))
            keys.inform(Form("CFG-SAMPLING", "vllm"), "trl.use_vllm");
        return std::nullopt;
    }
    RolloutServer server;
    read_address(keys, server);
    read_url(keys, server);
    read_credentials(keys, server, base_dir);
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
