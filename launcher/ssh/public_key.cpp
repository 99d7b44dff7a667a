#include "launcher/ssh/public_key.h"

#include <algorithm>
#include <array>
#include <bit>
#include <cctype>

namespace ringmaster {

namespace {

constexpr std::string_view kCertificate = "-cert-v01@openssh.com";
constexpr std::string_view kOwner = "@openssh.com";
constexpr size_t kLongestNumber = 2048;  ///< bytes, like OpenSSH's SSHBUF_MAX_BIGNUM
constexpr int kSmallestRsa_bits = 1024;

bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r');
}

int digit_of(char c) {
    return c >= 'A' && c <= 'Z'   ? c - 'A'
           : c >= 'a' && c <= 'z' ? c - 'a' + 26
           : c >= '0' && c <= '9' ? c - '0' + 52
           : c == '+'             ? 62
           : c == '/'             ? 63
                                  : -1;
}

/// Reads fields of the wire format in order; `good` becomes false at the first missing one.
struct Fields {
    std::string_view rest;
    bool good = true;

    std::string_view text() {
        if (rest.size() < 4) return fail();
        const auto byte = [&](size_t i) { return static_cast<size_t>(static_cast<unsigned char>(rest[i])); };
        const size_t size = byte(0) << 24 | byte(1) << 16 | byte(2) << 8 | byte(3);
        if (size > rest.size() - 4) return fail();
        const std::string_view field = rest.substr(4, size);
        rest.remove_prefix(4 + size);
        return field;
    }

    /// Reads a non-negative number without its leading zeros.
    std::string_view number() {
        std::string_view bytes = text();
        if (!bytes.empty() && (static_cast<unsigned char>(bytes[0]) & 0x80) != 0) return fail();
        while (!bytes.empty() && bytes[0] == '\0') bytes.remove_prefix(1);
        return bytes.size() <= kLongestNumber ? bytes : fail();
    }

    std::string_view exactly(size_t size) {
        const std::string_view field = text();
        return field.size() == size ? field : fail();
    }

    std::string_view fail() {
        good = false;
        return {};
    }
};

void append(std::string& blob, std::string_view field) {
    for (const int shift : {24, 16, 8, 0}) blob += static_cast<char>(field.size() >> shift & 0xff);
    blob += field;
}

void append_number(std::string& blob, std::string_view bytes) {
    const bool looks_negative = !bytes.empty() && (static_cast<unsigned char>(bytes[0]) & 0x80) != 0;
    append(blob, looks_negative ? '\0' + std::string(bytes) : std::string(bytes));
}

int bits_of(std::string_view number) {
    if (number.empty()) return 0;
    return static_cast<int>(number.size() - 1) * 8 + std::bit_width(static_cast<unsigned char>(number[0]));
}

/// Copies an ECDSA key's point, which must be uncompressed and have its curve's size.
void copy_point(Fields& fields, std::string_view curve, std::string& blob) {
    const size_t size = curve == "nistp256" ? 65 : curve == "nistp384" ? 97 : 133;
    if (fields.text() != curve) fields.fail();
    const std::string_view point = fields.exactly(size);
    if (fields.good && point[0] != '\x04') fields.fail();
    append(blob, curve);
    append(blob, point);
}

/// Copies the fields of a key of `type` in canonical form. Returns false for an unknown type.
bool copy_key(std::string_view type, Fields& fields, std::string& blob) {
    if (type == "ssh-ed25519") {
        append(blob, fields.exactly(32));
    } else if (type == "ssh-rsa") {
        const std::string_view exponent = fields.number(), modulus = fields.number();
        if (bits_of(modulus) < kSmallestRsa_bits) fields.fail();
        append_number(blob, exponent);
        append_number(blob, modulus);
    } else if (type == "ssh-dss") {
        for (int i = 0; i < 4; ++i) append_number(blob, fields.number());
    } else if (type == "ecdsa-sha2-nistp256" || type == "ecdsa-sha2-nistp384" ||
               type == "ecdsa-sha2-nistp521") {
        copy_point(fields, type.substr(type.size() - 8), blob);
    } else if (type == "sk-ssh-ed25519@openssh.com") {
        append(blob, fields.exactly(32));
        append(blob, fields.text());
    } else if (type == "sk-ecdsa-sha2-nistp256@openssh.com") {
        copy_point(fields, "nistp256", blob);
        append(blob, fields.text());
    } else {
        return false;
    }
    return true;
}

/// Returns the key type that OpenSSH reads from a blob's name; it accepts short names there, too.
std::string type_of_name(std::string_view name) {
    const std::string lower = lowered(name);
    if (lower == "rsa" || lower == "dsa" || lower == "ed25519")
        return lower == "dsa" ? "ssh-dss" : "ssh-" + lower;
    return plain_key_type(name);
}

}  // namespace

