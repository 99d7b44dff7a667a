/// Maps prepared rows from a file: `input_ids` and `labels` of all rows one after the other, and the offset
/// of each row. A packed row holds several documents, which begin at `document_offsets`. In data of
/// preference pairs a row holds whole pairs: a chosen document, then the rejected one. Data for KTO have
/// `desirable`, 0 or 1 for each document. For a model that gives scores, each label stands at the index of
/// the token that predicts it, and the file holds `own_labels`.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <vector>

#include "engine/config/preference.h"
#include "engine/files/safetensors.h"

namespace ringmaster {

constexpr int32_t kNoLabel = -100;

struct Row {
    std::span<const int32_t> input_ids;
    std::span<const int32_t> labels;  ///< not shifted; a document's first label belongs to no token
    /// Ends of the row's documents, ascending; the last is tokens(). A row that is not packed has one.
    std::vector<int64_t> document_ends;
    int64_t place = 0;  ///< index in the file of the row's first token
    /// Distance from a label back to the token that predicts it: 1 for the preceding token; 0 for the label's
    /// own token, if the model gives scores.
    int64_t label_shift = 1;

    int64_t tokens() const { return static_cast<int64_t>(input_ids.size()); }
    /// Returns the number of labels in the loss: all but -100 and those that no token predicts.
    int64_t valid_labels() const;
    /// Returns the row's first `tokens` tokens; cuts the last document if needed.
    Row head(int64_t tokens) const;
    /// Returns the row's documents, each as a row.
    std::vector<Row> documents() const;
    /// Returns how many tokens of a single document precede the first one that has a label.
    int64_t prompt_tokens() const;
};

class TokenFile {
  public:
    /// Maps tokens.safetensors. Throws Error(Usage) if it is missing, Error(Refused) if it is damaged.
    explicit TokenFile(const std::filesystem::path& path);

    int64_t rows() const { return static_cast<int64_t>(offsets_.size()) - 1; }
    Row row(int64_t index) const;
    int64_t tokens_of(int64_t index) const {
        return offsets_[static_cast<size_t>(index) + 1] - offsets_[static_cast<size_t>(index)];
    }

    /// Throws Error(Refused) with the row's number if an id is outside [0, vocab_size), if a label is outside
    /// [0, labels) and not -100, or if a row is empty or longer than `longest`.
    void check(int64_t vocab_size, int64_t labels, int64_t longest) const;
    /// Checks preference rows further: throws Error(Refused) with the number of the first row that does not
    /// hold pairs, or KTO's answers, or that has a document without labels or one longer than `longest`.
    void check_preferences(const Preference& preference, int64_t longest) const;
    /// Returns a checksum of the tokens, the labels and where documents begin.
    int64_t checksum() const;
    /// Returns whether KTO's row marks the document that begins at `place` as desirable.
    bool is_desirable(int64_t place) const;

  private:
    [[noreturn]] void refuse(int64_t index, const std::string& what) const;

    SafetensorsFile file_;
    std::span<const int32_t> input_ids_;
    std::span<const int32_t> labels_;
    std::span<const int64_t> offsets_;
    std::span<const int64_t> documents_;  ///< empty: a row is one document
    std::span<const int32_t> desirable_;  ///< empty unless the rows are KTO's
    int64_t label_shift_ = 1;
};

/// Returns the rows with these indices, in the order of `indices`.
std::vector<Row> rows_of(const TokenFile& file, const std::vector<int64_t>& indices);

}  // namespace ringmaster
