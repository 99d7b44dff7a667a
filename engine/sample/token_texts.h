/// Turns tokens into text, a token at a time. The launcher writes the bytes that each token adds to a
/// text (launcher/base/token_text.h), so that the engine needs no tokenizer.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

namespace ringmaster {

class TokenTexts {
  public:
    TokenTexts() = default;  ///< makes an object in which no token has text
    /// Reads `bytes` (U8) and `offsets` (I64, one more than tokens). Throws Error(Refused) on a damaged file.
    explicit TokenTexts(const std::filesystem::path& file);

    std::string bytes_of(int64_t id) const;
    std::string text_of(const std::vector<int64_t>& ids) const;

  private:
    std::vector<uint8_t> bytes_;
    std::vector<int64_t> offsets_;
};

/// Collects a text's bytes and returns whole characters, because a token may end within a character.
class TextStream {
  public:
    /// Returns the characters that these bytes complete. Replaces bytes that are not UTF-8 by U+FFFD.
    std::string add(const std::string& bytes);
    /// Ends the text: returns U+FFFD if the bytes of an incomplete character are left, else an empty string.
    std::string end();

  private:
    std::string pending_;
};

}  // namespace ringmaster
