#include "engine/attention/sharded_attention.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/attention/flash_tensors.h"
#include "engine/attention/head_exchange.h"
#include "engine/attention/scheduled_attention.h"
#include "engine/attention/sinks.h"

namespace ringmaster {

struct ShardedAttention::Impl {
    Groups& groups;
    AttentionSchedule schedule;
    std::vector<int64_t> ulysses_tokens;  ///< tokens of each rank of this Ulysses group
    ScoreRule rule;
    struct Chunk {
        std::vector<AttentionSchedule> passes;
        std::vector<int64_t> ulysses_tokens;
    };
    std::vector<Chunk> chunks = {};  ///< empty if all tokens are computed at once

    bool has_ulysses() const { return groups.ulysses().size() > 1; }
};

namespace {

/// Exchanges tensors in a Ulysses group. Keys and values travel as one tensor: [t, 2·B, K, D].
class Ulysses {
  public:
    Ulysses(Group& group, const std::vector<int64_t>& tokens, int64_t query_heads, int64_t key_heads)
        : group_(group) {
        for (const OwnedHeads& owned : split_heads(query_heads, key_heads, group.size())) {
            queries_.heads.push_back(owned.queries);
            keys_.heads.push_back(owned.keys);
        }
        queries_.tokens = keys_.tokens = tokens;
    }

    /// Returns the part of x_h for the query heads that this rank owns; undefined if x_h is.
    at::Tensor owned(const at::Tensor& x_h) const {
        const HeadRange own = queries_.heads[static_cast<size_t>(group_.rank())];
        return x_h.defined() ? x_h.narrow(0, own.begin, own.count) : x_h;
    }

    ByHeads queries(const at::Tensor& x_bthd, const char* what) {
        return tokens_to_heads(group_, queries_, x_bthd.transpose(0, 1), what);
    }
    ByHeads keys_values(const KeysValues& own, const char* what) {
        const at::Tensor both = at::cat({own.k_btkd.transpose(0, 1), own.v_btkd.transpose(0, 1)}, 1);
        return tokens_to_heads(group_, keys_, both, what);
    }
    ByTokens queries_back(const at::Tensor& owned_bhsd, const char* what) {
        return heads_to_tokens(group_, queries_, owned_bhsd.permute({2, 0, 1, 3}), what);
    }
    /// Sends gradients back to the ranks that own the tokens. Rounds them unless they must still be summed.
    ByTokens keys_values_back(const KeysValues& owned_bskd, at::ScalarType dtype, const char* what) {
        const bool shared = std::adjacent_find(keys_.heads.begin(), keys_.heads.end()) != keys_.heads.end();
        const at::Tensor both =
            at::cat({owned_bskd.k_btkd.transpose(0, 1), owned_bskd.v_btkd.transpose(0, 1)}, 1);
        return heads_to_tokens(group_, keys_, shared ? both : both.to(dtype), what);
    }

  private:
    Group& group_;
    HeadExchange queries_, keys_;
};

at::Tensor as_s2bkd(const at::Tensor& owned_s2b_kd) {
    return owned_s2b_kd.unflatten(1, {2, owned_s2b_kd.size(1) / 2});
}

KeysValues views_of(const at::Tensor& both_s2bkd) {
    return {both_s2bkd.select(1, 0).transpose(0, 1), both_s2bkd.select(1, 1).transpose(0, 1)};
}

void plan_chunks(ShardedAttention::Impl& impl, const Layout& layout, const AttentionMask& mask) {
    const int ring = impl.groups.ring().size(), ulysses = impl.groups.ulysses().size();
    std::vector<std::vector<Spans>> spans(layout.chunks());
    for (size_t chunk = 0; chunk < layout.chunks(); ++chunk) {
        for (int rank = 0; rank < ring; ++rank)
            spans[chunk].push_back(chunk_spans(layout, chunk, rank, ulysses));
        const int64_t tokens = layout.chunk_bounds[chunk + 1] - layout.chunk_bounds[chunk];
        impl.chunks.push_back({make_chunk_schedules(spans, impl.groups.ring().rank(), mask, chunk),
                               std::vector<int64_t>(static_cast<size_t>(ulysses), tokens)});
    }
}

}  // namespace

KeysValues AttentionOutput::OfOwnHeads::keys_values() const {
    return views_of(keys_values_s2bkd);
}

ShardedAttention::ShardedAttention(Groups& groups, const Layout& layout, const AttentionMask& mask,
                                   int64_t gathered_heads, const ScoreRule& rule)
    : impl_(std::make_unique<Impl>(Impl{groups, {}, {}, rule})) {
    const int ring_rank = groups.ring().rank(), ulysses = groups.ulysses().size();
    if (layout.chunks() > 1) {
        TORCH_INTERNAL_ASSERT(gathered_heads == 0, "chunks of gathered heads");
        plan_chunks(*impl_, layout, mask);
        return;
    }
    std::vector<Spans> spans;
    for (int rank = 0; rank < groups.ring().size(); ++rank) {
        spans.push_back(ring_spans(layout, rank, ulysses));
    }
    for (int u = 0; u < ulysses; ++u) {
        impl_->ulysses_tokens.push_back(layout.tokens_of(ring_rank * ulysses + u));
    }
    impl_->schedule = gathered_heads > 0 ? make_gather_schedule(spans, ring_rank, mask, gathered_heads)
                                         : make_ring_schedule(spans, ring_rank, mask);
}

ShardedAttention::~ShardedAttention() = default;

int64_t ShardedAttention::cells() const {
    int64_t cells = 0;
    const auto count = [&](const AttentionSchedule& schedule) {
        for (const Stage& stage : schedule.stages) {
            for (const Slice& slice : stage.slices) cells += slice.visible_cells();
        }
    };
    count(impl_->schedule);
    for (const Impl::Chunk& chunk : impl_->chunks)
        for (const AttentionSchedule& pass : chunk.passes) count(pass);
    return cells;
}

namespace {

/// Runs attention over the ring for all of a rank's tokens or for one chunk.
class RingPass {
  public:
    explicit RingPass(const ShardedAttention::Impl& impl, SentKeys* sent = nullptr)
        : impl_(impl), ulysses_tokens_(impl.ulysses_tokens), sent_(sent) {
        TORCH_INTERNAL_ASSERT(sent == nullptr || (!impl.has_ulysses() && impl.schedule.heads_at_once == 0),
                              "vectors are sent in place of some heads' keys");
    }
    RingPass(const ShardedAttention::Impl& impl, size_t chunk, HeldKeys& held)
        : impl_(impl),
          ulysses_tokens_(impl.chunks[chunk].ulysses_tokens),
          passes_(&impl.chunks[chunk].passes),
          held_(&held) {}

