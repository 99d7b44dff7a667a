#include "engine/sample/token_texts.h"

#include <algorithm>

#include "engine/error.h"
#include "engine/files/safetensors.h"

namespace ringmaster {

namespace {

constexpr const char* kUnknown = "\xEF\xBF\xBD";  // U+FFFD

bool continues(char byte) {
    return (static_cast<unsigned char>(byte) & 0xC0) == 0x80;
}

/// Returns how many bytes the character that begins with this byte has; 0 if no character begins with it.
size_t length_from(char first) {
    const auto byte = static_cast<unsigned char>(first);
    if (byte < 0x80) return 1;
    if (byte >= 0xC2 && byte < 0xE0) return 2;
    if (byte >= 0xE0 && byte < 0xF0) return 3;
    return byte >= 0xF0 && byte < 0xF5 ? 4 : 0;
}

/// Returns whether UTF-8 allows the first two bytes of a character that has three or four bytes.
bool is_allowed(const std::string& text, size_t at) {
    const auto first = static_cast<unsigned char>(text[at]),
               second = static_cast<unsigned char>(text[at + 1]);
    return !(first == 0xE0 && second < 0xA0) && !(first == 0xED && second > 0x9F) &&
           !(first == 0xF0 && second < 0x90) && !(first == 0xF4 && second > 0x8F);
}

}  // namespace

TokenTexts::TokenTexts(const std::filesystem::path& path) {
    const SafetensorsFile file(path);
    const auto bytes = file.elements<uint8_t>("bytes", "U8");
    const auto offsets = file.elements<int64_t>("offsets", "I64");
    bytes_.assign(bytes.begin(), bytes.end());
    offsets_.assign(offsets.begin(), offsets.end());
    const bool is_whole = !offsets_.empty() && offsets_.front() == 0 &&
                          std::is_sorted(offsets_.begin(), offsets_.end()) &&
                          offsets_.back() == static_cast<int64_t>(bytes_.size());
    if (!is_whole)
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "does not hold the texts of tokens",
                    path.string(), "prepare the run again");
}

std::string TokenTexts::bytes_of(int64_t id) const {
    if (id < 0 || id + 1 >= static_cast<int64_t>(offsets_.size())) return {};
    const auto at = static_cast<size_t>(id);
    return {bytes_.begin() + offsets_[at], bytes_.begin() + offsets_[at + 1]};
}

std::string TokenTexts::text_of(const std::vector<int64_t>& ids) const {
    TextStream stream;
    std::string text;
    for (const int64_t id : ids) text += stream.add(bytes_of(id));
    return text + stream.end();
}

std::string TextStream::add(const std::string& bytes) {
    pending_ += bytes;
    std::string text;
    size_t at = 0;
    while (at < pending_.size()) {
        const size_t length = length_from(pending_[at]);
        size_t found = length == 0 ? 0 : 1;
        while (found < length && at + found < pending_.size() && continues(pending_[at + found]) &&
               (found != 1 || is_allowed(pending_, at)))
            ++found;
        // The character's other bytes may come with the next token.
        if (found < length && at + found == pending_.size()) break;
        text += found == length && length > 0 ? pending_.substr(at, length) : kUnknown;
        at += std::max<size_t>(1, found);
    }
    pending_.erase(0, at);
    return text;
}

std::string TextStream::end() {
    const std::string text = pending_.empty() ? "" : kUnknown;
    pending_.clear();
    return text;
}

}  // namespace ringmaster
