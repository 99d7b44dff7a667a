/// Turns a step's rows of preferences into the weights of their labels: a forward gives each document's sum
/// of label log-probabilities, one all-reduce shares these numbers, and the loss's derivatives by them
/// (preference_rules.h) are the weights of the ordinary backward. Batches, shards and packing change no sum.
#pragma once

#include <functional>
#include <optional>
#include <utility>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/plan/plan.h"
#include "engine/train/mesh_pass.h"
#include "engine/train/preference_rules.h"

namespace ringmaster {

/// Names a document by the places in the data where its prompt's and its completion's documents begin; they
/// differ only in KTO's mismatched rows.
using DocumentKey = std::pair<int64_t, int64_t>;

/// Holds what a loss needs about documents besides their tokens.
struct PreferenceFacts {
    std::function<double(const DocumentKey&)> reference;  ///< Σ log p of its completion under the reference
    std::function<bool(int64_t place)> is_desirable;      ///< of KTO's rows
};

/// KTO's mismatched rows: the prompt of each of a step's documents with the completion of the one before,
/// the first with the last's, cut to sequence_len. Packed, they fill rows in order.
class MismatchedRows {
  public:
    MismatchedRows(const Config& config, const std::vector<Row>& documents);
    MismatchedRows(const MismatchedRows&) = delete;  // the rows refer to the vectors
    MismatchedRows& operator=(const MismatchedRows&) = delete;

    const std::vector<Row>& rows() const { return rows_; }
    const std::vector<DocumentKey>& keys() const { return keys_; }  ///< of the documents, in the step's order

  private:
    std::vector<std::vector<int32_t>> ids_, labels_;  ///< of each row
    std::vector<Row> rows_;
    std::vector<DocumentKey> keys_;
};

/// Returns Σ log p of this rank's labels in the segments of all documents of the step.
std::vector<double> local_segment_sums(MeshPass& pass, const StepRows& rows, bool dropout);
/// Replaces the values by their sums over all ranks.
void sum_over_ranks(Groups& groups, std::vector<double>& values);

struct WeighedStep {
    PreferenceLoss loss;
    SegmentWeights weights;
};

/// Returns a step's loss and the weights of its labels. All ranks take part. `dropout` is that of
/// Decoder::forward.
WeighedStep weigh_step(const Plan& plan, Groups& groups, MeshPass& pass, const StepRows& rows,
                       const PreferenceFacts& facts, bool dropout);

/// Runs forward and backward over a step's rows. The loss of preferences is known before the backward, from a
/// forward of its own; `preferred` gets it.
MeshPass::Result learn_step(const Plan& plan, Groups& groups, MeshPass& pass, const StepRows& rows,
                            const PreferenceFacts& facts, std::optional<PreferenceLoss>& preferred);

}  // namespace ringmaster
