// Tests that rows reach the rank of their expert, sorted by expert and then by sender, and return to their
// places.
#include "engine/model/expert_exchange.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>

#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

constexpr int64_t kExperts = 8, kRows = 12;

struct Case {
    const char* name;
    int parts;
    std::function<int64_t(int rank, int64_t row)> expert_of;
};

std::ostream& operator<<(std::ostream& out, const Case& at) {
    return out << at.name << ", " << at.parts << " parts";
}

class ExpertExchanges : public testing::TestWithParam<Case> {};

/// Returns each of a rank's rows: the rank, the row and its expert, sorted by expert.
at::Tensor rows_of(const Case& at, int rank) {
    std::vector<std::vector<double>> rows;
    for (int64_t row = 0; row < kRows + rank; ++row)  // ranks have different numbers of rows
        rows.push_back({double(rank), double(row), double(at.expert_of(rank, row))});
    std::stable_sort(rows.begin(), rows.end(), [](const auto& a, const auto& b) { return a[2] < b[2]; });
    std::vector<double> flat;
    for (const auto& row : rows) flat.insert(flat.end(), row.begin(), row.end());
    return at::tensor(flat, at::kDouble).view({-1, 3});
}

std::vector<int64_t> begins_of(const at::Tensor& rows_m3) {
    std::vector<int64_t> begins;
    for (int64_t expert = 0; expert <= kExperts; ++expert)
        begins.push_back(rows_m3.select(1, 2).lt(expert).sum().item<int64_t>());
    return begins;
}

/// Returns the rows of all ranks of the group for experts [first, first + count), in the order in which they
/// must arrive.
at::Tensor expected_rows(const Case& at, const std::vector<int>& group, int64_t first, int64_t count) {
    std::vector<at::Tensor> found = {at::empty({0, 3}, at::kDouble)};
    for (int64_t expert = first; expert < first + count; ++expert) {
        for (const int rank : group) {
            const at::Tensor rows_m3 = rows_of(at, rank);
            found.push_back(rows_m3.index({rows_m3.select(1, 2).eq(expert)}));
        }
    }
    return at::cat(found);
}

TEST_P(ExpertExchanges, BringRowsToTheirExpertsAndBack) {
    const Case& at = GetParam();
    Mesh mesh;
    mesh.dp_shard = mesh.ring = 2;
    mesh.expert = at.parts;
    run_ranks(mesh, [&](int rank, Groups& groups) {
        const at::Tensor rows_m3 = rows_of(at, rank);
        const ExpertExchange exchange(groups.experts(), begins_of(rows_m3), at::kCPU);
        const int of_part = mesh.ranks_of_part(), part = rank / of_part;
        std::vector<int> group;
        for (int other = rank % of_part; other < mesh.ranks(); other += of_part) group.push_back(other);
        const int64_t experts = kExperts / at.parts;
        const at::Tensor expected_r3 = expected_rows(at, group, part * experts, experts);
        const at::Tensor here_r3 = exchange.to_experts(rows_m3, "rows");
        EXPECT_TRUE(at::equal(here_r3, expected_r3)) << at.name << " on rank " << rank;
        const std::vector<int64_t>& begins = exchange.here().begins;
        ASSERT_EQ(begins.size(), static_cast<size_t>(experts) + 1);
        for (int64_t expert = 0; expert <= experts; ++expert)
            EXPECT_EQ(begins[static_cast<size_t>(expert)],
                      expected_r3.select(1, 2).lt(part * experts + expert).sum().item<int64_t>());
        EXPECT_TRUE(at::equal(exchange.from_experts(2 * here_r3, "results"), 2 * rows_m3));
    });
}

std::vector<Case> cases() {
    std::vector<Case> all;
    for (const int parts : {2, 4}) {
        all.push_back(
            {"Spread", parts, [](int rank, int64_t row) { return (5 * row + 3 * rank) % kExperts; }});
        all.push_back({"OneExpertHasNone", parts, [](int rank, int64_t row) {
                           const int64_t expert = (row + rank) % kExperts;
                           return expert == 3 ? 4 : expert;
                       }});
        all.push_back({"OneExpertHasAll", parts, [](int, int64_t) { return int64_t{5}; }});
        all.push_back({"RanksKeepTheirs", parts,
                       [parts](int rank, int64_t) { return rank / (4 / parts) * (kExperts / parts); }});
    }
    return all;
}

INSTANTIATE_TEST_SUITE_P(Cases, ExpertExchanges, testing::ValuesIn(cases()),
                         [](const auto& one) { return one.param.name + std::to_string(one.param.parts); });

}  // namespace
}  // namespace ringmaster
