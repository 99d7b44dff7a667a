#include "engine/train/rank_agreement.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <cstdint>

#include "engine/train/program_fault.h"

namespace ringmaster {

namespace {

constexpr double kNotFinite = 1e300;

/// Sums the values' bits as 8-byte words, which takes a tenth of the time of summing single elements.
uint64_t sum_of_words(const at::Tensor& values) {
    const int64_t size = values.element_size(), in_word = 8 / size, count = values.numel();
    const int64_t begin = std::min((in_word - values.storage_offset() % in_word) % in_word, count);
    const int64_t words = (count - begin) / in_word, end = begin + words * in_word;
    const at::ScalarType single = size == 4 ? at::kInt : size == 2 ? at::kShort : at::kChar;
    const auto sum = [&](int64_t from, int64_t to, at::ScalarType word) {
        if (from == to) return uint64_t{0};
        return static_cast<uint64_t>(
            values.narrow(0, from, to - from).view(word).sum(at::kLong).item<int64_t>());
    };
    return sum(0, begin, single) + sum(begin, end, at::kLong) + sum(end, count, single);
}

/// Returns a checksum that a double holds exactly. The divisor is odd, so that every single bit counts.
double checksum(const at::Tensor& values) {
    constexpr uint64_t kLargestPrimeBelow2To52 = (uint64_t{1} << 52) - 47;
    return static_cast<double>(sum_of_words(values.reshape({-1})) % kLargestPrimeBelow2To52);
}

}  // namespace

std::vector<RankRange> range_of_ranks(const Groups& groups, Group& group, const std::vector<double>& values) {
    const auto count = static_cast<int64_t>(values.size());
    at::Tensor table = at::empty({2 * count}, at::kDouble);
    double* numbers = table.data_ptr<double>();
    for (int64_t i = 0; i < count; ++i) {
        const double value = values[static_cast<size_t>(i)];
        numbers[i] = std::isfinite(value) ? value : kNotFinite;
        numbers[count + i] = -numbers[i];
    }
    if (group.size() > 1) {
        at::Tensor shared = table.to(groups.device());
        group.all_reduce(shared, Reduce::Max).wait();
        table = shared.cpu();
        numbers = table.data_ptr<double>();
    }
    std::vector<RankRange> ranges;
    for (int64_t i = 0; i < count; ++i) ranges.push_back({-numbers[count + i], numbers[i]});
    return ranges;
}

double largest_of_ranks(Groups& groups, double value) {
    return range_of_ranks(groups, groups.world(), {value})[0].most;
}

void check_same_weights(Groups& groups, Parameters& parameters) {
    const bool in_slices = parameters.stage() == 3;
    Group& holders = in_slices ? parameters.sharding_groups()->replicas() : groups.world();
    if (holders.size() == 1) return;
    std::vector<double> sums;
    for (int unit = 0; unit < parameters.units(); ++unit) {
        sums.push_back(in_slices ? checksum(parameters.own_slice(parameters.master(), unit))
                                 : checksum(parameters.weights_of_unit(unit)));
    }
    const std::vector<RankRange> ranges = range_of_ranks(groups, holders, sums);
    std::string differing;
    for (int unit = 0; unit < parameters.units(); ++unit) {
        if (!ranges[static_cast<size_t>(unit)].same())
            differing += (differing.empty() ? "" : ", ") + parameters.name_of(unit);
    }
    if (differing.empty()) return;
    throw ProgramFault("ranks hold different weights of the same tensors: " + differing);
}

}  // namespace ringmaster
