#include "engine/optimizers/disk_numbers.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <filesystem>

namespace ringmaster {
namespace {

TEST(DiskNumbers, AreThoseOfATensorThatIsChangedInTheSamePlaces) {
    const auto file = std::make_shared<DiskFile>(std::filesystem::temp_directory_path().string());
    constexpr int64_t kCount = 2 * DiskNumbers::kAtOnce + 12345;
    at::Tensor expected = at::zeros({kCount});
    DiskNumbers numbers(file, kCount, at::kFloat), others(file, kCount, at::kFloat);
    constexpr int64_t kEach = 1'000'003;  // not a divisor of DiskNumbers::kAtOnce
    for (int round = 0; round < 2; ++round) {
        others.ahead();
        for (int64_t begin = 0; begin < kCount; begin += kEach) {
            const int64_t count = std::min(kEach, kCount - begin);
            const at::Tensor more = at::rand({count});
            expected.narrow(0, begin, count).add_(more);
            numbers.write(begin, numbers.read(begin, count) + more);
        }
        numbers.leave();
    }
    EXPECT_TRUE(at::equal(numbers.read(0, kCount), expected));
    EXPECT_TRUE(at::equal(numbers.read(kCount - 1, 1), expected.narrow(0, kCount - 1, 1)));
    EXPECT_EQ(others.read(0, kCount).count_nonzero().item<int64_t>(), 0);
}

TEST(DiskNumbers, WhatIsChangedInPlaceAndWrittenStays) {
    const auto file = std::make_shared<DiskFile>(std::filesystem::temp_directory_path().string());
    DiskNumbers numbers(file, 1000, at::kBFloat16);
    at::Tensor in_place = numbers.read(10, 5);
    in_place.fill_(3);
    numbers.write(10, in_place);
    numbers.leave();
    file->finish();
    EXPECT_EQ(numbers.read(0, 1000).sum().item<double>(), 15);
}

}  // namespace
}  // namespace ringmaster
