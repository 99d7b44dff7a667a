/// Which rows each optimizer step trains on: [consumed, consumed + G) of the epoch's order, whatever the
/// mesh; an epoch's last rows, fewer than G, are a step of their own. Nothing is repeated or dropped.
#pragma once

#include <cstdint>
#include <vector>

namespace ringmaster {

class Sampler {
  public:
    /// `in_file_order` is curriculum_sampling; else each epoch has its own permutation from the seed.
    Sampler(int64_t rows, int64_t rows_per_step, int64_t seed, bool in_file_order);
    /// group_by_length: rows of similar length come together, the longest first.
    Sampler(std::vector<int64_t> lengths, int64_t rows_per_step, int64_t seed);

    /// The rows of the next step; moves on.
    std::vector<int64_t> next_step();

    /// Rows read since the start of the run: the position that a checkpoint keeps. Independent of
    /// rows_per_step.
    int64_t consumed() const { return consumed_; }
    void seek(int64_t consumed) { consumed_ = consumed; }
    double epoch() const { return static_cast<double>(consumed_) / static_cast<double>(rows_); }

  private:
    const std::vector<int64_t>& order_of(int64_t epoch);
    void shuffle(int64_t epoch);
    void group();

    int64_t rows_;
    int64_t rows_per_step_;
    int64_t seed_;
    bool in_file_order_;
    std::vector<int64_t> lengths_;  ///< of rows that are grouped by length; else empty
    int64_t consumed_ = 0;
    int64_t order_epoch_ = -1;
    std::vector<int64_t> order_;
};

/// The rows of one step that data-parallel group `data_rank` of `data_ranks` reads, as micro-batches of at
/// most `micro` rows: micro-batches are dealt to the groups in turn. A group may get fewer, or none, in a
/// step that is not full.
std::vector<std::vector<int64_t>> micro_batches_of(const std::vector<int64_t>& step_rows, int64_t micro,
                                                   int data_rank, int data_ranks);

}  // namespace ringmaster
