/// Returns the text that each token stands for, read from a tokenizer.json (the file of Hugging Face's
/// tokenizers).
///
/// Tokenizers write bytes as pieces in one of three ways: byte-level BPE (GPT-2's table of visible letters,
/// encoder.py), SentencePiece ("▁" for a space, "<0x0A>" for a byte) and WordPiece ("##" for a piece that
/// continues a word).
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

class TokenText {
  public:
    TokenText() = default;

    /// Reads FOLDER/tokenizer.json. Without such a file every token is written as its number. Throws
    /// Error(Refused) if the file is damaged.
    static TokenText read(const std::filesystem::path& folder);

    bool known() const { return !begins_.empty(); }
    int32_t count() const { return known() ? static_cast<int32_t>(begins_.size()) - 1 : 0; }

    /// Returns the bytes of a token, which may be part of a UTF-8 character; empty for an unknown token.
    std::string_view bytes(int32_t id) const {
        if (id < 0 || static_cast<size_t>(id) + 1 >= begins_.size()) return {};
        const auto at = static_cast<size_t>(id);
        return std::string_view(text_).substr(begins_[at], begins_[at + 1] - begins_[at]);
    }
    std::string text(int32_t id) const;  ///< same as bytes(), but "<17>" for an unknown token
    bool is_special(int32_t id) const {
        return id >= 0 && static_cast<size_t>(id) < special_.size() && special_[static_cast<size_t>(id)];
    }

  private:
    std::string text_;            ///< bytes of all tokens, in order of their ids
    std::vector<size_t> begins_;  ///< token i is text_[begins_[i], begins_[i + 1])
    std::vector<char> special_;
};

}  // namespace ringmaster
