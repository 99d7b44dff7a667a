#include "engine/auth/sha256.h"

#include <sys/random.h>

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstring>

#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr size_t kBlock = 64;

/// The first 32 bits of the fractional parts of the cube roots of the first 64 primes.
constexpr std::array<uint32_t, 64> kRound = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

uint32_t big_endian(const uint8_t* bytes) {
    return uint32_t{bytes[0]} << 24 | uint32_t{bytes[1]} << 16 | uint32_t{bytes[2]} << 8 | bytes[3];
}

}  // namespace

void Sha256::take_block(const uint8_t* block) {
    std::array<uint32_t, 64> w{};
    for (size_t i = 0; i < 16; ++i) w[i] = big_endian(block + 4 * i);
    for (size_t i = 16; i < 64; ++i) {
        const uint32_t s0 = std::rotr(w[i - 15], 7) ^ std::rotr(w[i - 15], 18) ^ (w[i - 15] >> 3);
        const uint32_t s1 = std::rotr(w[i - 2], 17) ^ std::rotr(w[i - 2], 19) ^ (w[i - 2] >> 10);
        w[i] = w[i - 16] + s0 + w[i - 7] + s1;
    }
    auto [a, b, c, d, e, f, g, h] = state_;
    for (size_t i = 0; i < 64; ++i) {
        const uint32_t s1 = std::rotr(e, 6) ^ std::rotr(e, 11) ^ std::rotr(e, 25);
        const uint32_t t1 = h + s1 + ((e & f) ^ (~e & g)) + kRound[i] + w[i];
        const uint32_t s0 = std::rotr(a, 2) ^ std::rotr(a, 13) ^ std::rotr(a, 22);
        const uint32_t t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
    }
    const std::array<uint32_t, 8> added = {a, b, c, d, e, f, g, h};
    for (size_t i = 0; i < state_.size(); ++i) state_[i] += added[i];
}

Sha256& Sha256::add(std::string_view bytes) {
    while (!bytes.empty()) {
        const size_t held = bytes_ % kBlock;
        const size_t taken = std::min(kBlock - held, bytes.size());
        std::memcpy(pending_.data() + held, bytes.data(), taken);
        bytes_ += taken;
        bytes.remove_prefix(taken);
        if (bytes_ % kBlock == 0) take_block(pending_.data());
    }
    return *this;
}

Digest Sha256::digest() {
    const uint64_t bits = 8 * bytes_;
    std::string end(1, '\x80');
    end.append((2 * kBlock - 9 - bytes_ % kBlock) % kBlock, '\0');
    for (int shift = 56; shift >= 0; shift -= 8) end += static_cast<char>(bits >> shift & 0xff);
    add(end);
    Digest digest{};
    for (size_t i = 0; i < digest.size(); ++i)
        digest[i] = static_cast<uint8_t>(state_[i / 4] >> (24 - 8 * (i % 4)));
    return digest;
}

Digest sha256(std::string_view bytes) {
    return Sha256().add(bytes).digest();
}

Digest hmac_sha256(std::string_view key, std::string_view text) {
    const Digest short_key = sha256(key);
    if (key.size() > kBlock) key = bytes_of(short_key);
    std::string inner(kBlock, '\x36'), outer(kBlock, '\x5c');
    for (size_t i = 0; i < key.size(); ++i) {
        inner[i] = static_cast<char>(inner[i] ^ key[i]);
        outer[i] = static_cast<char>(outer[i] ^ key[i]);
    }
    const Digest of_text = Sha256().add(inner).add(text).digest();
    return Sha256().add(outer).add(bytes_of(of_text)).digest();
}

Digest mac(std::string_view key, std::initializer_list<std::string_view> parts) {
    std::string text;
    for (const std::string_view part : parts) {
        text += std::to_string(part.size()) + ":";
        text += part;
    }
    return hmac_sha256(key, text);
}

std::string_view bytes_of(const Digest& digest) {
    return {reinterpret_cast<const char*>(digest.data()), digest.size()};
}

std::string to_hex(std::string_view bytes) {
    std::string text;
    for (const char byte : bytes) {
        text += "0123456789abcdef"[static_cast<uint8_t>(byte) >> 4];
        text += "0123456789abcdef"[static_cast<uint8_t>(byte) & 15];
    }
    return text;
}

bool is_same(std::string_view a, std::string_view b) {
    if (a.size() != b.size()) return false;
    // The variable is volatile, so that the compiler does not stop at the first difference.
    volatile unsigned char differs = 0;
    for (size_t i = 0; i < a.size(); ++i)
        differs = static_cast<unsigned char>(differs | static_cast<unsigned char>(a[i] ^ b[i]));
    return differs == 0;
}

std::string random_bytes(size_t count) {
    std::string bytes(count, '\0');
    for (size_t done = 0; done < count;) {
        const ssize_t got = ::getrandom(bytes.data() + done, count - done, 0);
        if (got < 0 && errno == EINTR) continue;
        if (got <= 0)
            throw Error(Failure::Unreachable, Code("INTERNAL-ERROR"),
                        std::string("no random bytes: ") + std::strerror(errno));
        done += static_cast<size_t>(got);
    }
    return bytes;
}

}  // namespace ringmaster
