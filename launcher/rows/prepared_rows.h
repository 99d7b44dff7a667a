/// Shows prepared rows as the model sees them. The file is mapped; only the rows that are asked for are
/// copied.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "engine/data/tokens.h"
#include "launcher/base/token_text.h"

namespace ringmaster {

enum class TokenKind {
    Trained,  ///< the loss is computed on this token
    Masked,   ///< read by the model, but not a label
    Special,  ///< special token of the tokenizer, trained or not
};
const char* to_string(TokenKind kind);  ///< "trained", "masked", "special"

/// Adjacent tokens of one kind in one document.
struct RowPart {
    TokenKind kind = TokenKind::Masked;
    bool trained = false;  ///< special tokens may be trained too
    std::string text;      ///< may begin or end within a UTF-8 character
    std::vector<int32_t> ids;
    int64_t document = 0;  ///< index of the part's document in the row
};

struct ShownRow {
    int64_t index = 0;  ///< index in the file, from 0
    int64_t tokens = 0, trained = 0, documents = 1;
    std::vector<RowPart> parts;
};

/// Rows whose lengths lie in (from, to].
struct LengthBin {
    int64_t from = 0, to = 0, rows = 0;
};

struct RepeatedRows {
    int64_t rows = 0;  ///< rows that equal an earlier row
    /// Up to 100 pairs (repeated row, the earlier row that it equals).
    std::vector<std::pair<int64_t, int64_t>> examples;
};

class PreparedRows {
  public:
    /// Maps tokens.safetensors. Throws Error.
    PreparedRows(const std::filesystem::path& tokens, TokenText text);

    int64_t rows() const { return file_.rows(); }
    const TokenText& text() const { return text_; }
    const TokenFile& file() const { return file_; }

    int64_t length(int64_t row) const { return file_.row(row).tokens(); }
    ShownRow row(int64_t index, int64_t most_tokens = int64_t{1} << 40) const;
    /// Returns the beginning of a row's text, on one line.
    std::string beginning(int64_t index, int64_t tokens) const;

    /// Returns up to `bins` bins of equal width, the last of which ends at `longest` tokens.
    std::vector<LengthBin> lengths(int64_t longest, int bins) const;
    RepeatedRows duplicates() const;
    int64_t trained_tokens() const;

  private:
    TokenFile file_;
    TokenText text_;
};

}  // namespace ringmaster
