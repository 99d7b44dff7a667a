#include "engine/check/preflight_samples.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstring>

#include "engine/plan/memory/sent_latents.h"

namespace ringmaster {

namespace {

constexpr int64_t kSamples = 16;
constexpr const char* kAttentionGradient = "gradient of q, k, v";

}  // namespace

AttendingLayers attending_layers(const ModelConfig& model) {
    AttendingLayers found;
    for (int layer = 0; layer < static_cast<int>(model.num_layers); ++layer) {
        if (!model.layer_kind(layer).attends()) continue;
        if (found.first < 0) found.first = layer;
        found.last = layer;
    }
    return found;
}

PreflightSamples::PreflightSamples(const PreflightBatch& batch, const Groups& groups)
    : layers_(attending_layers(*batch.plan.model)),
      model_(*batch.plan.model),
      sends_latents_(sent_latent_width(batch.plan) > 0) {
    const ModelConfig& m = *batch.plan.model;
    const auto width = [&](int layer) {
        const ModelConfig own = m.of_layer(std::max(0, layer));
        return (own.num_heads + 2 * own.num_kv_heads) * own.head_dim;
    };
    table_lsw_ = at::zeros({2, kSamples, std::max(width(layers_.first), width(layers_.last))},
                           at::TensorOptions().dtype(at::kFloat).device(groups.device()));
    std::vector<Token> all;
    for (size_t i = 0; i < batch.documents.size(); ++i) {
        const PreflightBatch::Document& document = batch.documents[i];
        if (document.group != 0 || document.micro_batch != 0) continue;
        for (int64_t at = document.shared; at < document.row.tokens(); ++at) all.push_back({i, at});
    }
    for (size_t sample = 0; sample < kSamples && !all.empty(); ++sample)
        tokens_.push_back(all[all.size() * sample / kSamples]);
}

void PreflightSamples::take(size_t index, int layer, const at::Tensor& dqkv_nw, int64_t row) {
    const ModelConfig own = model_.of_layer(layer);
    const int64_t width = sends_latents_ ? own.num_heads * own.head_dim : dqkv_nw.size(1);
    const at::Tensor row_w = dqkv_nw[row].narrow(0, 0, width);
    const auto put = [&](int64_t slot) {
        table_lsw_[slot][static_cast<int64_t>(index)].narrow(0, 0, row_w.size(0)).add_(row_w);
    };
    if (layer == layers_.first) put(0);
    if (layer == layers_.last) put(1);
}

/// Returns the row that holds the token at `place` of `sequence`.
std::optional<SampledPass::LocalRow> SampledPass::local_row(const SequenceShard& shard, int64_t sequence,
                                                            int64_t place) {
    const at::Tensor found = at::nonzero(shard.places().eq(place));
    if (found.numel() == 0) return std::nullopt;
    const int64_t at = found[0][0].item<int64_t>();
    size_t chunk = 0;
    while (at >= shard.chunks[chunk].end) ++chunk;
    const TokenRange& tokens = shard.chunks[chunk];
    return LocalRow{chunk, sequence * tokens.size() + at - tokens.begin};
}

SampledPass::SampledPass(const PreflightBatch& batch, const Groups& groups, PreflightSamples& samples,
                         MeshPass& pass, ExpertChoices* choices)
    : pass_(pass) {
    if (choices != nullptr)
        pass.decoder().set_expert_chooser(
            [choices](int layer, const at::Tensor& places_n, const ExpertRanks& ranks,
                      const at::Tensor& own_nk) { return choices->choose(layer, places_n, ranks, own_nk); });
    const bool takes = batch.plan.mesh.data_rank(groups.rank()) == 0;
    pass.on_batch([this, &batch, &samples, takes](const SequenceShard& shard) {
        held_.clear();
        chunks_ = left_ = shard.chunks.size();
        if (begun_++ > 0 || !takes) return;
        for (const PreflightSamples::Token& token : samples.tokens()) {
            const PreflightBatch::Document& document = batch.documents[token.document];
            held_.push_back(local_row(shard, document.sequence, document.place_of(token.at)));
        }
    });
    pass.decoder().set_probe([this, &samples](int layer, const char* what, const at::Tensor& tensor) {
        if (std::strcmp(what, kAttentionGradient) != 0) return;
        const size_t chunk = --left_;  // a layer's backward computes the last chunk first
        if (left_ == 0) left_ = chunks_;
        for (size_t i = 0; i < held_.size(); ++i) {
            if (held_[i] && held_[i]->chunk == chunk) samples.take(i, layer, tensor, held_[i]->row);
        }
    });
}

SampledPass::~SampledPass() {
    pass_.on_batch({});
    pass_.decoder().set_probe({});
    pass_.decoder().set_expert_chooser({});
}

}  // namespace ringmaster
