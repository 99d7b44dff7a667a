/// Checks at every step that the ranks' shares of a batch add up. The check uses the all-reduce that sums the
/// loss. Labels lost at shard edges, unadjusted positions or dropped hops would otherwise go unnoticed.
#pragma once

#include <cstdint>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/data/tokens.h"
#include "engine/families/model_config.h"

namespace ringmaster {

/// Holds counts from this rank's own layouts and slices, and expected sums from whole sequences.
struct Shares {
    int64_t labels = 0;     ///< valid labels
    int64_t positions = 0;  ///< sum of positions
    int64_t cells = 0;      ///< attention-mask cells of the ring rank
    int64_t expected_positions = 0;
    int64_t expected_cells = 0;
    /// Labels of filler rows (MeshPass::filler), plus 1 if these rows have a loss; the sum over ranks must be
    /// 0.
    int64_t filling = 0;
    /// This rank's share of the loss: its number of labels times the scale. The sum over ranks must be 1.
    double weight = 0;

    Shares& operator+=(const Shares& other);
    Shares times(int64_t sequences) const;
};

/// Adds to `shares` the expected sums for one sequence of the rows: it has `unpadded` tokens, and `tokens`
/// with the layout's padding. `joined` says that the sequence holds all rows. `shared` has, for each
/// document, how many of its first tokens another document holds; if empty, no document shares tokens. Uses
/// only these arguments and the model's windows, never the mask of the run.
void put_expected(Shares& shares, const std::vector<Row>& rows, const ModelConfig& model, bool joined,
                  const std::vector<int64_t>& shared, int64_t unpadded, int64_t tokens);

constexpr int kShareNumbers = 7;
/// Writes this rank's part of the sums over all ranks to `values`.
void put_shares(const Shares& shares, const Groups& groups, double* values);

/// Throws ProgramFault if the summed numbers do not add up; `labels` are those of the global batch.
void check_shares(const double* summed, int64_t labels);

}  // namespace ringmaster
