/// Describes a rank's share of a sequence: the tokens it holds, and the attention between them and other
/// tokens.
#pragma once

#include <ATen/core/Tensor.h>

#include <map>
#include <optional>
#include <vector>

#include "engine/attention/sharded_attention.h"
#include "engine/blocks/block.h"
#include "engine/families/model_config.h"
#include "engine/model/rope.h"
#include "engine/plan/memory/sent_latents.h"
#include "engine/recurrence/own_stretches.h"

namespace ringmaster {

/// Holds everything that depends only on a sequence's length, documents and layout. One object serves all
/// batches that have these in common.
struct SequenceShard {
    /// `longest` is the highest position + 1, before the layout's padding. `mask` gives the documents; each
    /// layer adds its own window. `gathered_heads` is as in ShardedAttention.
    SequenceShard(Groups& groups, const ModelConfig& model, const Layout& layout, const AttentionMask& mask,
                  int64_t longest, int64_t gathered_heads, at::Device device);

    Layout layout;
    std::vector<TokenRange> chunks;  ///< this rank's tokens, computed one chunk after the other
    std::vector<RopeTables> ropes;   ///< tables of the current chunk, in the order of ModelConfig::ropes
    /// Attention by window; key 0 is for layers without a window.
    std::map<int64_t, ShardedAttention> attentions;
    std::optional<OwnStretches> stretches;  ///< set if a layer is recurrent
    Groups& ranks;                          ///< groups that share the sequence
    RankProgress& progress;                 ///< reports what this rank is doing
    const KeyTravel key_travel;

    /// Makes the tables of a chunk; does nothing if there is only one chunk.
    void enter_chunk(size_t chunk);
    ShardedAttention& attention(const LayerKind& kind) { return attentions.at(kind.window.value_or(0)); }
    /// Rotates the first `heads` heads of every row by the angles of the layer's positions. Scales the first
    /// `queries` of these heads if the model scales queries.
    void rotate_heads(const LayerKind& kind, const at::Tensor& qkv_nw, int64_t queries, int64_t heads,
                      int64_t head_dim, bool backward) const;
    /// Sets each element to its maximum over all ranks that share the sequence.
    void take_largest(at::Tensor values) const;
    /// Returns int64 [T]: the places in the sequence of these tokens of this rank. Each call makes a new
    /// tensor; keeping it would take memory that grows with the sequence.
    at::Tensor places(const TokenRange& tokens) const;
    at::Tensor places() const { return places({0, count_tokens(own_)}); }
    int64_t position_sum() const;  ///< sum of this rank's tokens' positions in their documents
    int64_t cells() const;         ///< mask cells of all attentions

  private:
    void make_ropes(const TokenRange& tokens);

    /// Returns int64 [T]: positions of these tokens of this rank in their documents.
    at::Tensor positions(const TokenRange& tokens) const;

    const ModelConfig& model_;
    const Spans own_;           ///< this rank's tokens
    const AttentionMask mask_;  ///< the documents, without a window
    const int64_t longest_;
    const at::Device device_;
};

/// Returns the documents' mask with the layer's window. Omits a window that is at least as long as the
/// longest document, because such a window hides nothing.
AttentionMask mask_of(const LayerKind& kind, AttentionMask documents, int64_t longest);

}  // namespace ringmaster
