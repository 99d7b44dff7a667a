/// Computes CRC-32C (Castagnoli), the checksum of iSCSI (RFC 3720, appendix B.4), ext4 and a
/// checkpoint's `complete` file. It detects truncation and bit rot, but does not protect against
/// deliberate changes.
#pragma once

#include <cstddef>
#include <cstdint>

namespace ringmaster {

/// Continues `crc` (0 at the beginning) over `size` bytes: crc32c(crc32c(0, a), b) is the checksum of a
/// followed by b. With SSE 4.2 it reads three streams at once, about 8 bytes per cycle; otherwise it uses a
/// table, byte by byte.
uint32_t crc32c(uint32_t crc, const void* data, size_t size);

/// Computes crc32c() with a table, for processors without SSE 4.2.
uint32_t crc32c_by_table(uint32_t crc, const void* data, size_t size);

}  // namespace ringmaster
