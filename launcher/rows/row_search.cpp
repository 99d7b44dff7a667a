#include "launcher/rows/row_search.h"

#include <algorithm>
#include <cstring>
#include <thread>

namespace ringmaster {

namespace {

constexpr int64_t kBlock = 4096;  ///< rows between two looks at the stop token

std::string folded(std::string text) {
    for (char& letter : text)
        if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    return text;
}

void append_folded(std::string& text, std::string_view bytes) {
    for (const char letter : bytes)
        text.push_back(letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter - 'A' + 'a') : letter);
}

std::vector<int64_t> find_between(const PreparedRows& rows, int64_t begin, int64_t end,
                                  const std::string& words, size_t most, const std::stop_token& stop) {
    std::vector<int64_t> found;
    std::string text;
    for (int64_t index = begin; index < end && found.size() < most; ++index) {
        if (index % kBlock == 0 && stop.stop_requested()) break;
        text.clear();
        for (const int32_t id : rows.file().row(index).input_ids) {
            const std::string_view bytes = rows.text().bytes(id);
            append_folded(text, bytes.empty() ? std::string_view(rows.text().text(id)) : bytes);
        }
        if (memmem(text.data(), text.size(), words.data(), words.size()) != nullptr) found.push_back(index);
    }
    return found;
}

}  // namespace

std::vector<int64_t> find_rows(const PreparedRows& rows, const std::string& words, size_t most,
                               const std::stop_token& stop) {
    const std::string wanted = folded(words);
    const auto threads = static_cast<int64_t>(std::clamp(std::thread::hardware_concurrency(), 1u, 16u));
    std::vector<std::vector<int64_t>> parts(static_cast<size_t>(threads));
    {
        std::vector<std::jthread> workers;
        for (int64_t part = 0; part < threads; ++part)
            workers.emplace_back([&, part] {
                parts[static_cast<size_t>(part)] =
                    find_between(rows, rows.rows() * part / threads, rows.rows() * (part + 1) / threads,
                                 wanted, most, stop);
            });
    }
    std::vector<int64_t> found;
    for (const auto& part : parts) found.insert(found.end(), part.begin(), part.end());
    if (found.size() > most) found.resize(most);
    return found;
}

}  // namespace ringmaster
