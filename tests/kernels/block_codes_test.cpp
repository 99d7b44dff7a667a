// Compares this processor's search for codes with the tables that define the codes, for blocks of any length.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include "engine/kernels/block_optimizer.h"

namespace ringmaster {
namespace {

/// Returns the code of one number as the book's library finds it: bitsandbytes by bins, torchao by the
/// thresholds between neighbouring codes.
uint8_t code_of(const CodeBook& book, float value, float scale) {
    if (book.search == CodeBook::Search::Binned) {
        const float held = std::clamp(value * (1.0F / scale), -1.0F, 1.0F);
        return book.table[static_cast<size_t>(std::fma((held + 1.0F) * 0.5F, 65535.0F, 0.5F))];
    }
    const auto end = book.next_from.begin() + (1 << book.bits) - 1;
    return static_cast<uint8_t>(std::upper_bound(book.next_from.begin(), end, value / scale) -
                                book.next_from.begin());
}

void expect_codes(const CodeBook& book, const std::vector<float>& values) {
    const auto count = static_cast<int64_t>(values.size());
    const float scale = block_optimizer().largest(values.data(), count);
    std::vector<uint8_t> codes(static_cast<size_t>(book.bytes_of(count)) + 1, 0xa5);
    block_optimizer().encode(book, values.data(), scale, codes.data(), count);
    EXPECT_EQ(codes.back(), 0xa5) << "written beyond " << count;
    std::vector<float> back(values.size() + 1, 7);
    block_optimizer().decode(book, codes.data(), scale, back.data(), count);
    EXPECT_EQ(back.back(), 7) << "written beyond " << count;
    for (size_t i = 0; i < values.size(); ++i) {
        const uint8_t byte = codes[book.bits == 8 ? i : i / 2];
        const int found = book.bits == 8 ? byte : i % 2 == 0 ? byte >> 4 : byte & 15;
        ASSERT_EQ(found, code_of(book, values[i], scale)) << values[i] << " at " << i << " of " << count;
        ASSERT_EQ(back[i], book.values[static_cast<size_t>(found)] * scale);
    }
    if (book.bits == 4 && count % 2 == 1) {
        EXPECT_EQ(codes[values.size() / 2] & 15, 0);
    }
}

TEST(BlockCodes, AreThoseOfTheTablesForBlocksOfAnyLength) {
    const CodeBook* books[] = {&bitsandbytes_book(true), &bitsandbytes_book(false), &torchao_book(8, true),
                               &torchao_book(8, false),  &torchao_book(4, true),    &torchao_book(4, false)};
    std::mt19937 source(5);
    std::normal_distribution<float> normal;
    for (const CodeBook* book : books) {
        for (int64_t count = 1; count <= 300; count += count < 70 ? 1 : 23) {
            std::vector<float> values(static_cast<size_t>(count));
            for (float& value : values) value = normal(source) * std::exp(3 * normal(source));
            values[0] = 1e3F;
            expect_codes(*book, values);
        }
        std::vector<float> everywhere;  // every bin and the neighbours of every threshold
        for (int i = -70000; i <= 70000; ++i) everywhere.push_back(static_cast<float>(i) / 70000);
        for (const float from : book->next_from) {
            if (std::isfinite(from))
                everywhere.insert(everywhere.end(),
                                  {from, std::nextafter(from, -2.0F), std::nextafter(from, 2.0F)});
        }
        everywhere.push_back(1);
        expect_codes(*book, everywhere);
    }
}

/// For many elements with the same divisor, kernels may replace the division. The result must round as `/`
/// does.
TEST(BlockCodes, AnUpdateRoundsItsQuotientsAsADivisionDoes) {
    std::mt19937 source(3);
    std::normal_distribution<float> normal;
    constexpr int64_t kCount = 4096;
    for (int step = 1; step <= 200; ++step) {
        AdamWNumbers with;
        with.step_size = -1;
        with.root2 = static_cast<float>(std::sqrt(1 - std::pow(0.999, step)));
        with.beta1 = with.beta2 = 1;
        std::vector<float> weights(kCount), gradients(kCount), m(kCount, 1), v(kCount);
        for (float& one : v) one = std::exp(20 * normal(source));
        const std::vector<float> before = v;
        v[0] = std::numeric_limits<float>::infinity();
        block_optimizer().adamw_float(with, weights.data(), gradients.data(), m.data(), v.data(), kCount);
        EXPECT_EQ(weights[0], 0);
        for (int64_t i = 1; i < kCount; ++i) {
            const auto at = static_cast<size_t>(i);
            ASSERT_EQ(weights[at], -1 / (std::sqrt(before[at]) / with.root2)) << before[at] << ", " << step;
        }
    }
}

}  // namespace
}  // namespace ringmaster
