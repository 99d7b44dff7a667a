#include "engine/model/sequence_shard.h"

#include <ATen/ATen.h>

#include "engine/model/gather.h"
#include "engine/model/ops.h"

namespace ringmaster {

namespace {

at::Tensor positions_of(const Spans& spans, const AttentionMask& mask) {
    return at::tensor(positions_in_documents(spans, mask), at::kLong);
}

}  // namespace

AttentionMask mask_of(const LayerKind& kind, AttentionMask documents, int64_t longest) {
    const int64_t window = kind.window.value_or(0);
    documents.window = window < longest ? window : 0;
    return documents;
}

SequenceShard::SequenceShard(Groups& groups, const ModelConfig& model, const Layout& layout_,
                             const AttentionMask& mask, int64_t longest, int64_t gathered_heads,
                             at::Device device)
    : layout(layout_),
      places_t(own_places(groups, layout, device)),
      positions_t(
          positions_of(layout.ranks[static_cast<size_t>(groups.mesh().context_rank(groups.rank()))], mask)
              .to(device)),
      ranks(groups),
      progress(groups.progress()) {
    for (const RopeConfig& rope : model.ropes)
        ropes.push_back(make_rope_tables(model, rope, positions_t, longest));
    for (const LayerKind& kind : model.layer_kinds()) {
        attentions.try_emplace(kind.window.value_or(0), groups, layout, mask_of(kind, mask, longest),
                               gathered_heads, ScoreRule{model.attention_scale, model.score_softcap});
    }
    if (model.recurs())
        stretches.emplace(stretches_of(layout, mask), groups.mesh().context_rank(groups.rank()),
                          places_t.size(0), model.delta.taps, device);
}

void SequenceShard::rotate_heads(const LayerKind& kind, const at::Tensor& qkv_nw, int64_t queries,
                                 int64_t heads, int64_t head_dim, bool backward) const {
    if (kind.rope < 0) return;
    const RopeTables& rope = ropes[static_cast<size_t>(kind.rope)];
    rotate(qkv_nw, rope.cos_td, rope.sin_td, heads, head_dim, backward, rope.interleaved);
    const int64_t tokens = rope.query_scale_t.defined() ? rope.query_scale_t.size(0) : 0;
    if (tokens == 0) return;
    qkv_nw.narrow(1, 0, queries * head_dim).unflatten(0, {-1, tokens}).mul_(rope.query_scale_t.unsqueeze(1));
}

void SequenceShard::take_largest(at::Tensor values) const {
    ranks.ring().all_reduce(values, Reduce::Max).wait();
    ranks.ulysses().all_reduce(values, Reduce::Max).wait();
}

int64_t SequenceShard::cells() const {
    int64_t cells = 0;
    for (const auto& [window, attention] : attentions) cells += attention.cells();
    return cells;
}

}  // namespace ringmaster
