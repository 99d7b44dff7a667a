#include "engine/model/expert_exchange.h"

#include <ATen/ATen.h>

#include <numeric>
#include <utility>

namespace ringmaster {

namespace {

int64_t sum(const std::vector<int64_t>& counts) {
    return std::accumulate(counts.begin(), counts.end(), int64_t{0});
}

std::vector<int64_t> times(std::vector<int64_t> counts, int64_t factor) {
    for (int64_t& count : counts) count *= factor;
    return counts;
}

/// Returns, for each row in the order of experts, its place in the order of arrival. `counts_pe` is the
/// number of rows that each rank sent to each expert; rows arrive by rank, and by expert within a rank.
at::Tensor sorted_arrivals(const at::Tensor& counts_pe) {
    const int64_t ranks = counts_pe.size(0), experts = counts_pe.size(1);
    const int64_t* counts = counts_pe.const_data_ptr<int64_t>();
    std::vector<int64_t> begins = {0};  // first row of each expert among a rank's rows
    for (int64_t i = 0; i < ranks * experts; ++i) begins.push_back(begins.back() + counts[i]);
    at::Tensor sorted_r = at::empty({begins.back()}, at::kLong);
    int64_t* next = sorted_r.mutable_data_ptr<int64_t>();
    for (int64_t expert = 0; expert < experts; ++expert) {
        for (int64_t rank = 0; rank < ranks; ++rank) {
            const int64_t from = rank * experts + expert, count = counts[from];
            std::iota(next, next + count, begins[static_cast<size_t>(from)]);
            next += count;
        }
    }
    return sorted_r;
}

at::Tensor exchanged(Group& group, at::Tensor rows_mw, const std::vector<int64_t>& sent,
                     const std::vector<int64_t>& received, const char* what) {
    const int64_t width = rows_mw.size(1);
    at::Tensor got_rw = at::empty({sum(received), width}, rows_mw.options());
    group
        .all_to_all(got_rw.view({-1}), std::exchange(rows_mw, {}).contiguous().view({-1}),
                    times(received, width), times(sent, width), what)
        .wait();
    return got_rw;
}

}  // namespace

ExpertExchange::ExpertExchange(Group group, const std::vector<int64_t>& begins, at::Device device)
    : group_(std::move(group)) {
    const int64_t ranks = group_.size(), experts = (static_cast<int64_t>(begins.size()) - 1) / ranks;
    std::vector<int64_t> counts;
    for (size_t i = 0; i + 1 < begins.size(); ++i) counts.push_back(begins[i + 1] - begins[i]);
    const at::Tensor sent_pe = at::tensor(counts, at::kLong).to(device).view({ranks, experts});
    at::Tensor here_pe = at::empty_like(sent_pe);
    group_.all_to_all(here_pe, sent_pe, "numbers of rows for experts").wait();
    const at::Tensor counts_pe = here_pe.cpu();
    const auto of_ranks = [](const at::Tensor& x_pe) {
        const at::Tensor sums_p = x_pe.sum(1);
        return std::vector<int64_t>(sums_p.const_data_ptr<int64_t>(),
                                    sums_p.const_data_ptr<int64_t>() + sums_p.size(0));
    };
    sent_ = of_ranks(at::tensor(counts, at::kLong).view({ranks, experts}));
    received_ = of_ranks(counts_pe);
    const at::Tensor rows_e = counts_pe.sum(0);
    here_.begins = {0};
    for (int64_t expert = 0; expert < experts; ++expert)
        here_.begins.push_back(here_.begins.back() + rows_e.const_data_ptr<int64_t>()[expert]);
    if (experts == 1) return;
    sorted_r_ = sorted_arrivals(counts_pe).to(device);
    arrived_r_ = at::empty_like(sorted_r_);
    arrived_r_.scatter_(0, sorted_r_, at::arange(sorted_r_.size(0), sorted_r_.options()));
}

at::Tensor ExpertExchange::to_experts(at::Tensor rows_mw, const char* what) const {
    const at::Tensor got_rw = exchanged(group_, std::move(rows_mw), sent_, received_, what);
    return sorted_r_.defined() ? got_rw.index_select(0, sorted_r_) : got_rw;
}

at::Tensor ExpertExchange::from_experts(at::Tensor rows_rw, const char* what) const {
    if (arrived_r_.defined()) rows_rw = rows_rw.index_select(0, arrived_r_);
    return exchanged(group_, std::move(rows_rw), received_, sent_, what);
}

}  // namespace ringmaster
