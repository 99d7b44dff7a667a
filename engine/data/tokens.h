/// Prepared rows, mapped: `input_ids` and `labels` of all rows one behind the other, and where each row
/// begins. A packed row holds several documents: `document_offsets` says where each begins.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "engine/files/safetensors.h"

namespace ringmaster {

constexpr int32_t kNoLabel = -100;

struct Row {
    std::span<const int32_t> input_ids;
    std::span<const int32_t> labels;     ///< not shifted; the first of a document is the label of nothing
    std::vector<int64_t> document_ends;  ///< ascending, the last is tokens(); one where the row is not packed
    int64_t place = 0;                   ///< of its first token, in the file

    int64_t tokens() const { return static_cast<int64_t>(input_ids.size()); }
    /// Labels that a loss is taken on: from each document's second token on, without -100.
    int64_t valid_labels() const;
    /// Its first `tokens`, the last document cut.
    Row head(int64_t tokens) const;
    /// Its documents, a row each.
    std::vector<Row> documents() const;
};

class TokenFile {
  public:
    /// Maps tokens.safetensors. Throws Error(Usage) missing, Error(Refused) where it is damaged.
    explicit TokenFile(const std::filesystem::path& path);

    int64_t rows() const { return static_cast<int64_t>(offsets_.size()) - 1; }
    Row row(int64_t index) const;
    int64_t tokens_of(int64_t index) const {
        return offsets_[static_cast<size_t>(index) + 1] - offsets_[static_cast<size_t>(index)];
    }

    /// Throws Error(Refused) naming the row where an id is outside [0, vocab_size), a label outside it and
    /// not -100, or a row is empty or longer than `longest`.
    void check(int64_t vocab_size, int64_t longest) const;

  private:
    SafetensorsFile file_;
    std::span<const int32_t> input_ids_;
    std::span<const int32_t> labels_;
    std::span<const int64_t> offsets_;
    std::span<const int64_t> documents_;  ///< empty: rows are not packed
};

std::vector<Row> rows_of(const TokenFile& file, const std::vector<int64_t>& indices);

}  // namespace ringmaster
