#include "launcher/rows/prepared_rows.h"

#include <algorithm>
#include <utility>

namespace ringmaster {

namespace {

constexpr size_t kMostExamples = 100;

/// Returns FNV-1a over whole tokens with MurmurHash3's final mix. Rows with equal hashes may be equal.
uint64_t hash_of(std::span<const int32_t> ids) {
    uint64_t hash = 0xcbf29ce484222325ULL;
    for (const int32_t id : ids) hash = (hash ^ static_cast<uint32_t>(id)) * 0x100000001b3ULL;
    hash ^= hash >> 33;
    hash *= 0xff51afd7ed558ccdULL;
    return hash ^ hash >> 33;
}

bool equal(const Row& a, const Row& b) {
    return std::ranges::equal(a.input_ids, b.input_ids) && std::ranges::equal(a.labels, b.labels);
}

}  // namespace

const char* to_string(TokenKind kind) {
    constexpr const char* kWords[] = {"trained", "masked", "special"};
    return kWords[static_cast<size_t>(kind)];
}

PreparedRows::PreparedRows(const std::filesystem::path& tokens, TokenText text)
    : file_(tokens), text_(std::move(text)) {}

ShownRow PreparedRows::row(int64_t index, int64_t most_tokens) const {
    const Row row = file_.row(index);
    ShownRow shown{
        index, row.tokens(), row.valid_labels(), static_cast<int64_t>(row.document_ends.size()), {}};
    int64_t document_begin = 0;
    size_t document = 0;
    for (int64_t t = 0; t < std::min(row.tokens(), most_tokens); ++t) {
        if (document < row.document_ends.size() && t == row.document_ends[document])
            document_begin = row.document_ends[document++];
        const int32_t id = row.input_ids[static_cast<size_t>(t)];
        const bool trained = t > document_begin && row.labels[static_cast<size_t>(t)] != kNoLabel;
        const TokenKind kind = text_.is_special(id) ? TokenKind::Special
                               : trained            ? TokenKind::Trained
                                                    : TokenKind::Masked;
        const auto number = static_cast<int64_t>(document);
        if (shown.parts.empty() || shown.parts.back().kind != kind || shown.parts.back().trained != trained ||
            shown.parts.back().document != number)
            shown.parts.push_back({kind, trained, {}, {}, number});
        shown.parts.back().text += text_.text(id);
        shown.parts.back().ids.push_back(id);
    }
    return shown;
}

std::string PreparedRows::beginning(int64_t index, int64_t tokens) const {
    const Row row = file_.row(index);
    std::string text;
    for (const int32_t id : row.input_ids.first(static_cast<size_t>(std::min(tokens, row.tokens()))))
        text += text_.text(id);
    std::replace_if(
        text.begin(), text.end(), [](char c) { return c == '\n' || c == '\r' || c == '\t'; }, ' ');
    return text;
}

std::vector<LengthBin> PreparedRows::lengths(int64_t longest, int bins) const {
    const int64_t count = std::clamp<int64_t>(longest, 1, bins), end = std::max<int64_t>(longest, 1);
    std::vector<LengthBin> found;
    for (int64_t bin = 0; bin < count; ++bin)
        found.push_back({bin * end / count, (bin + 1) * end / count, 0});
    for (int64_t index = 0; index < rows(); ++index) {
        const int64_t tokens = std::clamp<int64_t>(length(index), 1, end);
        ++found[static_cast<size_t>((tokens * count - 1) / end)].rows;
    }
    return found;
}

RepeatedRows PreparedRows::duplicates() const {
    std::vector<std::pair<uint64_t, int64_t>> hashes;
    hashes.reserve(static_cast<size_t>(rows()));
    for (int64_t index = 0; index < rows(); ++index)
        hashes.emplace_back(hash_of(file_.row(index).input_ids), index);
    std::sort(hashes.begin(), hashes.end());
    RepeatedRows found;
    for (size_t first = 0, at = 1; at < hashes.size(); ++at) {
        if (hashes[at].first != hashes[first].first) {
            first = at;
            continue;
        }
        if (!equal(file_.row(hashes[first].second), file_.row(hashes[at].second))) continue;
        ++found.rows;
        found.examples.emplace_back(hashes[at].second, hashes[first].second);
        std::push_heap(found.examples.begin(), found.examples.end());
        if (found.examples.size() <= kMostExamples) continue;
        std::pop_heap(found.examples.begin(), found.examples.end());  // drops the last row
        found.examples.pop_back();
    }
    std::sort_heap(found.examples.begin(), found.examples.end());
    return found;
}

int64_t PreparedRows::trained_tokens() const {
    int64_t count = 0;
    for (int64_t index = 0; index < rows(); ++index) count += file_.row(index).valid_labels();
    return count;
}

}  // namespace ringmaster
