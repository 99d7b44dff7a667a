#include "engine/auth/sealed.h"

#include "engine/auth/sha256.h"

namespace ringmaster {

namespace {

constexpr size_t kNonce = 16;

std::string with_key_stream(std::string_view key, std::string_view nonce, std::string_view text) {
    const Digest stream_key = mac(key, {"encrypt"});
    std::string out(text);
    Digest block{};
    for (size_t i = 0; i < out.size(); ++i) {
        if (i % block.size() == 0)
            block = mac(bytes_of(stream_key), {nonce, std::to_string(i / block.size())});
        out[i] = static_cast<char>(out[i] ^ static_cast<char>(block[i % block.size()]));
    }
    return out;
}

Digest tag_of(std::string_view key, std::string_view name, std::string_view nonce, std::string_view hidden) {
    return mac(bytes_of(mac(key, {"authenticate"})), {name, nonce, hidden});
}

}  // namespace

std::string sealed(std::string_view key, std::string_view name, std::string_view text) {
    const std::string nonce = random_bytes(kNonce);
    const std::string hidden = with_key_stream(key, nonce, text);
    const Digest tag = tag_of(key, name, nonce, hidden);
    return nonce + hidden + std::string(bytes_of(tag));
}

std::optional<std::string> opened(std::string_view key, std::string_view name, std::string_view value) {
    constexpr size_t kTag = sizeof(Digest);
    if (value.size() < kNonce + kTag) return std::nullopt;
    const std::string_view nonce = value.substr(0, kNonce);
    const std::string_view hidden = value.substr(kNonce, value.size() - kNonce - kTag);
    const Digest tag = tag_of(key, name, nonce, hidden);
    if (!is_same(bytes_of(tag), value.substr(value.size() - kTag))) return std::nullopt;
    return with_key_stream(key, nonce, hidden);
}

}  // namespace ringmaster
