#include "engine/attention/sharded_attention.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/attention/head_exchange.h"
#include "engine/attention/scheduled_attention.h"
#include "engine/attention/sinks.h"

namespace ringmaster {

struct ShardedAttention::Impl {
    Groups& groups;
    AttentionSchedule schedule;
    std::vector<int64_t> ulysses_tokens;  ///< tokens of each rank of this Ulysses group
    ScoreRule rule;
    std::vector<std::vector<AttentionSchedule>> chunks =
        {};  ///< of each chunk; empty unless there are several
};

namespace {

at::Tensor heads_first(const at::Tensor& x_bthd) {
    return x_bthd.transpose(1, 2);
}
at::Tensor tokens_first(const at::Tensor& x_bhtd) {
    return x_bhtd.transpose(1, 2);
}

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
    ByHeads keys_values(const at::Tensor& k_btkd, const at::Tensor& v_btkd, const char* what) {
        const at::Tensor both = at::cat({k_btkd.transpose(0, 1), v_btkd.transpose(0, 1)}, 1);
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

}  // namespace

ShardedAttention::ShardedAttention(Groups& groups, const Layout& layout, const AttentionMask& mask,
                                   int64_t gathered_heads, const ScoreRule& rule, int64_t chunks)
    : impl_(std::make_unique<Impl>(Impl{groups, {}, {}, rule})) {
    const int ring_rank = groups.ring().rank(), ulysses = groups.ulysses().size();
    std::vector<Spans> spans;
    for (int rank = 0; rank < groups.ring().size(); ++rank) {
        spans.push_back(ring_spans(layout, rank, ulysses));
    }
    for (int u = 0; u < ulysses; ++u) {
        impl_->ulysses_tokens.push_back(layout.tokens_of(ring_rank * ulysses + u));
    }
    if (chunks > 1) {
        TORCH_INTERNAL_ASSERT(ulysses == 1 && gathered_heads == 0, "chunks of heads");
        for (int64_t chunk = 0; chunk < chunks; ++chunk)
            impl_->chunks.push_back(make_chunk_schedules(spans, ring_rank, mask, chunks, chunk));
        return;
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
    for (const std::vector<AttentionSchedule>& passes : impl_->chunks)
        for (const AttentionSchedule& pass : passes) count(pass);
    return cells;
}

namespace {

/// Computes the attention of the heads that this rank owns.
FlashOutput owned_forward(const ShardedAttention::Impl& impl, const at::Tensor& q_bhtd, KeysValues keys,
                          const at::Tensor& sinks_h) {
    FlashOutput whole = scheduled_forward(impl.groups.ring(), impl.schedule, q_bhtd, keys, impl.rule);
    if (sinks_h.defined()) add_sinks(whole.out_bhtd, whole.lse_bht, sinks_h);
    return whole;
}

}  // namespace

AttentionOutput ShardedAttention::forward(const at::Tensor& q_bthd, const at::Tensor& k_btkd,
                                          const at::Tensor& v_btkd, const at::Tensor& sinks_h) {
    Groups& groups = impl_->groups;
    if (groups.ulysses().size() == 1) {
        FlashOutput whole = owned_forward(*impl_, heads_first(q_bthd), {k_btkd, v_btkd}, sinks_h);
        return {tokens_first(whole.out_bhtd), whole.lse_bht, {}};
    }
    Ulysses ulysses(groups.ulysses(), impl_->ulysses_tokens, q_bthd.size(2), k_btkd.size(2));
    ByHeads queries = ulysses.queries(q_bthd, "queries by heads");
    ByHeads keys_values = ulysses.keys_values(k_btkd, v_btkd, "keys and values by heads");
    const at::Tensor q_bhsd = queries.wait().permute({1, 2, 0, 3});
    const at::Tensor both_s2bkd = as_s2bkd(keys_values.wait());
    FlashOutput whole = owned_forward(*impl_, q_bhsd, views_of(both_s2bkd), ulysses.owned(sinks_h));
    ByTokens out = ulysses.queries_back(whole.out_bhtd, "attention's output");
    return {out.wait_and_join().transpose(0, 1),
            whole.lse_bht,
            {q_bhsd, both_s2bkd, whole.out_bhtd, k_btkd.size(2)}};
}

namespace {

ScheduledGradients gradients_by_heads(const ShardedAttention::Impl& impl, const at::Tensor& dout_bhsd,
                                      AttentionOutput output) {
    const auto& [q_bhsd, both_s2bkd, out_bhsd, key_heads] = output.by_heads;
    return scheduled_backward(impl.groups.ring(), impl.schedule, dout_bhsd, q_bhsd, views_of(both_s2bkd),
                              {out_bhsd, output.lse_bht}, impl.rule);
}

AttentionGradients backward_by_heads(const ShardedAttention::Impl& impl, at::Tensor dout_bthd,
                                     AttentionOutput output, const at::Tensor& sinks_h) {
    const at::ScalarType dtype = dout_bthd.scalar_type();
    Ulysses ulysses(impl.groups.ulysses(), impl.ulysses_tokens, dout_bthd.size(2), output.by_heads.key_heads);
    at::Tensor dout_bhsd =
        ulysses.queries(dout_bthd, "the output's gradient by heads").wait().permute({1, 2, 0, 3});
    dout_bthd.reset();
    at::Tensor dsinks_h;
    if (sinks_h.defined()) {
        dsinks_h = at::zeros(sinks_h.sizes(), output.lse_bht.options());
        ulysses.owned(dsinks_h).copy_(
            sinks_backward(dout_bhsd, output.by_heads.out_bhsd, output.lse_bht, ulysses.owned(sinks_h)));
    }
    ScheduledGradients d = gradients_by_heads(impl, dout_bhsd, std::move(output));
    dout_bhsd.reset();
    ByTokens dq = ulysses.queries_back(std::exchange(d.dq_bhtd, {}).to(dtype), "gradients of queries");
    ByTokens dkv =
        ulysses.keys_values_back(std::exchange(d.d_btkd, {}), dtype, "gradients of keys and values");
    const at::Tensor dq_tbhd = dq.wait_and_join(), dkv_tbkd = dkv.wait_and_join().to(dtype);
    const int64_t B = dkv_tbkd.size(1) / 2;
    return {dq_tbhd.transpose(0, 1), dkv_tbkd.narrow(1, 0, B).transpose(0, 1),
            dkv_tbkd.narrow(1, B, B).transpose(0, 1), dsinks_h};
}

/// Returns an undefined tensor without sinks.
at::Tensor sinks_gradient(const at::Tensor& dout_bthd, const AttentionOutput& output,
                          const at::Tensor& sinks_h) {
    if (!sinks_h.defined()) return {};
    return sinks_backward(heads_first(dout_bthd), heads_first(output.out_bthd), output.lse_bht, sinks_h);
}

}  // namespace

AttentionGradients ShardedAttention::backward(at::Tensor dout_bthd, const at::Tensor& q_bthd,
                                              const at::Tensor& k_btkd, const at::Tensor& v_btkd,
                                              AttentionOutput output, const at::Tensor& sinks_h) {
    if (output.is_by_heads())
        return backward_by_heads(*impl_, std::move(dout_bthd), std::move(output), sinks_h);
    const at::Tensor dsinks_h = sinks_gradient(dout_bthd, output, sinks_h);
    const ScheduledGradients d =
        scheduled_backward(impl_->groups.ring(), impl_->schedule, heads_first(dout_bthd), heads_first(q_bthd),
                           {k_btkd, v_btkd}, {heads_first(output.out_bthd), output.lse_bht}, impl_->rule);
    return {tokens_first(d.dq_bhtd), d.d_btkd.k_btkd, d.d_btkd.v_btkd, dsinks_h};
}

AttentionOutput ShardedAttention::chunk_forward(size_t chunk, const at::Tensor& q_bthd, const KeysValues& own,
                                                HeldKeys& held, const at::Tensor& sinks_h) {
    const FlashOutput whole = ringmaster::chunk_forward(impl_->groups.ring(), impl_->chunks[chunk],
                                                        heads_first(q_bthd), own, held, impl_->rule);
    if (sinks_h.defined()) add_sinks(whole.out_bhtd, whole.lse_bht, sinks_h);
    return {tokens_first(whole.out_bhtd), whole.lse_bht, {}};
}

AttentionGradients ShardedAttention::chunk_backward(size_t chunk, at::Tensor dout_bthd,
                                                    const at::Tensor& q_bthd, const KeysValues& own,
                                                    HeldKeys& held, AttentionOutput output,
                                                    const at::Tensor& sinks_h) {
    const at::Tensor dsinks_h = sinks_gradient(dout_bthd, output, sinks_h);
    const ScheduledGradients d = ringmaster::chunk_backward(
        impl_->groups.ring(), impl_->chunks[chunk], heads_first(dout_bthd), heads_first(q_bthd), own, held,
        {heads_first(output.out_bthd), output.lse_bht}, impl_->rule);
    return {tokens_first(d.dq_bhtd), d.d_btkd.k_btkd, d.d_btkd.v_btkd, dsinks_h};
}

}  // namespace ringmaster
