/// Removes secrets from text that leaves this machine: values under keys that name a secret, tokens
/// of known services by their format, credentials in URLs, private keys, and every known secret
/// value.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <set>
#include <string>
#include <string_view>

namespace ringmaster {

/// The text that replaces a secret.
constexpr std::string_view kMasked = "[removed]";

/// Returns true for "HF_TOKEN", "hub_token", "wandb_api_key" and "password", false for "eos_token",
/// "special_tokens", "num_tokens" and "tokenizer_config".
bool names_secret(std::string_view key);

/// Returns the values of the environment variables for which names_secret() is true.
std::set<std::string> secrets_of_environment();

/// Returns the strings under keys that name a secret in YAML or JSON; none if the text is neither.
std::set<std::string> secrets_of_document(std::string_view text);

/// Masks all secrets. Removes `known` values everywhere, but a value of less than 6 bytes only under a key
/// that names a secret.
std::string without_secrets(const std::string& text, const std::set<std::string>& known);

/// Masks known values and tokens of known formats in every string of a JSON value, but not 40-digit
/// hexadecimal strings, which may be commit hashes. Does not mask strings under `kept` keys, which are paths.
void mask_secrets(nlohmann::json& value, const std::set<std::string>& known,
                  const std::set<std::string>& kept);

}  // namespace ringmaster
