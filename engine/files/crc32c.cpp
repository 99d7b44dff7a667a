#include "engine/files/crc32c.h"

#include <array>
#include <cstring>

#if defined(__x86_64__)
#include <nmmintrin.h>
#endif

namespace ringmaster {

namespace {

constexpr uint32_t kPolynomial = 0x82f63b78;  ///< in reflected bit order

using Table = std::array<uint32_t, 256>;

constexpr Table byte_table() {
    Table table{};
    for (uint32_t byte = 0; byte < 256; ++byte) {
        uint32_t crc = byte;
        for (int bit = 0; bit < 8; ++bit) crc = (crc >> 1) ^ ((crc & 1) != 0 ? kPolynomial : 0);
        table[byte] = crc;
    }
    return table;
}
constexpr Table kByte = byte_table();

/// Advances the state by a byte, without the inversion at both ends.
constexpr uint32_t after_byte(uint32_t state, uint8_t byte) {
    return (state >> 8) ^ kByte[(state ^ byte) & 0xff];
}

#if defined(__x86_64__)

constexpr size_t kStream = 4096;  ///< bytes in each of the three streams, a multiple of 8

/// Maps each byte of a state to the state after kStream zero bytes. CRC is linear, so the checksum of two
/// consecutive blocks is the first block's checksum, shifted by the second block's length, xor the second
/// block's checksum (Mark Adler's crc32c.c).
struct Shift {
    std::array<Table, 4> tables{};

    Shift() {
        for (uint32_t place = 0; place < 4; ++place) {
            for (uint32_t byte = 0; byte < 256; ++byte) {
                uint32_t state = byte << (8 * place);
                for (size_t i = 0; i < kStream; ++i) state = after_byte(state, 0);
                tables[place][byte] = state;
            }
        }
    }
    uint32_t operator()(uint32_t state) const {
        return tables[0][state & 0xff] ^ tables[1][(state >> 8) & 0xff] ^ tables[2][(state >> 16) & 0xff] ^
               tables[3][state >> 24];
    }
};

uint64_t word_at(const uint8_t* bytes) {
    uint64_t word = 0;
    std::memcpy(&word, bytes, sizeof word);
    return word;
}

/// Computes CRC-32C with SSE 4.2's instruction, which takes 3 cycles but can start every cycle. Three
/// independent streams keep it busy.
__attribute__((target("sse4.2"))) uint32_t with_instruction(uint32_t crc, const uint8_t* bytes, size_t size) {
    static const Shift shift;
    uint64_t state = ~crc;
    for (; size >= 3 * kStream; bytes += 3 * kStream, size -= 3 * kStream) {
        uint64_t second = 0, third = 0;
        for (size_t i = 0; i < kStream; i += 8) {
            state = _mm_crc32_u64(state, word_at(bytes + i));
            second = _mm_crc32_u64(second, word_at(bytes + kStream + i));
            third = _mm_crc32_u64(third, word_at(bytes + 2 * kStream + i));
        }
        state = shift(static_cast<uint32_t>(state)) ^ second;
        state = shift(static_cast<uint32_t>(state)) ^ third;
    }
    for (; size >= 8; bytes += 8, size -= 8) state = _mm_crc32_u64(state, word_at(bytes));
    for (; size > 0; ++bytes, --size) state = _mm_crc32_u8(static_cast<uint32_t>(state), *bytes);
    return ~static_cast<uint32_t>(state);
}

#endif

}  // namespace

uint32_t crc32c_by_table(uint32_t crc, const void* data, size_t size) {
    const auto* bytes = static_cast<const uint8_t*>(data);
    uint32_t state = ~crc;
    for (size_t i = 0; i < size; ++i) state = after_byte(state, bytes[i]);
    return ~state;
}

uint32_t crc32c(uint32_t crc, const void* data, size_t size) {
#if defined(__x86_64__)
    static const bool has_instruction = __builtin_cpu_supports("sse4.2") != 0;
    if (has_instruction) return with_instruction(crc, static_cast<const uint8_t*>(data), size);
#endif
    return crc32c_by_table(crc, data, size);
}

}  // namespace ringmaster
