/// Limits the numbers and sizes in a run's files. Readers refuse numbers outside these limits, so that a
/// damaged or forged file costs little memory and time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace ringmaster::limits {

constexpr int kRanks = 65536;  ///< maximum number of ranks that can be planned
constexpr int64_t kSteps = 1'000'000'000'000;
constexpr int64_t kCount = int64_t{1} << 60;  ///< tokens, bytes or cells; a sum of seven fits in an int64_t
constexpr double kSeconds = 1e11;             ///< Unix time in the year 5138
constexpr size_t kEvent = 64 << 10;           ///< bytes of one line of events
constexpr size_t kEventText = 4 << 10;        ///< bytes of one string in an event; longer ones are cut
constexpr size_t kReason = 16 << 10;          ///< bytes of the reason why a run ended; longer ones are cut
constexpr size_t kName = 1024;                ///< bytes of a name, host or path
constexpr int64_t kStateFile = 4 << 20;       ///< bytes of run.json

/// Cuts UTF-8 text to `most` bytes, between two characters.
inline void cut(std::string& text, size_t most) {
    if (text.size() <= most) return;
    while (most > 0 && (static_cast<unsigned char>(text[most]) & 0xC0) == 0x80) --most;
    text.resize(most);
}

}  // namespace ringmaster::limits
