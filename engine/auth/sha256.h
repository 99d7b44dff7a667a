/// SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), for what the processes of a run prove to each other.
/// Here rather than from a library: the agent and the engine are sent to machines that may have none, and a
/// message is short.
#pragma once

#include <array>
#include <cstdint>
#include <initializer_list>
#include <string>
#include <string_view>

namespace ringmaster {

using Digest = std::array<uint8_t, 32>;

class Sha256 {
  public:
    Sha256& add(std::string_view bytes);
    Digest digest();  ///< of all that was added; nothing may be added afterwards

  private:
    void take_block(const uint8_t* block);

    std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<uint8_t, 64> pending_{};
    uint64_t bytes_ = 0;
};

Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view text);

/// HMAC over the parts, each with its length before it: no two lists of parts have the same text.
Digest mac(std::string_view key, std::initializer_list<std::string_view> parts);

std::string_view bytes_of(const Digest& digest);
std::string to_hex(std::string_view bytes);  ///< lower case

/// Takes the same time wherever they differ.
bool is_same(std::string_view a, std::string_view b);

/// From the kernel's generator. Throws Error(Unreachable) where it has none.
std::string random_bytes(size_t count);

}  // namespace ringmaster
