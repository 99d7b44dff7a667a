#include "engine/data/tokens.h"

#include <algorithm>

#include "engine/error.h"
#include "engine/files/crc32c.h"

namespace ringmaster {

int64_t Row::valid_labels() const {
    int64_t count = 0, begin = 0;
    for (const int64_t end : document_ends) {
        if (end > begin) {
            count += std::count_if(labels.begin() + begin + label_shift, labels.begin() + end,
                                   [](int32_t label) { return label != kNoLabel; });
        }
        begin = end;
    }
    return count;
}

Row Row::head(int64_t tokens) const {
    const auto count = static_cast<size_t>(std::min(tokens, this->tokens()));
    Row cut{input_ids.first(count), labels.first(count), {}, place, label_shift};
    for (const int64_t end : document_ends) {
        cut.document_ends.push_back(std::min(end, cut.tokens()));
        if (end >= cut.tokens()) break;
    }
    return cut;
}

std::vector<Row> Row::documents() const {
    std::vector<Row> found;
    int64_t begin = 0;
    for (const int64_t end : document_ends) {
        const auto at = static_cast<size_t>(begin), count = static_cast<size_t>(end - begin);
        if (count > 0)
            found.push_back({input_ids.subspan(at, count),
                             labels.subspan(at, count),
                             {end - begin},
                             place + begin,
                             label_shift});
        begin = end;
    }
    return found;
}

int64_t Row::prompt_tokens() const {
    return std::find_if(labels.begin(), labels.end(), [](int32_t label) { return label != kNoLabel; }) -
           labels.begin();
}

TokenFile::TokenFile(const std::filesystem::path& path)
    : file_(path),
      input_ids_(file_.elements<int32_t>("input_ids", "I32")),
      labels_(file_.elements<int32_t>("labels", "I32")),
      offsets_(file_.elements<int64_t>("row_offsets", "I64")) {
    if (file_.tensors().contains("document_offsets"))
        documents_ = file_.elements<int64_t>("document_offsets", "I64");
    if (file_.tensors().contains("desirable")) desirable_ = file_.elements<int32_t>("desirable", "I32");
    if (file_.tensors().contains("own_labels")) label_shift_ = 0;
    const auto tokens = static_cast<int64_t>(input_ids_.size());
    bool good = labels_.size() == input_ids_.size() && !offsets_.empty() && offsets_.front() == 0 &&
                offsets_.back() == tokens && std::is_sorted(offsets_.begin(), offsets_.end());
    good = good && std::is_sorted(documents_.begin(), documents_.end()) &&
           (documents_.empty() ||
            std::includes(documents_.begin(), documents_.end(), offsets_.begin(), offsets_.end()));
    good = good && (desirable_.empty() || desirable_.size() + 1 == documents_.size());
    if (!good)
        throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                    "row_offsets, input_ids and labels do not fit together", path.string());
}

Row TokenFile::row(int64_t index) const {
    const auto i = static_cast<size_t>(index);
    const auto begin = static_cast<size_t>(offsets_[i]);
    const auto count = static_cast<size_t>(offsets_[i + 1]) - begin;
    Row found{input_ids_.subspan(begin, count), labels_.subspan(begin, count), {}, offsets_[i], label_shift_};
    auto end = std::upper_bound(documents_.begin(), documents_.end(), offsets_[i]);
    for (; end != documents_.end() && *end <= offsets_[i + 1]; ++end) {
        found.document_ends.push_back(*end - offsets_[i]);
    }
    if (documents_.empty()) found.document_ends.push_back(found.tokens());
    return found;
}

std::vector<Row> rows_of(const TokenFile& file, const std::vector<int64_t>& indices) {
    std::vector<Row> rows;
    for (const int64_t index : indices) rows.push_back(file.row(index));
    return rows;
}

void TokenFile::refuse(int64_t index, const std::string& what) const {
    throw Error(Failure::Refused, Code("DATA-ROWS"), "row " + std::to_string(index + 1) + " " + what,
                file_.path().string());
}

void TokenFile::check_preferences(const Preference& preference, int64_t longest) const {
    if (!preference.on()) return;
    for (int64_t index = 0; index < rows(); ++index) {
        const std::vector<Row> documents = row(index).documents();
        if (documents.size() != row(index).document_ends.size()) refuse(index, "has an empty document");
        if (preference.has_pairs() && documents.size() % 2 != 0)
            refuse(index, "holds " + std::to_string(documents.size()) +
                              " documents, which are no pairs of a chosen and a rejected one");
        if (preference.method == PreferenceMethod::Kto && desirable_.empty())
            refuse(index, "does not say whether it is desirable");
        for (const Row& document : documents) {
            if (document.valid_labels() == 0) refuse(index, "has a completion without labels");
            if (document.tokens() > longest)
                refuse(index, "has a document of " + std::to_string(document.tokens()) +
                                  " tokens, sequence_len is " + std::to_string(longest));
        }
    }
}

int64_t TokenFile::checksum() const {
    uint32_t sum = crc32c(0, input_ids_.data(), input_ids_.size_bytes());
    sum = crc32c(sum, labels_.data(), labels_.size_bytes());
    return crc32c(sum, documents_.data(), documents_.size_bytes());
}

bool TokenFile::is_desirable(int64_t place) const {
    const auto at = std::lower_bound(documents_.begin(), documents_.end(), place) - documents_.begin();
    return desirable_[static_cast<size_t>(at)] != 0;
}

void TokenFile::check(int64_t vocab_size, int64_t labels, int64_t longest) const {
    for (int64_t index = 0; index < rows(); ++index) {
        const Row r = row(index);
        if (r.tokens() == 0) refuse(index, "is empty");
        if (r.tokens() > longest) {
            refuse(index, "has " + std::to_string(r.tokens()) + " tokens, sequence_len is " +
                              std::to_string(longest));
        }
        for (size_t t = 0; t < r.input_ids.size(); ++t) {
            const int32_t id = r.input_ids[t];
            const int32_t label = r.labels[t];
            if (id < 0 || id >= vocab_size) {
                refuse(index, "holds token " + std::to_string(id) + ", the vocabulary has " +
                                  std::to_string(vocab_size));
            }
            if (label != kNoLabel && (label < 0 || label >= labels)) {
                refuse(index, "holds label " + std::to_string(label) + ", which is not below " +
                                  std::to_string(labels));
            }
        }
    }
}

}  // namespace ringmaster
