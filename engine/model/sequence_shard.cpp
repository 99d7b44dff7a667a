#include "engine/model/sequence_shard.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/model/gather.h"
#include "engine/model/ops.h"

namespace ringmaster {

namespace {

/// Returns the range of this rank's tokens in each chunk.
std::vector<TokenRange> chunks_of(const Layout& layout, int64_t tokens) {
    if (layout.chunks() == 1) return {{0, tokens}};
    std::vector<TokenRange> ranges;
    for (size_t chunk = 0; chunk < layout.chunks(); ++chunk)
        ranges.push_back({layout.chunk_bounds[chunk], layout.chunk_bounds[chunk + 1]});
    return ranges;
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
      chunks(chunks_of(layout, count_tokens(own_spans(groups, layout)))),
      ranks(groups),
      progress(groups.progress()),
      key_travel{groups.ring().size(), groups.ulysses().size(), gathered_heads,
                 static_cast<int64_t>(chunks.size())},
      model_(model),
      own_(own_spans(groups, layout)),
      mask_(mask),
      longest_(longest),
      device_(device) {
    if (chunks.size() == 1) make_ropes(chunks[0]);
    for (const LayerKind& kind : model.layer_kinds()) {
        attentions.try_emplace(kind.window.value_or(0), groups, layout, mask_of(kind, mask, longest),
                               gathered_heads, ScoreRule{model.attention_scale, model.score_softcap});
    }
    if (model.has_recurrent_layers())
        stretches.emplace(stretches_of(layout, mask), groups.mesh().context_rank(groups.rank()),
                          count_tokens(own_), model.delta.taps, device);
}

void SequenceShard::make_ropes(const TokenRange& tokens) {
    ropes.clear();
    if (model_.ropes.empty()) return;
    const at::Tensor positions_t = positions(tokens);
    for (const RopeConfig& rope : model_.ropes)
        ropes.push_back(make_rope_tables(model_, rope, positions_t, longest_));
}

void SequenceShard::enter_chunk(size_t chunk) {
    if (chunks.size() > 1) make_ropes(chunks[chunk]);
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

at::Tensor SequenceShard::places(const TokenRange& tokens) const {
    return places_of(cut(own_, tokens.begin, tokens.end), device_);
}

at::Tensor SequenceShard::positions(const TokenRange& tokens) const {
    return at::tensor(positions_in_documents(cut(own_, tokens.begin, tokens.end), mask_), at::kLong)
        .to(device_);
}

int64_t SequenceShard::position_sum() const {
    int64_t sum = 0;
    for (const TokenRange& tokens : chunks) sum += positions(tokens).sum().item<int64_t>();
    return sum;
}

int64_t SequenceShard::cells() const {
    int64_t cells = 0;
    for (const auto& [window, attention] : attentions) cells += attention.cells();
    return cells;
}

}  // namespace ringmaster
