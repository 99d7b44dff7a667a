/// What the ranks' shares of a batch must add up to, checked at every step in the all-reduce that carries the
/// loss anyway: labels lost at shard edges, positions that were not adjusted and hops that were dropped would
/// train something else without a word.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/data/tokens.h"
#include "engine/families/model_config.h"

namespace ringmaster {

/// `held` from the layouts and slices that this rank worked by, `expected` from whole sequences.
struct Shares {
    int64_t labels = 0;     ///< valid, held
    int64_t positions = 0;  ///< sum of position ids, held
    int64_t cells = 0;      ///< of the attention mask, held by the ring rank
    int64_t expected_positions = 0;
    int64_t expected_cells = 0;
    int64_t filling = 0;  ///< labels of rows that only fill a round up, and 1 if they have a loss: 0
    double weight = 0;    ///< in the loss: the number of labels times the scale; all ranks' make 1

    Shares& operator+=(const Shares& other);
    Shares times(int64_t sequences) const;
};

/// Puts into `shares` what one sequence of the rows must add up to: it has `unpadded` tokens, and `tokens` with
/// the layout's padding. Counts from the rows and the model's windows alone, never from the mask that the run
/// works by.
void put_expected(Shares& shares, const std::vector<Row>& rows, const ModelConfig& model, bool packed,
                  int64_t unpadded, int64_t tokens);

constexpr int kShareNumbers = 7;
/// This rank's part of the sums over all ranks.
void put_shares(const Shares& shares, const Groups& groups, double* values);

/// Throws ProgramFault where the summed numbers do not add up; `labels` are those of the global batch.
void check_shares(const double* summed, int64_t labels);

}  // namespace ringmaster
