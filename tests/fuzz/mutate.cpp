#include "tests/fuzz/mutate.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cstring>
#include <fstream>
#include <stdexcept>

namespace ringmaster::fuzz {

namespace {

constexpr size_t kLongest = size_t{256} << 10;

const std::vector<std::string> kNumbers = {"0",
                                           "-0",
                                           "-1",
                                           "1e400",
                                           "-1e400",
                                           "1e-400",
                                           "0.1e1",
                                           "2147483647",
                                           "2147483648",
                                           "-2147483648",
                                           "0x10",
                                           "1_000",
                                           "4294967296",
                                           "9007199254740993",
                                           "9223372036854775807",
                                           "9223372036854775808",
                                           "-9223372036854775808",
                                           "18446744073709551615",
                                           "18446744073709551616",
                                           "1e18",
                                           "1e19",
                                           "NaN",
                                           "Infinity",
                                           "99999999999999999999999999999999999999",
                                           "0.0000000000000000000000000000000001",
                                           "65536",
                                           "1000000000"};

const std::vector<std::string> kOpenings = {"[", "{", "{\"a\":", "[{\"a\":[", "{a: ", "- ",
                                            "(", "<", "\"",      "&a ",       "*a "};

constexpr std::array<uint64_t, 12> kIntegers = {0,
                                                1,
                                                0x7f,
                                                0xff,
                                                0x7fff,
                                                0xffff,
                                                0x7fffffff,
                                                0x80000000,
                                                0xffffffff,
                                                0x7fffffffffffffff,
                                                0x8000000000000000,
                                                0xffffffffffffffff};

constexpr char kTelling[] = "[]{}:,&*!|>'\"%@`#-?\n\t \\~<=0123456789.eE+_/$;\r\0\x7f\xff\xc3\x28";

int hex_digit(char c) {
    if (c >= '0' && c <= '9') return c - '0';
    if (c >= 'a' && c <= 'f') return c - 'a' + 10;
    if (c >= 'A' && c <= 'F') return c - 'A' + 10;
    return -1;
}

/// Finds the text between the first and the last quote of a dictionary line; returns false if it is not well
/// formed.
bool unquoted(const std::string& line, std::string& word) {
    const size_t begin = line.find('"'), end = line.rfind('"');
    if (begin == std::string::npos || end <= begin) return false;
    for (size_t at = begin + 1; at < end; ++at) {
        if (line[at] != '\\') {
            word += line[at];
        } else if (at + 1 < end && (line[at + 1] == '\\' || line[at + 1] == '"')) {
            word += line[++at];
        } else if (at + 3 < end && line[at + 1] == 'x' && hex_digit(line[at + 2]) >= 0 &&
                   hex_digit(line[at + 3]) >= 0) {
            word += static_cast<char>(hex_digit(line[at + 2]) * 16 + hex_digit(line[at + 3]));
            at += 3;
        } else {
            return false;
        }
    }
    return true;
}

struct Range {
    size_t begin, size;
};

}  // namespace

std::vector<std::string> read_dictionary(const std::filesystem::path& file) {
    std::ifstream in(file);
    if (!in) throw std::runtime_error(file.string() + " cannot be read");
    std::vector<std::string> words;
    for (std::string line; std::getline(in, line);) {
        if (line.empty() || line[0] == '#') continue;
        if (std::string word; unquoted(line, word)) {
            words.push_back(std::move(word));
        } else {
            throw std::runtime_error(file.string() + ": not a word of a dictionary: " + line);
        }
    }
    return words;
}

Mutator::Mutator(std::vector<std::string> corpus, std::vector<std::string> dictionary, uint64_t seed)
    : corpus_(std::move(corpus)), dictionary_(std::move(dictionary)), random_(seed) {}

size_t Mutator::below(size_t n) {
    return n == 0 ? 0 : static_cast<size_t>(random_() % n);
}

const std::string& Mutator::any(const std::vector<std::string>& from) {
    return from[below(from.size())];
}

std::string Mutator::next() {
    std::string text = any(corpus_);
    const size_t changes = 1 + below(8);
    for (size_t i = 0; i < changes; ++i) change(text);
    if (below(64) == 0) lengthen(text);
    if (text.size() > kLongest) text.resize(kLongest);
    return text;
}

void Mutator::change(std::string& text) {
    switch (below(7)) {
        case 0:
            return change_bytes(text);
        case 1:
            return change_range(text);
        case 2:
            return change_lines(text);
        case 3:
            return change_number(text);
        case 4:
        case 5:
            return change_word(text);
        default:
            return splice(text);
    }
}

void Mutator::change_bytes(std::string& text) {
    const size_t at = below(text.size());
    const char telling = kTelling[below(sizeof kTelling - 1)];
    if (text.empty() || below(4) == 0) {
        text.insert(at, 1, telling);
        return;
    }
    switch (below(3)) {
        case 0:
            text[at] = static_cast<char>(text[at] ^ (1 << below(8)));
            break;
        case 1:
            text[at] = telling;
            break;
        default:
            text[at] = static_cast<char>(below(256));
            break;
    }
}

void Mutator::change_range(std::string& text) {
    const size_t begin = below(text.size()), size = 1 + below(std::min<size_t>(text.size() - begin, 64));
    switch (below(4)) {
        case 0:
            text.erase(begin, size);
            break;
        case 1:
            text.insert(below(text.size()), text.substr(begin, size));
            break;
        case 2:
            text.resize(begin);
            break;
        default: {
            const std::string moved = text.substr(begin, size);
            text.erase(begin, size);
            text.insert(below(text.size() + 1), moved);
        }
    }
}

void Mutator::change_lines(std::string& text) {
    const auto line_at = [&](size_t at) {
        const size_t newline = at == 0 ? std::string::npos : text.rfind('\n', at - 1);
        const size_t begin = newline == std::string::npos ? 0 : newline + 1;
        const size_t end = std::min(text.find('\n', begin), text.size());
        return Range{begin, std::min(end + 1, text.size()) - begin};
    };
    const Range line = line_at(below(text.size()));
    const std::string content = text.substr(line.begin, line.size);
    if (below(2) == 0) text.erase(line.begin, line.size);
    if (below(2) == 0) text.insert(line_at(below(text.size())).begin, content);
}

/// Replaces a decimal number in the text, or 1, 2, 4 or 8 bytes of the text, with an extreme value.
void Mutator::change_number(std::string& text) {
    const size_t from = below(text.size());
    if (below(3) == 0) {
        const uint64_t value = kIntegers[below(kIntegers.size())] + below(3) - 1;
        std::array<char, sizeof value> bytes{};
        std::memcpy(bytes.data(), &value, sizeof value);
        const size_t width = size_t{1} << below(4);
        if (below(2) == 0) std::reverse(bytes.begin(), bytes.begin() + static_cast<std::ptrdiff_t>(width));
        text.replace(from, std::min(width, text.size() - from), bytes.data(), width);
        return;
    }
    const auto is_digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
    const auto begin = std::find_if(text.begin() + static_cast<std::ptrdiff_t>(from), text.end(), is_digit);
    const auto end = std::find_if_not(begin, text.end(), is_digit);
    text.replace(begin, end, any(kNumbers));
}

void Mutator::change_word(std::string& text) {
    if (dictionary_.empty()) return change_bytes(text);
    const std::string& word = any(dictionary_);
    const size_t at = below(text.size() + 1);
    text.replace(at, below(2) == 0 ? std::min(word.size(), text.size() - at) : 0, word);
}

void Mutator::splice(std::string& text) {
    const std::string& other = any(corpus_);
    const size_t begin = below(other.size());
    if (below(2) == 0) {
        text.insert(below(text.size() + 1), other, begin, 1 + below(128));
    } else {
        text.resize(below(text.size() + 1));
        text.append(other, begin);
    }
}

void Mutator::lengthen(std::string& text) {
    const size_t longest = size_t{1} << (6 + below(13));  // 64 bytes to 256 KiB
    const size_t at = below(text.size() + 1);
    std::string piece = any(kOpenings);
    if (below(2) == 0 && at < text.size()) piece = text.substr(at, 1 + below(64));
    if (below(8) == 0 && !dictionary_.empty()) piece = any(dictionary_);
    if (piece.empty()) return;
    std::string many;
    while (many.size() + piece.size() <= longest) many += piece;
    text.insert(at, many);
}

}  // namespace ringmaster::fuzz
