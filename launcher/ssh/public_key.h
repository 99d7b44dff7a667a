/// Parses public SSH keys in text form, "ssh-ed25519 AAAA… comment": RFC 4253 section 6.6, RFC 5656, RFC
/// 8709, and OpenSSH's PROTOCOL.certkeys and PROTOCOL.u2f. Does not call libssh, so any bytes can be parsed
/// safely.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringmaster {

struct PublicKey {
    std::string type;  ///< type of the key itself: "ssh-rsa", "ssh-ed25519", "ecdsa-sha2-nistp256", …
    std::string blob;  ///< canonical encoding without a certificate: equal keys have equal bytes
    bool is_certificate = false;

    int rsa_bits() const;  ///< 0 for other types
};

/// Decodes Base64, skipping white space like OpenSSH; nullopt if malformed.
std::optional<std::string> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

/// Parses a key; nullopt if it is malformed, an RSA key under 1,024 bits (OpenSSH rejects those, too), or of
/// an unknown type. Does not verify a certificate's signature.
std::optional<PublicKey> parse_key_blob(std::string_view blob);
/// Parses "TYPE BASE64" and any comment; nullopt as above, or if TYPE is not the key's type.
std::optional<PublicKey> parse_key_text(std::string_view text);

/// Returns the key type of an algorithm: "ssh-rsa" for "rsa-sha2-512-cert-v01@openssh.com".
std::string plain_key_type(std::string_view algorithm);
bool is_certificate_type(std::string_view algorithm);

/// Returns names of keys and hosts, which are ASCII, in lower case.
std::string lowered(std::string_view text);

}  // namespace ringmaster
