/// Computes SHA-256 (FIPS 180-4) and HMAC-SHA-256 (RFC 2104), with which the processes of a run authenticate.
/// The code does not use a library, because agent and engine are copied to machines that may lack one.
/// Messages are short, so speed does not matter.
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
    Digest digest();  ///< returns the digest of all added bytes; add no bytes after it

  private:
    void take_block(const uint8_t* block);

    std::array<uint32_t, 8> state_{0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                   0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    std::array<uint8_t, 64> pending_{};
    uint64_t bytes_ = 0;
};

Digest sha256(std::string_view bytes);
Digest hmac_sha256(std::string_view key, std::string_view text);

/// Returns the HMAC over the parts. Each part is preceded by its length, so that different lists never give
/// the same text.
Digest mac(std::string_view key, std::initializer_list<std::string_view> parts);

std::string_view bytes_of(const Digest& digest);
std::string to_hex(std::string_view bytes);  ///< lower case

/// Compares in a time that does not depend on where the texts differ.
bool is_same(std::string_view a, std::string_view b);

/// Returns random bytes from the operating system. Throws Error(Unreachable) if it provides none.
std::string random_bytes(size_t count);

}  // namespace ringmaster
