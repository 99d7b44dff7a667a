#include "engine/words/spelling.h"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace ringmaster {
namespace {

/// Returns the Levenshtein distance; swapping two neighbours counts as one step.
std::size_t edit_distance(std::string_view a, std::string_view b) {
    std::vector<std::size_t> before, last(b.size() + 1), row(b.size() + 1);
    std::iota(last.begin(), last.end(), std::size_t{0});
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = i;
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({last[j] + 1, row[j - 1] + 1, last[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before = last;
        std::swap(last, row);
    }
    return last[b.size()];
}

/// Returns lower case without separators: "Learning-Rate" and "learning_rate" become equal.
std::string letters_of(std::string_view word) {
    std::string letters;
    for (const unsigned char c : word) {
        if (c != '_' && c != '-') letters += static_cast<char>(std::tolower(c));
    }
    return letters;
}

/// Returns how many typing errors are plausible in a word of this many letters.
std::size_t slips(std::size_t letters) {
    constexpr std::size_t kShort = 5, kLong = 10;
    return letters < kShort ? 0 : letters < kLong ? 1 : 2;
}

/// Returns whether `word` abbreviates `full`, as "adam_eps" does: at least 5 letters, and 3/5 of the word.
bool abbreviates(const std::string& word, const std::string& full) {
    constexpr std::size_t kLeast = 5;
    return word.size() >= kLeast && full.starts_with(word) && word.size() * 5 >= full.size() * 3;
}

}  // namespace

std::string lower_case(std::string text) {
    std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
    return text;
}

std::string misspelt_word(std::string_view word, const std::vector<std::string>& known) {
    const std::string letters = letters_of(word);
    std::string nearest;
    std::size_t best = letters.size();
    for (const std::string& candidate : known) {
        const std::string right = letters_of(candidate);
        const bool shortened = abbreviates(letters, right);
        const std::size_t most = slips(std::min(letters.size(), right.size()));
        const std::size_t longer = std::max(letters.size(), right.size());
        if (!shortened && longer - std::min(letters.size(), right.size()) > most) continue;
        const std::size_t distance = edit_distance(letters, right);
        if (distance >= best || (distance > most && !shortened)) continue;
        best = distance;
        nearest = candidate;
    }
    return nearest;
}

std::string nearest_word(std::string_view word, const std::vector<std::string>& known) {
    constexpr std::size_t kShortWord = 4;
    std::string nearest;
    std::size_t best = word.size() <= kShortWord ? 2 : std::max<std::size_t>(2, word.size() / 3) + 1;
    for (const std::string& candidate : known) {
        const std::size_t longer = std::max(candidate.size(), word.size());
        const std::size_t shorter = std::min(candidate.size(), word.size());
        if (longer - shorter >= best) continue;
        const std::size_t distance = edit_distance(word, candidate);
        if (distance < best && distance < longer) {
            best = distance;
            nearest = candidate;
        }
    }
    if (!nearest.empty() || word.size() < kShortWord) return nearest;
    const auto longer_form = std::find_if(known.begin(), known.end(), [&](const std::string& candidate) {
        return candidate.starts_with(word) || candidate.ends_with("_" + std::string(word));
    });
    return longer_form == known.end() ? std::string() : *longer_form;
}

}  // namespace ringmaster