    FlashOutput forward(const at::Tensor& q_bhtd, const KeysValues& keys, const at::Tensor& sinks_h) const {
        Group& ring = impl_.groups.ring();
        const FlashOutput whole =
            passes_ != nullptr ? chunk_forward(ring, *passes_, q_bhtd, keys, *held_, impl_.rule)
                               : scheduled_forward(ring, impl_.schedule, q_bhtd, keys, impl_.rule, sent_);
        if (sinks_h.defined()) add_sinks(whole.out_bhtd, whole.lse_bht, sinks_h);
        return whole;
    }

    ScheduledGradients backward(const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd, const KeysValues& keys,
                                const FlashOutput& whole) const {
        Group& ring = impl_.groups.ring();
        if (passes_ != nullptr)
            return chunk_backward(ring, *passes_, dout_bhtd, q_bhtd, keys, *held_, whole, impl_.rule);
        return scheduled_backward(ring, impl_.schedule, dout_bhtd, q_bhtd, keys, whole, impl_.rule, sent_);
    }

    const std::vector<int64_t>& ulysses_tokens() const { return ulysses_tokens_; }

  private:
    const ShardedAttention::Impl& impl_;
    const std::vector<int64_t>& ulysses_tokens_;
    const std::vector<AttentionSchedule>* passes_ = nullptr;  ///< one chunk's schedules; null without chunks
    HeldKeys* held_ = nullptr;
    SentKeys* sent_ = nullptr;  ///< null if keys and values are sent
};

AttentionOutput mesh_forward(const ShardedAttention::Impl& impl, const RingPass& pass,
                             const at::Tensor& q_bthd, const KeysValues& own, const at::Tensor& sinks_h) {
    if (!impl.has_ulysses()) {
        const FlashOutput whole = pass.forward(heads_first(q_bthd), own, sinks_h);
        return {tokens_first(whole.out_bhtd), whole.lse_bht, {}};
    }
    const int64_t key_heads = own.k_btkd.size(2);
    Ulysses ulysses(impl.groups.ulysses(), pass.ulysses_tokens(), q_bthd.size(2), key_heads);
    ByHeads queries = ulysses.queries(q_bthd, "queries by heads");
    ByHeads keys_values = ulysses.keys_values(own, "keys and values by heads");
    const at::Tensor q_bhsd = queries.wait().permute({1, 2, 0, 3});
    const at::Tensor both_s2bkd = as_s2bkd(keys_values.wait());
    const FlashOutput whole = pass.forward(q_bhsd, views_of(both_s2bkd), ulysses.owned(sinks_h));
    ByTokens out = ulysses.queries_back(whole.out_bhtd, "attention's output");
    return {
        out.wait_and_join().transpose(0, 1), whole.lse_bht, {q_bhsd, both_s2bkd, whole.out_bhtd, key_heads}};
}

}  // namespace

AttentionOutput ShardedAttention::forward(const at::Tensor& q_bthd, const at::Tensor& k_btkd,
                                          const at::Tensor& v_btkd, const at::Tensor& sinks_h,
                                          SentKeys* sent) {
    return mesh_forward(*impl_, RingPass(*impl_, sent), q_bthd, {k_btkd, v_btkd}, sinks_h);
}

AttentionOutput ShardedAttention::chunk_forward(size_t chunk, const at::Tensor& q_bthd, const KeysValues& own,
                                                HeldKeys& held, const at::Tensor& sinks_h) {
    return mesh_forward(*impl_, RingPass(*impl_, chunk, held), q_bthd, own, sinks_h);
}

KeysValues ShardedAttention::held_form(size_t chunk, const KeysValues& own, int64_t query_heads) const {
    if (!impl_->has_ulysses()) return own;
    Ulysses ulysses(impl_->groups.ulysses(), impl_->chunks[chunk].ulysses_tokens, query_heads,
                    own.k_btkd.size(2));
    return views_of(as_s2bkd(ulysses.keys_values(own, "keys and values by heads").wait()));
}

namespace {

/// Returns the gradients of the heads that this rank owns; frees `output`.
ScheduledGradients gradients_by_heads(const RingPass& pass, const at::Tensor& dout_bhsd,
                                      AttentionOutput output) {
    const auto& [q_bhsd, both_s2bkd, out_bhsd, key_heads] = output.by_heads;
    return pass.backward(dout_bhsd, q_bhsd, views_of(both_s2bkd), {out_bhsd, output.lse_bht});
}

AttentionGradients backward_by_heads(const ShardedAttention::Impl& impl, const RingPass& pass,
                                     at::Tensor dout_bthd, AttentionOutput output,
                                     const at::Tensor& sinks_h) {
    const at::ScalarType dtype = dout_bthd.scalar_type();
    Ulysses ulysses(impl.groups.ulysses(), pass.ulysses_tokens(), dout_bthd.size(2),
                    output.by_heads.key_heads);
    at::Tensor dout_bhsd =
        ulysses.queries(dout_bthd, "the output's gradient by heads").wait().permute({1, 2, 0, 3});
    dout_bthd.reset();
    at::Tensor dsinks_h;
    if (sinks_h.defined()) {
        dsinks_h = at::zeros(sinks_h.sizes(), output.lse_bht.options());
        ulysses.owned(dsinks_h).copy_(
            sinks_backward(dout_bhsd, output.by_heads.out_bhsd, output.lse_bht, ulysses.owned(sinks_h)));
    }
    ScheduledGradients d = gradients_by_heads(pass, dout_bhsd, std::move(output));
    dout_bhsd.reset();
    ByTokens dq = ulysses.queries_back(std::exchange(d.dq_bhtd, {}).to(dtype), "gradients of queries");
    ByTokens dkv =
        ulysses.keys_values_back(std::exchange(d.d_btkd, {}), dtype, "gradients of keys and values");
    const at::Tensor dq_tbhd = dq.wait_and_join(), dkv_tbkd = dkv.wait_and_join().to(dtype);
    const int64_t B = dkv_tbkd.size(1) / 2;
    return {dq_tbhd.transpose(0, 1),
            dkv_tbkd.narrow(1, 0, B).transpose(0, 1),
            dkv_tbkd.narrow(1, B, B).transpose(0, 1),
            dsinks_h,
            {}};
}

/// Returns the gradient of the sinks; undefined if there are none.
at::Tensor sinks_gradient(const at::Tensor& dout_bthd, const AttentionOutput& output,
                          const at::Tensor& sinks_h) {
    if (!sinks_h.defined()) return {};
    return sinks_backward(heads_first(dout_bthd), heads_first(output.out_bthd), output.lse_bht, sinks_h);
}

AttentionGradients mesh_backward(const ShardedAttention::Impl& impl, const RingPass& pass,
                                 at::Tensor dout_bthd, const at::Tensor& q_bthd, const KeysValues& own,
                                 AttentionOutput output, const at::Tensor& sinks_h) {
    if (output.is_by_heads())
        return backward_by_heads(impl, pass, std::move(dout_bthd), std::move(output), sinks_h);
    const at::Tensor dsinks_h = sinks_gradient(dout_bthd, output, sinks_h);
    const ScheduledGradients d = pass.backward(heads_first(dout_bthd), heads_first(q_bthd), own,
                                               {heads_first(output.out_bthd), output.lse_bht});
    return {tokens_first(d.dq_bhtd), d.d_btkd.k_btkd, d.d_btkd.v_btkd, dsinks_h, d.vectors_bt1w};
}

}  // namespace

AttentionGradients ShardedAttention::backward(at::Tensor dout_bthd, const at::Tensor& q_bthd,
                                              const at::Tensor& k_btkd, const at::Tensor& v_btkd,
                                              AttentionOutput output, const at::Tensor& sinks_h,
                                              SentKeys* sent) {
    return mesh_backward(*impl_, RingPass(*impl_, sent), std::move(dout_bthd), q_bthd, {k_btkd, v_btkd},
                         std::move(output), sinks_h);
}

AttentionGradients ShardedAttention::chunk_backward(size_t chunk, at::Tensor dout_bthd,
                                                    const at::Tensor& q_bthd, const KeysValues& own,
                                                    HeldKeys& held, AttentionOutput output,
                                                    const at::Tensor& sinks_h) {
    return mesh_backward(*impl_, RingPass(*impl_, chunk, held), std::move(dout_bthd), q_bthd, own,
                         std::move(output), sinks_h);
}

}  // namespace ringmaster
