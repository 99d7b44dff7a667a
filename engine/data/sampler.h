/// Chooses the rows of each optimizer step: the next `rows_per_step` rows of the epoch's order, for any mesh.
/// If an epoch ends with fewer rows, the remaining rows form a step. No row is repeated or dropped.
#pragma once

#include <cstdint>
#include <vector>

namespace ringmaster {

class Sampler {
  public:
    /// If `in_file_order` is set (curriculum_sampling), rows keep the order of the file. Otherwise the seed
    /// gives each epoch a different permutation.
    Sampler(int64_t rows, int64_t rows_per_step, int64_t seed, bool in_file_order);
    /// Implements group_by_length: rows of similar length come together, the longest first.
    Sampler(std::vector<int64_t> lengths, int64_t rows_per_step, int64_t seed);

    /// Returns the rows of the next step, and advances.
    std::vector<int64_t> next_step();

    /// Returns the rows read since the start of the run: the position that a checkpoint saves. Does not
    /// depend on rows_per_step.
    int64_t consumed() const { return consumed_; }
    void seek(int64_t consumed) { consumed_ = consumed; }
    bool ends_epoch() const { return consumed_ % rows_ == 0; }
    double epoch() const { return static_cast<double>(consumed_) / static_cast<double>(rows_); }

  private:
    const std::vector<int64_t>& order_of(int64_t epoch);
    void shuffle(int64_t epoch);
    void group();

    int64_t rows_;
    int64_t rows_per_step_;
    int64_t seed_;
    bool in_file_order_;
    std::vector<int64_t> lengths_;  ///< lengths of rows to group; empty: no grouping
    int64_t consumed_ = 0;
    int64_t order_epoch_ = -1;
    std::vector<int64_t> order_;
};

/// Returns the rows that data-parallel group `data_rank` of `data_ranks` reads in a step, as micro-batches of
/// at most `micro` rows. Micro-batches are dealt to the groups in turn; a group may get fewer or none in an
/// incomplete step.
std::vector<std::vector<int64_t>> micro_batches_of(const std::vector<int64_t>& step_rows, int64_t micro,
                                                   int data_rank, int data_ranks);

}  // namespace ringmaster
