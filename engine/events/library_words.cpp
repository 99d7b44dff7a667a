#include "engine/events/library_words.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <string>

#include "engine/error.h"

namespace ringmaster {

namespace {

struct LibraryWords {
    std::string_view words;  ///< in lower case
    std::string_view cause;
};

constexpr std::array<LibraryWords, 13> kLibraryWords{{
    {"out of memory", cause::kMemory},
    {"bad_alloc", cause::kMemory},
    {"cannot allocate memory", cause::kMemory},
    {"can't allocate memory", cause::kMemory},
    {"collective operation timeout", cause::kTimeout},  // NCCL's watchdog
    {"connection closed by peer", cause::kPeerLost},
    {"connection reset by peer", cause::kPeerLost},
    {"broken pipe", cause::kPeerLost},
    {"socket closed", cause::kPeerLost},
    {"connection was likely closed", cause::kPeerLost},
    {"connection refused", cause::kPeerLost},
    {"remote process exited", cause::kPeerLost},
    {"ncclremoteerror", cause::kPeerLost},
}};

}  // namespace

std::string_view cause_in(std::string_view text) {
    std::string lower(text);
    std::transform(lower.begin(), lower.end(), lower.begin(),
                   [](unsigned char c) { return std::tolower(c); });
    for (const auto& [words, cause] : kLibraryWords) {
        if (lower.find(words) != std::string::npos) return cause;
    }
    return {};
}

}  // namespace ringmaster
