/// Turns a step's rows of preferences or rollouts into the weights of their labels. A slot is a document or,
/// for rollouts, a label. A forward pass computes each slot's sum of label log-probabilities, and one
/// all-reduce shares these sums. The loss's derivatives with respect to the sums (preference_rules.h,
/// policy_rules.h) are the weights of the ordinary backward. The sums do not depend on batches, shards or
/// packing.
///
/// The forward pass is separate because the loss needs the sums of all micro-batches and all ranks before the
/// first backward may start. A combined pass would keep the activations of every micro-batch of the step at
/// once, but the plan counts the activations of only one. A router's loss needs a separate forward pass for
/// the same reason.
#pragma once

#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/plan/plan.h"
#include "engine/train/mesh_pass.h"
#include "engine/train/preference_rules.h"

namespace ringmaster {

/// Identifies a slot by two places in the data: where the documents of its prompt and of its completion
/// begin, which differ only in KTO's mismatched rows; or twice the place of its label.
using DocumentKey = std::pair<int64_t, int64_t>;

/// Holds the facts about documents that a loss needs, besides their tokens.
struct PreferenceFacts {
    /// Returns Σ log p of a slot's labels under the reference.
    std::function<double(const DocumentKey&)> reference;
    std::function<bool(int64_t place)> is_desirable;  ///< argument: where KTO's row begins in the data
    std::function<double(int64_t place)> advantage;   ///< argument: where the rollout begins in the data
    /// Returns the log-probability that the label at `place` had when the rollout was written, if it is
    /// known.
    std::function<std::optional<double>(int64_t place)> old_log_p;
    /// Returns the log-probability that the server's sampler gave the label at `place`. If empty, the loss
    /// has no such correction.
    std::function<double(int64_t place)> sampled_log_p = {};
};

/// Returns the keys of the slots of documents or packed rows, in order.
std::vector<DocumentKey> slot_keys(const Config& config, const std::vector<Row>& rows);

/// Holds KTO's mismatched rows: each document's prompt with the completion of the step's previous document
/// (the first with that of the last), cut to sequence_len. If packed, they fill rows in order.
class MismatchedRows {
  public:
    MismatchedRows(const Config& config, const std::vector<Row>& documents);
    MismatchedRows(const MismatchedRows&) = delete;  // rows_ refers to the vectors
    MismatchedRows& operator=(const MismatchedRows&) = delete;

    const std::vector<Row>& rows() const { return rows_; }
    /// Returns the documents' keys, in the step's order.
    const std::vector<DocumentKey>& keys() const { return keys_; }

  private:
    std::vector<std::vector<int32_t>> ids_, labels_;  ///< memory that rows_ refers to
    std::vector<Row> rows_;
    std::vector<DocumentKey> keys_;
};

/// Returns Σ log p of this rank's labels in the segments of all slots of the step.
std::vector<double> local_segment_sums(MeshPass& pass, const StepRows& rows, bool dropout);
/// Replaces the values by their sums over all ranks.
void sum_over_ranks(Groups& groups, std::vector<double>& values);

/// Returns the log-probability of each label of a step's rollouts by the label's place, under the weights
/// that the pass computes with, without dropout. Every rank calls it.
std::map<int64_t, double> label_log_probs(Groups& groups, MeshPass& pass, const StepRows& rows);

struct WeighedStep {
    PreferenceLoss loss;
    SegmentWeights weights;
};

/// Returns a step's loss and the weights of its labels. All ranks take part. `dropout` is as in
/// Decoder::forward.
WeighedStep weigh_step(const Plan& plan, Groups& groups, MeshPass& pass, const StepRows& rows,
                       const PreferenceFacts& facts, bool dropout);

/// Runs forward and backward over a step's rows. The loss of preferences or rollouts is known before the
/// backward pass; `preferred` gets it.
MeshPass::Result learn_step(const Plan& plan, Groups& groups, MeshPass& pass, const StepRows& rows,
                            const PreferenceFacts& facts, std::optional<PreferenceLoss>& preferred);

}  // namespace ringmaster
