/// Takes secrets out of text that leaves this machine: what stands under a key that names one, what looks
/// like a token of a known service, credentials in URLs, private keys, and every value that is known to be
/// one.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

namespace ringmaster {

/// What a secret is replaced with.
constexpr std::string_view kMasked = "[removed]";

/// "HF_TOKEN", "hub_token", "wandb_api_key", "password"; not "eos_token", "special_tokens",
/// "num_tokens", "tokenizer_config".
bool names_secret(std::string_view key);

/// Values of this process's environment whose names name a secret.
std::set<std::string> secrets_of_environment();

/// The text values under keys that name a secret, in a YAML or JSON text; none where it is neither.
std::set<std::string> secrets_of_document(std::string_view text);

/// `known`: removed wherever they stand; those shorter than 6 bytes only where a key names them.
std::string without_secrets(const std::string& text, const std::set<std::string>& known);

/// As without_secrets, in every text of a JSON value, by their look and as known values alone: hashes of
/// commits stay. What stands under `kept` keys stays too: paths, which an unlucky secret may not change.
void mask_secrets(nlohmann::json& value, const std::set<std::string>& known,
                  const std::set<std::string>& kept);

}  // namespace ringmaster
