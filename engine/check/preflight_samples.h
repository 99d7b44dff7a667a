/// Samples the gradients of queries, keys and values at some tokens, which preflight compares between the
/// mesh and the plain model.
#pragma once

#include <ATen/core/Tensor.h>

#include <optional>
#include <vector>

#include "engine/check/expert_choices.h"
#include "engine/check/preflight_batch.h"
#include "engine/comm/groups.h"
#include "engine/train/mesh_pass.h"

namespace ringmaster {

/// The first and the last layer with attention; -1 if there is none.
struct AttendingLayers {
    int first = -1, last = -1;
};
AttendingLayers attending_layers(const ModelConfig& model);

/// Holds gradients of q, k and v at sampled tokens of the first group's first micro-batch.
class PreflightSamples {
  public:
    struct Token {
        size_t document;
        int64_t at;  ///< index within the document
    };

    PreflightSamples(const PreflightBatch& batch, const Groups& groups);

    const std::vector<Token>& tokens() const { return tokens_; }
    /// float32 [2, samples, (H + 2K)·D]: first and last layer with attention; zeros for samples that were not
    /// taken.
    at::Tensor table() const { return table_lsw_; }
    /// Adds `row` of the decoder's gradients to sample `index`: a shared token's gradient is the sum of those
    /// in all documents. Takes the queries' columns alone if ranks send latents in place of keys and values.
    void take(size_t index, int layer, const at::Tensor& dqkv_nw, int64_t row);

  private:
    AttendingLayers layers_;
    const ModelConfig& model_;
    bool sends_latents_;
    std::vector<Token> tokens_;
    at::Tensor table_lsw_;
};

/// Collects this rank's samples from a pass during its lifetime.
class SampledPass {
  public:
    /// Without `choices` the model's routers choose the experts.
    SampledPass(const PreflightBatch& batch, const Groups& groups, PreflightSamples& samples, MeshPass& pass,
                ExpertChoices* choices);
    ~SampledPass();
    SampledPass(const SampledPass&) = delete;
    SampledPass& operator=(const SampledPass&) = delete;

  private:
    /// A row among the tokens of a chunk that this rank holds.
    struct LocalRow {
        size_t chunk;
        int64_t row;
    };
    static std::optional<LocalRow> local_row(const SequenceShard& shard, int64_t sequence, int64_t place);

    MeshPass& pass_;
    size_t begun_ = 0;
    size_t chunks_ = 1, left_ = 1;  ///< chunks of a sequence, and chunks left in a layer's backward
    std::vector<std::optional<LocalRow>> held_;
};

}  // namespace ringmaster
