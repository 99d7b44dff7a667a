#include "engine/data/sampler.h"

#include <algorithm>
#include <numeric>
#include <random>

namespace ringmaster {

Sampler::Sampler(int64_t rows, int64_t rows_per_step, int64_t seed, bool in_file_order)
    : rows_(rows), rows_per_step_(rows_per_step), seed_(seed), in_file_order_(in_file_order) {}

Sampler::Sampler(std::vector<int64_t> lengths, int64_t rows_per_step, int64_t seed)
    : Sampler(static_cast<int64_t>(lengths.size()), rows_per_step, seed, false) {
    lengths_ = std::move(lengths);
}

void Sampler::shuffle(int64_t epoch) {
    std::seed_seq seeds{static_cast<uint32_t>(seed_), static_cast<uint32_t>(seed_ >> 32),
                        static_cast<uint32_t>(epoch)};
    std::mt19937_64 random(seeds);
    // A hand-written Fisher-Yates, because std::shuffle differs between standard libraries.
    for (size_t i = order_.size(); i > 1; --i) std::swap(order_[i - 1], order_[random() % i]);
}

/// Sorts by length within random groups of up to 50 steps, and puts the longest row of all first, so that the
/// run fails at once if memory is too small. Source: transformers,
/// trainer_pt_utils.get_length_grouped_indices.
void Sampler::group() {
    const int64_t steps = std::clamp<int64_t>(rows_ / (rows_per_step_ * 4), 1, 50);
    const auto size = static_cast<size_t>(steps * rows_per_step_);
    const auto length = [&](int64_t row) { return lengths_[static_cast<size_t>(row)]; };
    size_t longest = 0;
    for (size_t begin = 0; begin < order_.size(); begin += size) {
        const size_t end = std::min(begin + size, order_.size());
        std::stable_sort(order_.begin() + static_cast<int64_t>(begin),
                         order_.begin() + static_cast<int64_t>(end),
                         [&](int64_t a, int64_t b) { return length(a) > length(b); });
        if (length(order_[begin]) > length(order_[longest])) longest = begin;
    }
    std::swap(order_[0], order_[longest]);
}

const std::vector<int64_t>& Sampler::order_of(int64_t epoch) {
    if (order_epoch_ == epoch) return order_;
    order_.resize(static_cast<size_t>(rows_));
    std::iota(order_.begin(), order_.end(), int64_t{0});
    shuffle(epoch);
    if (!lengths_.empty()) group();
    order_epoch_ = epoch;
    return order_;
}

std::vector<int64_t> Sampler::next_step() {
    const int64_t epoch = consumed_ / rows_, begin = consumed_ % rows_;
    const int64_t count = std::min(rows_per_step_, rows_ - begin);
    consumed_ += count;
    if (in_file_order_) {
        std::vector<int64_t> chosen(static_cast<size_t>(count));
        std::iota(chosen.begin(), chosen.end(), begin);
        return chosen;
    }
    const std::vector<int64_t>& order = order_of(epoch);
    return {order.begin() + begin, order.begin() + begin + count};
}

std::vector<std::vector<int64_t>> micro_batches_of(const std::vector<int64_t>& step_rows, int64_t micro,
                                                   int data_rank, int data_ranks) {
    std::vector<std::vector<int64_t>> batches;
    const auto rows = static_cast<int64_t>(step_rows.size());
    for (int64_t begin = micro * data_rank; begin < rows; begin += micro * data_ranks) {
        const int64_t end = std::min(begin + micro, rows);
        batches.emplace_back(step_rows.begin() + begin, step_rows.begin() + end);
    }
    return batches;
}

}  // namespace ringmaster
