/// A pass of rows over the mesh: cut by the layout, forward and backward, gradients summed over all ranks
/// while the backward still runs. Training, evaluation and preflight go through the same one.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <tuple>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/data/batch.h"
#include "engine/data/tokens.h"
#include "engine/model/decoder.h"
#include "engine/plan/plan.h"
#include "engine/train/gradient_reduction.h"
#include "engine/train/shares.h"

namespace ringmaster {

/// A step's rows as one data-parallel group reads them.
struct StepRows {
    RowCounts counts;  ///< of all groups together
    std::vector<std::vector<Row>> micro_batches;
    size_t rounds = 0;  ///< the most micro-batches that any group has

    /// What each label's loss counts for: their mean over the whole global batch.
    double scale() const {
        return counts.valid_labels == 0 ? 0 : 1.0 / static_cast<double>(counts.valid_labels);
    }
};

/// The part of a step's rows that `rank` reads. The same counts on every rank without asking anyone.
StepRows step_rows(const Plan& plan, const std::vector<Row>& rows, int rank);

/// How a pass ends up with gradients.
enum class Gradients {
    OfAllRanks,
    OfAllRanksPlainly,  ///< the same by another way (GradientReduction::start_plainly)
    OfThisRank,         ///< below stage 2
};

class MeshPass {
  public:
    MeshPass(const Plan& plan, Groups& groups, TrainedModel& trained, const Kept& kept);

    struct Result {
        double loss_sum = 0;  ///< of this rank's valid labels
        double data_s = 0;    ///< spent on cutting rows
        Shares shares;
    };

    /// Gradients of scale · Σ cross-entropy over the micro-batches. Ranks may have different numbers of them,
    /// none included; `rounds` is the most that any has.
    Result forward_backward(const std::vector<std::vector<Row>>& micro_batches, size_t rounds, double scale,
                            Gradients gradients = Gradients::OfAllRanks);
    /// One micro-batch; nothing is kept. Without rows only what the others need of this rank is done.
    Outputs forward(const std::vector<Row>& rows);

    Decoder& decoder() { return decoder_; }
    /// Told whenever `ring_attn_func: auto` changes its mind.
    void on_layout(std::function<void(RingAttnFunc)> told) { on_layout_ = std::move(told); }
    /// Told before each micro-batch's forward how it is cut.
    void on_batch(std::function<void(const SequenceShard&)> told) { on_batch_ = std::move(told); }

  private:
    struct Loaded {
        MicroBatch batch;
        SequenceShard* shard = nullptr;
        Shares shares;
    };

    Loaded load(const std::vector<Row>& rows);
    /// Rows without labels, for a round in which this rank has none but others send and receive.
    std::vector<Row> filler() const;
    /// All that depends on a batch's shape alone, made once.
    struct KnownShape {
        std::unique_ptr<SequenceShard> shard;
        int64_t positions = 0, cells = 0;  ///< that this rank holds of one sequence
    };
    using ShapeKey = std::tuple<int64_t, int64_t, std::vector<int64_t>>;  ///< tokens, window, documents

    KnownShape& known(const BatchShape& shape);
    RingAttnFunc layout_of(const BatchShape& shape);

    const Plan& plan_;
    const ModelConfig& model_;
    Groups& groups_;
    Decoder decoder_;
    Parameters& parameters_;  ///< those that are trained
    const bool drops_;        ///< an adapter that needs to know which token is which
    GradientReduction reduction_;
    std::map<ShapeKey, KnownShape> shapes_;
    std::optional<RingAttnFunc> picked_;  ///< layout of the batch before, where it is chosen for each
    std::function<void(RingAttnFunc)> on_layout_;
    std::function<void(const SequenceShard&)> on_batch_;
};

}  // namespace ringmaster
