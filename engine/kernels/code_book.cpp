#include "engine/kernels/code_book.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>

namespace ringmaster {

namespace {

constexpr int kBins = 65536;

/// Returns torch.linspace in float32, computed from both ends towards the middle.
std::vector<float> linspace(float first, float last, int count) {
    const float step = (last - first) / static_cast<float>(count - 1);
    std::vector<float> numbers;
    for (int i = 0; i < count; ++i)
        numbers.push_back(i < count / 2 ? std::fma(step, static_cast<float>(i), first)
                                        : std::fma(-step, static_cast<float>(count - 1 - i), last));
    return numbers;
}

/// Returns a map of `bits` bits, one of them the sign if `is_signed`; smaller decades get fewer steps.
std::vector<float> dynamic_map(bool is_signed, int decades, int bits) {
    const int other_bits = bits - 1;
    std::vector<float> map = {0, 1};
    for (int i = 0; i < decades; ++i) {
        const int steps = 1 << (i + other_bits - decades + (is_signed ? 0 : 1));
        const std::vector<float> bounds = linspace(0.1F, 1, steps + 1);
        const auto decade = static_cast<float>(std::pow(10.0, i - (decades - 1)));
        for (int step = 0; step < steps; ++step) {
            const auto at = static_cast<size_t>(step);
            const float mean = decade * ((bounds[at] + bounds[at + 1]) / 2);
            map.push_back(mean);
            if (is_signed) map.push_back(-mean);
        }
    }
    std::sort(map.begin(), map.end());
    return map;
}

CodeBook book_of(int bits, CodeBook::Search search, const std::vector<float>& values) {
    CodeBook book;
    book.bits = bits;
    book.search = search;
    std::copy(values.begin(), values.end(), book.values.begin());
    for (size_t code = 0; code < values.size(); ++code) {
        const auto value = std::bit_cast<uint32_t>(values[code]);
        for (uint32_t half = 0; half < 2; ++half)
            book.halves[half][code] = static_cast<uint16_t>(value >> 16 * half);
    }
    return book;
}

void fill_bins(CodeBook& book) {
    book.table.resize(kBins);
    size_t code = 0;
    for (int bin = 0; bin < kBins; ++bin) {
        const float value = -1.0F + (2.0F * static_cast<float>(bin)) / static_cast<float>(kBins - 1);
        while (code < 255 && 0.5F * (book.values[code] + book.values[code + 1]) < value) ++code;
        book.table[static_cast<size_t>(bin)] = static_cast<uint8_t>(code);
    }
}

/// Returns the smallest number that torchao rounds to the upper of two neighbouring codes.
float first_of_upper(float lower, float upper) {
    const float half = (upper - lower) * 0.5F;
    float first = lower + half;
    const auto is_upper = [&](float x) { return x - lower >= half; };
    while (is_upper(first)) first = std::nextafter(first, -1e30F);
    while (!is_upper(first)) first = std::nextafter(first, 1e30F);
    return std::min(first, upper);
}

void fill_thresholds(CodeBook& book) {
    const size_t codes = size_t{1} << book.bits;
    book.next_from.fill(std::numeric_limits<float>::infinity());
    for (size_t code = 0; code + 1 < codes; ++code)
        book.next_from[code] = first_of_upper(book.values[code], book.values[code + 1]);
    const auto code_of = [&](float x) {
        return std::upper_bound(book.next_from.begin(), book.next_from.begin() + static_cast<int>(codes) - 1,
                                x) -
               book.next_from.begin();
    };
    book.table.resize(kBins);
    for (uint32_t upper = 0; upper < kBins; ++upper) {
        const auto one = std::bit_cast<float>(upper << 16),
                   other = std::bit_cast<float>(upper << 16 | 0xffff);
        book.table[upper] = std::isnan(one) || std::isnan(other)
                                ? uint8_t{0}
                                : static_cast<uint8_t>(std::min(code_of(one), code_of(other)));
    }
}

/// Returns the first bin of a code, or of the next code that has a bin.
uint16_t first_bin_from(const CodeBook& book, uint32_t code) {
    return static_cast<uint16_t>(std::lower_bound(book.table.begin(), book.table.end(), code) -
                                 book.table.begin());
}

void fill_tree_of_bins(CodeBook& book) {
    for (uint32_t level = 0; level < 8; ++level) {
        for (uint32_t way = 0; way < 1U << level; ++way) {
            uint32_t code = 1;
            for (uint32_t choice = 0; choice < level; ++choice)
                code |= (way >> choice & 1) << (level - choice);
            book.tree_of_bins[(1U << level) + way] = first_bin_from(book, code << (7 - level));
        }
    }
}

void fill_lines(CodeBook& book, bool is_signed) {
    constexpr double kBinsAboveZero = (kBins - 1) / 2.0;
    // A bin may lie exactly where a line reaches the next code; the table gives it the lower code.
    constexpr double kBelow = 4e-5;
    const auto code_from = [&](double number) {
        return std::lower_bound(book.values.begin(), book.values.end() - 1, number) - book.values.begin();
    };
    const auto first_bin_of = [&](int64_t code) {
        const auto at = static_cast<size_t>(code);
        return static_cast<float>(kBinsAboveZero * (book.values[at - 1] + book.values[at]) / 2);
    };
    LinesOfBins& lines = book.lines;
    const int64_t zero = code_from(0);
    lines.zero = static_cast<int>(zero);
    double begin = 1e-4;
    for (size_t i = 0; i < LinesOfBins::kDecades; ++i, begin *= 10) {
        const int64_t first = code_from(begin), next = code_from(10 * begin);
        const auto steps = static_cast<double>(next - first);
        lines.slope[i] = static_cast<float>(steps / (9 * begin * kBinsAboveZero));
        lines.offset[i] = static_cast<float>(static_cast<double>(first - zero) - steps / 9 - kBelow);
        lines.last[i] = static_cast<float>(next - 1 - zero);
        if (i + 1 < LinesOfBins::kDecades) lines.next[i] = first_bin_of(next);
    }
    lines.top = first_bin_of(255);
    lines.low_slope = is_signed ? 1.0F : 2.25F;
    lines.low_offset = is_signed ? 3.5F : 6.775F;
}

void fill_tree_of_numbers(CodeBook& book) {
    constexpr size_t kCodes = 16;
    for (size_t level = 1; level < kCodes; level *= 2) {
        const size_t below = kCodes / level;  // codes in each node's subtree
        for (size_t i = 0; i < level; ++i)
            book.tree_of_numbers[level + i] = book.next_from[i * below + below / 2 - 1];
    }
}

CodeBook bitsandbytes(bool is_signed) {
    CodeBook book = book_of(8, CodeBook::Search::Binned, dynamic_map(is_signed, 7, 8));
    fill_bins(book);
    fill_tree_of_bins(book);
    fill_lines(book, is_signed);
    return book;
}

CodeBook torchao(int bits, bool is_signed) {
    std::vector<float> values = dynamic_map(is_signed, bits - 1, bits);
    if (bits == 4 && !is_signed) {
        values = linspace(0, 1, 17);
        values.erase(values.begin());
    }
    CodeBook book = book_of(bits, CodeBook::Search::Nearest, values);
    fill_thresholds(book);
    if (bits == 4) fill_tree_of_numbers(book);
    return book;
}

}  // namespace

const CodeBook& bitsandbytes_book(bool is_signed) {
    static const CodeBook books[] = {bitsandbytes(false), bitsandbytes(true)};
    return books[is_signed ? 1 : 0];
}

const CodeBook& torchao_book(int bits, bool is_signed) {
    static const CodeBook books[] = {torchao(4, false), torchao(4, true), torchao(8, false),
                                     torchao(8, true)};
    return books[(bits == 8 ? 2 : 0) + (is_signed ? 1 : 0)];
}

}  // namespace ringmaster
