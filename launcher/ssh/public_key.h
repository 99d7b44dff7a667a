/// Public keys of SSH as text files hold them, "ssh-ed25519 AAAA… comment": RFC 4253 section 6.6, RFC 5656,
/// RFC 8709, and OpenSSH's PROTOCOL.certkeys and PROTOCOL.u2f. Nothing here calls libssh, so that any bytes
/// may be parsed.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace ringmaster {

struct PublicKey {
    std::string type;  ///< of the key itself: "ssh-rsa", "ssh-ed25519", "ecdsa-sha2-nistp256", …
    std::string blob;  ///< its canonical encoding, without a certificate: equal keys have equal bytes
    bool is_certificate = false;

    int rsa_bits() const;  ///< 0 for other types
};

/// Empty for malformed Base64. White space is skipped, as OpenSSH does.
std::optional<std::string> decode_base64(std::string_view text);
std::string encode_base64(std::string_view bytes);

/// Empty for a malformed key, an RSA key under 1,024 bits (which OpenSSH does not read either), a type that
/// is not known. A certificate's signature is not verified.
std::optional<PublicKey> parse_key_blob(std::string_view blob);
/// "TYPE BASE64" and any comment. Empty as above, and if TYPE is not the key's.
std::optional<PublicKey> parse_key_text(std::string_view text);

/// The key type behind an algorithm's name: "ssh-rsa" for "rsa-sha2-512-cert-v01@openssh.com".
std::string plain_key_type(std::string_view algorithm);
bool is_certificate_type(std::string_view algorithm);

}  // namespace ringmaster
