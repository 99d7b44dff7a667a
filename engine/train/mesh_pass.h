/// Runs a pass of rows over the mesh: cuts rows by the layout, runs forward and backward, and sums gradients
/// over all ranks while the backward pass runs. Training, evaluation and preflight all use it.
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
#include "engine/model/embedding_noise.h"
#include "engine/model/router_loss.h"
#include "engine/plan/plan.h"
#include "engine/train/gradient_reduction.h"
#include "engine/train/shares.h"

namespace ringmaster {

/// A step's rows as read by one data-parallel group.
struct StepRows {
    RowCounts counts;  ///< counts over all groups
    std::vector<std::vector<Row>> micro_batches;
    size_t rounds = 0;  ///< most micro-batches of any group
    /// The documents of all groups, in order, if the loss is computed from all of them (weighs_documents).
    std::vector<Row> documents = {};
    /// A slot is a unit that the loss gives one weight: a document or, for rollouts, a label. Slots count
    /// over all groups.
    size_t slots = 0;
    std::vector<size_t> first_slots = {};  ///< each micro-batch's first slot

    /// Returns the weight of each label's loss: 1 ÷ the number of valid labels in the global batch, or 0 if
    /// there are none.
    double scale() const {
        return counts.valid_labels == 0 ? 0 : 1.0 / static_cast<double>(counts.valid_labels);
    }
};

/// Returns the part of a step's sequences that `rank` reads. All ranks get the same counts without
/// communication.
StepRows step_rows(const Plan& plan, const std::vector<Row>& rows, int rank);

/// Selects the gradients that a pass produces.
enum class Gradients {
    OfAllRanks,
    OfAllRanksPlainly,  ///< computes the same sums by another method (GradientReduction::start_plainly)
    OfThisRank,         ///< this rank's gradients only, without a reduction; below stage 2
};

/// Holds the weights of a step's labels by their segments (engine/data/batch.h), for this rank's
/// micro-batches.
struct SegmentWeights {
    std::vector<std::vector<double>> of_micro_batches;
    size_t slots = 0;  ///< number of slots in the step
};

class MeshPass {
  public:
    MeshPass(const Plan& plan, Groups& groups, TrainedModel& trained, const Kept& kept);

    struct Result {
        double loss_sum = 0;  ///< sum over this rank's valid labels
        double data_s = 0;    ///< seconds spent on cutting rows
        Shares shares;
        std::optional<double> router_loss = {};  ///< router's loss over all ranks, if the model adds one
    };

    /// Computes gradients of scale · Σ cross-entropy over the micro-batches. Ranks may have different numbers
    /// of micro-batches, or none; `rounds` is the maximum over ranks. `weights`, if any, are factors of the
    /// labels' gradients.
    Result forward_backward(const std::vector<std::vector<Row>>& micro_batches, size_t rounds, double scale,
                            Gradients gradients = Gradients::OfAllRanks,
                            const SegmentWeights* weights = nullptr);
    /// Runs one micro-batch and keeps nothing. A rank without rows only takes part in the communication.
    Outputs forward(const std::vector<Row>& rows);
    /// Runs one micro-batch without calling on_batch. Returns Σ log p of this rank's labels in each segment.
    /// `dropout` is as in Decoder::forward.
    std::vector<double> segment_sums(const std::vector<Row>& rows, bool dropout);

    Decoder& decoder() { return decoder_; }
    /// Sets the seed and the step, which together with the tokens' places determine the embeddings' noise.
    void begin_step(int64_t seed, int64_t step) { noise_.begin_step(seed, step); }
    /// Multiplies the gradients of later calls, but not the losses, by `factor`.
    void scale_loss(double factor) { loss_scale_ = factor; }
    /// Omits the router's loss in later calls.
    void leave_out_router_loss() {
        router_loss_.reset();
        decoder_.set_router_loss(nullptr, {});
    }
    /// Sets a callback for each time that `ring_attn_func: auto` picks another layout.
    void on_layout(std::function<void(RingAttnFunc)> told) { on_layout_ = std::move(told); }
    /// Sets a callback that gets the shard of each micro-batch before its forward.
    void on_batch(std::function<void(const SequenceShard&)> told) { on_batch_ = std::move(told); }

  private:
    struct Loaded {
        MicroBatch batch;
        SequenceShard* shard = nullptr;
        Shares shares;
        std::vector<int32_t> segments;  ///< the segment of each token's label; -1 for tokens without a label
    };
    void weigh(Loaded& loaded, const std::vector<Row>& rows, const SegmentWeights& weights,
               size_t micro_batch) const;

    Loaded load(const std::vector<Row>& rows, Segments segments = Segments::Completions);
    Segments summed_segments() const;
    /// Finds the router's loss of a step, which depends on all of its tokens, before the backward pass needs
    /// it. If the step has one micro-batch, this happens between its forward and backward; otherwise a
    /// forward pass over all micro-batches comes first.
    void begin_router_loss(const std::vector<std::vector<Row>>& micro_batches, size_t rounds);
    void settle_router_loss();
    /// Returns true if experts, dropout, noise or quantised inputs need the places of tokens or padding.
    bool needs_places() const;
    /// Returns rows without labels, for a round in which this rank has no rows but must communicate with
    /// ranks that do.
    std::vector<Row> filler() const;
    /// Holds everything that depends only on a batch's shape. Each shape is made only once.
    struct KnownShape {
        std::unique_ptr<SequenceShard> shard;
        int64_t positions = 0, cells = 0;  ///< sums over this rank's part of one sequence
    };
    /// The number of tokens, the window, the ends of documents, and the documents that they continue.
    using ShapeKey = std::tuple<int64_t, int64_t, std::vector<int64_t>, std::vector<int64_t>>;

    KnownShape& known(const BatchShape& shape);
    RingAttnFunc layout_of(const BatchShape& shape);

    const Plan& plan_;
    const ModelConfig& model_;
    Groups& groups_;
    const int64_t chunk_tokens_;
    Decoder decoder_;
    const TrainedModel& trained_;
    Parameters& parameters_;  ///< the trained parameters
    GradientReduction reduction_;
    EmbeddingNoise noise_;
    double loss_scale_ = 1;
    std::optional<RouterLoss> router_loss_;
    std::map<ShapeKey, KnownShape> shapes_;
    std::optional<RingAttnFunc> picked_;  ///< layout of the previous batch, if each batch chooses its layout
    std::function<void(RingAttnFunc)> on_layout_;
    std::function<void(const SequenceShard&)> on_batch_;
};

}  // namespace ringmaster
