#include "engine/train/rank_agreement.h"

#include <ATen/ATen.h>

#include <cmath>

#include "engine/train/program_fault.h"

namespace ringmaster {

namespace {

constexpr double kNotFinite = 1e300;

/// Returns a checksum that a double holds exactly.
double checksum(const at::Tensor& values) {
    const int64_t size = values.element_size();
    const at::Tensor bits = values.view(size == 4 ? at::kInt : size == 2 ? at::kShort : at::kChar);
    constexpr int64_t kExact = int64_t{1} << 52;
    return static_cast<double>(bits.sum(at::kLong).item<int64_t>() % kExact);
}

}  // namespace

std::vector<Extent> extent_of_ranks(const Groups& groups, Group& group, const std::vector<double>& values) {
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
    std::vector<Extent> extents;
    for (int64_t i = 0; i < count; ++i) extents.push_back({-numbers[count + i], numbers[i]});
    return extents;
}

double largest_of_ranks(Groups& groups, double value) {
    return extent_of_ranks(groups, groups.world(), {value})[0].most;
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
    const std::vector<Extent> extents = extent_of_ranks(groups, holders, sums);
    std::string differing;
    for (int unit = 0; unit < parameters.units(); ++unit) {
        if (!extents[static_cast<size_t>(unit)].same())
            differing += (differing.empty() ? "" : ", ") + parameters.name_of(unit);
    }
    if (differing.empty()) return;
    throw ProgramFault("ranks hold different weights of the same tensors: " + differing);
}

}  // namespace ringmaster