std::string lowered(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
    return lower;
}

int PublicKey::rsa_bits() const {
    if (type != "ssh-rsa") return 0;
    Fields fields{blob};
    fields.text();
    fields.number();
    return bits_of(fields.number());
}

std::optional<std::string> decode_base64(std::string_view text) {
    std::string bytes;
    unsigned value = 0;
    int bits = 0;
    size_t padding = 0, digits = 0;
    for (const char c : text) {
        if (is_blank(c)) continue;
        if (c == '=') {
            ++padding;
            continue;
        }
        const int digit = digit_of(c);
        if (digit < 0 || padding > 0) return std::nullopt;
        ++digits;
        value = (value << 6 | static_cast<unsigned>(digit)) & 0xffff;
        bits += 6;
        if (bits >= 8) bytes += static_cast<char>(value >> (bits -= 8) & 0xff);
    }
    const size_t missing = (4 - digits % 4) % 4;
    const bool leaves_bits = (value & ((1U << bits) - 1)) != 0;
    if (missing == 3 || padding != missing || leaves_bits) return std::nullopt;
    return bytes;
}

std::string encode_base64(std::string_view bytes) {
    constexpr const char* kDigits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    std::string text;
    for (size_t at = 0; at < bytes.size(); at += 3) {
        unsigned value = 0;
        for (size_t i = 0; i < 3; ++i)
            value = value << 8 | (at + i < bytes.size() ? static_cast<unsigned char>(bytes[at + i]) : 0U);
        for (size_t i = 0; i < 4; ++i)
            text += at + i <= bytes.size() ? kDigits[value >> (18 - 6 * i) & 63] : '=';
    }
    return text;
}

bool is_certificate_type(std::string_view algorithm) {
    return algorithm.ends_with(kCertificate);
}

std::string plain_key_type(std::string_view algorithm) {
    if (is_certificate_type(algorithm)) {
        algorithm.remove_suffix(kCertificate.size());
        if (algorithm.starts_with("sk-")) return std::string(algorithm) + std::string(kOwner);
    }
    if (algorithm == "rsa-sha2-256" || algorithm == "rsa-sha2-512") return "ssh-rsa";
    if (algorithm == "webauthn-sk-ecdsa-sha2-nistp256@openssh.com") return std::string(algorithm.substr(9));
    return std::string(algorithm);
}

std::optional<PublicKey> parse_key_blob(std::string_view blob) {
    Fields fields{blob};
    const std::string_view name = fields.text();
    PublicKey key;
    key.type = type_of_name(name);
    key.is_certificate = is_certificate_type(name);
    append(key.blob, key.type);
    if (key.is_certificate) fields.text();  // the nonce
    if (!copy_key(key.type, fields, key.blob) || !fields.good) return std::nullopt;
    if (!key.is_certificate && !fields.rest.empty()) return std::nullopt;
    return key;
}

std::optional<PublicKey> parse_key_text(std::string_view text) {
    constexpr std::string_view kBlanks = " \t";
    const size_t type_end = text.find_first_of(kBlanks);
    if (type_end == std::string_view::npos) return std::nullopt;
    const std::string_view type = text.substr(0, type_end);
    text.remove_prefix(std::min(text.find_first_not_of(kBlanks, type_end), text.size()));
    const std::optional<std::string> blob = decode_base64(text.substr(0, text.find_first_of(kBlanks)));
    if (!blob) return std::nullopt;
    std::optional<PublicKey> key = parse_key_blob(*blob);
    const bool is_of_type =
        key && key->type == plain_key_type(type) && key->is_certificate == is_certificate_type(type);
    return is_of_type ? key : std::nullopt;
}

}  // namespace ringmaster
