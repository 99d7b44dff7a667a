/// Seals values for places where strangers may read and write, such as c10d's store: nobody without the key
/// can read a value, and a value that was changed or moved to another name is rejected.
///
/// A sealed value is 16 bytes of nonce, the text XOR HMAC(encryption key, nonce and block number), and an
/// HMAC over name, nonce and encrypted text.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringmaster {

std::string sealed(std::string_view key, std::string_view name, std::string_view text);

/// Returns the text, or nothing if the value was not sealed with this key under this name.
std::optional<std::string> opened(std::string_view key, std::string_view name, std::string_view value);

}  // namespace ringmaster
