/// A value that lies where strangers may read and write, such as c10d's store: nobody without the key can
/// read it, and one that was changed, or belongs to another name, is noticed.
///
///     16 bytes of nonce, the text XOR HMAC(encryption key, nonce and block number), HMAC over name, nonce
///     and both
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringmaster {

std::string sealed(std::string_view key, std::string_view name, std::string_view text);

/// Empty: not sealed with this key under this name.
std::optional<std::string> opened(std::string_view key, std::string_view name, std::string_view value);

}  // namespace ringmaster
