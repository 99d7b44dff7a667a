#include "engine/data/tokens.h"

#include <algorithm>

#include "engine/error.h"

namespace ringmaster {

int64_t Row::valid_labels() const {
    int64_t count = 0, begin = 0;
    for (const int64_t end : document_ends) {
        if (end > begin) {
            count += std::count_if(labels.begin() + begin + 1, labels.begin() + end,
                                   [](int32_t label) { return label != kNoLabel; });
        }
        begin = end;
    }
    return count;
}

Row Row::head(int64_t tokens) const {
    const auto count = static_cast<size_t>(std::min(tokens, this->tokens()));
    Row cut{input_ids.first(count), labels.first(count), {}, place};
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
            found.push_back(
                {input_ids.subspan(at, count), labels.subspan(at, count), {end - begin}, place + begin});
        begin = end;
    }
    return found;
}

TokenFile::TokenFile(const std::filesystem::path& path)
    : file_(path),
      input_ids_(file_.elements<int32_t>("input_ids", "I32")),
      labels_(file_.elements<int32_t>("labels", "I32")),
      offsets_(file_.elements<int64_t>("row_offsets", "I64")) {
    if (file_.tensors().contains("document_offsets"))
        documents_ = file_.elements<int64_t>("document_offsets", "I64");
    const auto tokens = static_cast<int64_t>(input_ids_.size());
    bool good = labels_.size() == input_ids_.size() && !offsets_.empty() && offsets_.front() == 0 &&
                offsets_.back() == tokens && std::is_sorted(offsets_.begin(), offsets_.end());
    good = good && std::is_sorted(documents_.begin(), documents_.end()) &&
           (documents_.empty() ||
            std::includes(documents_.begin(), documents_.end(), offsets_.begin(), offsets_.end()));
    if (!good)
        throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                    "row_offsets, input_ids and labels do not fit together", path.string());
}

Row TokenFile::row(int64_t index) const {
    const auto i = static_cast<size_t>(index);
    const auto begin = static_cast<size_t>(offsets_[i]);
    const auto count = static_cast<size_t>(offsets_[i + 1]) - begin;
    Row found{input_ids_.subspan(begin, count), labels_.subspan(begin, count), {}, offsets_[i]};
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

void TokenFile::check(int64_t vocab_size, int64_t longest) const {
    auto refuse = [&](int64_t index, const std::string& what) {
        throw Error(Failure::Refused, Code("DATA-ROWS"), "row " + std::to_string(index + 1) + " " + what,
                    file_.path().string());
    };
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
            if (label != kNoLabel && (label < 0 || label >= vocab_size)) {
                refuse(index, "holds label " + std::to_string(label) + ", the vocabulary has " +
                                  std::to_string(vocab_size));
            }
        }
    }
}

}  // namespace ringmaster
