#include "launcher/rows/row_search.h"

#include <algorithm>
#include <cstring>
#include <span>
#include <thread>

namespace ringmaster {

namespace {

constexpr int64_t kBlock = 4096;  ///< rows between two checks of the stop token

std::string folded(std::string text) {
    for (char& letter : text)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return text;
}

/// The bytes of all tokens in lower case, made once for a search.
class FoldedTokens {
  public:
    explicit FoldedTokens(const TokenText& text) : text_(text) {
        for (int32_t id = 0; id < text.count(); ++id) {
            begins_.push_back(bytes_.size());
            bytes_ += folded(std::string(text.bytes(id)));
        }
        begins_.push_back(bytes_.size());
        bytes_.append(kStep, '\0');  // a step may read past the last token
    }

    /// Writes the row's text at the beginning of `into`, which grows as needed; returns its length.
    size_t write(std::span<const int32_t> ids, std::string& into) const {
        size_t size = 0;
        for (const int32_t id : ids) {
            const auto at = static_cast<size_t>(id);
            const bool known = id >= 0 && at + 1 < begins_.size() && begins_[at] < begins_[at + 1];
            const std::string number = known ? std::string() : text_.text(id);
            const char* from = known ? bytes_.data() + begins_[at] : number.data();
            const size_t length = known ? begins_[at + 1] - begins_[at] : number.size();
            if (into.size() < size + length + kStep) into.resize(2 * (size + length + kStep));
            // Most tokens are short, and a copy of a fixed size takes a single instruction.
            if (known && length <= kStep)
                std::memcpy(into.data() + size, from, kStep);
            else
                std::memcpy(into.data() + size, from, length);
            size += length;
        }
        return size;
    }

  private:
    static constexpr size_t kStep = 16;

    const TokenText& text_;
    std::string bytes_;
    std::vector<size_t> begins_;  ///< token i is bytes_[begins_[i], begins_[i + 1])
};

std::vector<int64_t> find_between(const PreparedRows& rows, const FoldedTokens& tokens, int64_t begin,
                                  int64_t end, const std::string& words, size_t most,
                                  const std::stop_token& stop) {
    std::vector<int64_t> found;
    std::string text;
    for (int64_t index = begin; index < end && found.size() < most; ++index) {
        if (index % kBlock == 0 && stop.stop_requested()) break;
        const size_t size = tokens.write(rows.file().row(index).input_ids, text);
        if (memmem(text.data(), size, words.data(), words.size()) != nullptr) found.push_back(index);
    }
    return found;
}

}  // namespace

std::vector<int64_t> find_rows(const PreparedRows& rows, const std::string& words, size_t most,
                               const std::stop_token& stop) {
    const std::string wanted = folded(words);
    const FoldedTokens tokens(rows.text());
    const auto threads = static_cast<int64_t>(std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
    std::vector<std::vector<int64_t>> parts(static_cast<size_t>(threads));
    {
        std::vector<std::jthread> workers;
        for (int64_t part = 0; part < threads; ++part)
            workers.emplace_back([&, part] {
                parts[static_cast<size_t>(part)] =
                    find_between(rows, tokens, rows.rows() * part / threads,
                                 rows.rows() * (part + 1) / threads, wanted, most, stop);
            });
    }
    std::vector<int64_t> found;
    for (const auto& part : parts) found.insert(found.end(), part.begin(), part.end());
    if (found.size() > most) found.resize(most);
    return found;
}

}  // namespace ringmaster
