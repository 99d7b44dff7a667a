#include "engine/attention/sharded_attention.h"

#include <ATen/ATen.h>

#include "engine/attention/flash.h"
#include "engine/attention/head_exchange.h"
#include "engine/attention/ring_attention.h"

namespace ringmaster {

struct ShardedAttention::Impl {
    Groups& groups;
    std::vector<RingHop> hops;

    bool alone() { return groups.ring().size() == 1 && groups.ulysses().size() == 1; }
};

namespace {

at::Tensor heads_first(const at::Tensor& x_bthd) {
    return x_bthd.transpose(1, 2);
}
at::Tensor tokens_first(const at::Tensor& x_bhtd) {
    return x_bhtd.transpose(1, 2);
}

KeysValues pack(const at::Tensor& k_btkd, const at::Tensor& v_btkd) {
    return {at::stack({k_btkd.transpose(0, 1), v_btkd.transpose(0, 1)})};
}

/// What a Ulysses rank attends with: its heads of the group's tokens, S = U·T.
struct OwnedHeads {
    at::Tensor q_bhsd;
    KeysValues keys_values;
};

OwnedHeads gather_heads(Group& group, const at::Tensor& q_bthd, const at::Tensor& k_btkd,
                        const at::Tensor& v_btkd) {
    const int64_t B = q_bthd.size(0), S = q_bthd.size(1) * group.size(), D = q_bthd.size(3);
    const int64_t heads = owned_heads(q_bthd.size(2), group.size());
    const int64_t key_heads = owned_heads(k_btkd.size(2), group.size());
    const at::Tensor q_sbhd = at::empty({S, B, heads, D}, q_bthd.options());
    const at::Tensor both = at::empty({2, S, B, key_heads, D}, k_btkd.options());
    Transfer queries = tokens_to_heads(group, q_bthd, q_sbhd, "queries by heads");
    Transfer keys = tokens_to_heads(group, k_btkd, both.select(0, 0), "keys by heads");
    Transfer values = tokens_to_heads(group, v_btkd, both.select(0, 1), "values by heads");
    queries.wait();
    keys.wait();
    values.wait();
    return {q_sbhd.permute({1, 2, 0, 3}), {both}};
}

}  // namespace

ShardedAttention::ShardedAttention(Groups& groups, const Layout& layout)
    : impl_(std::make_unique<Impl>(Impl{groups, {}})) {
    std::vector<Spans> spans;
    for (int rank = 0; rank < groups.ring().size(); ++rank) {
        spans.push_back(ring_spans(layout, rank, groups.ulysses().size()));
    }
    impl_->hops = make_ring_schedule(spans, groups.ring().rank());
}

ShardedAttention::~ShardedAttention() = default;

AttentionOutput ShardedAttention::forward(const at::Tensor& q_bthd, const at::Tensor& k_btkd,
                                          const at::Tensor& v_btkd) {
    Groups& groups = impl_->groups;
    if (impl_->alone()) {
        FlashOutput whole =
            flash_forward(heads_first(q_bthd), heads_first(k_btkd), heads_first(v_btkd), true);
        return {tokens_first(whole.out_bhtd), whole.lse_bht, {}};
    }
    if (groups.ulysses().size() == 1) {
        FlashOutput whole =
            ring_forward(groups.ring(), impl_->hops, heads_first(q_bthd), pack(k_btkd, v_btkd));
        return {tokens_first(whole.out_bhtd), whole.lse_bht, {}};
    }
    require_divisible_heads(q_bthd.size(2), k_btkd.size(2), groups.ulysses().size());
    OwnedHeads owned = gather_heads(groups.ulysses(), q_bthd, k_btkd, v_btkd);
    FlashOutput whole = ring_forward(groups.ring(), impl_->hops, owned.q_bhsd, owned.keys_values);
    HeadsOnTheirWay out =
        heads_to_tokens(groups.ulysses(), tokens_first(whole.out_bhtd), "attention's output");
    return {out.wait_and_join(q_bthd.size(2)),
            whole.lse_bht,
            {owned.q_bhsd, owned.keys_values.both, whole.out_bhtd}};
}

AttentionGradients ShardedAttention::backward(const at::Tensor& dout_bthd, const at::Tensor& q_bthd,
                                              const at::Tensor& k_btkd, const at::Tensor& v_btkd,
                                              const AttentionOutput& output) {
    Groups& groups = impl_->groups;
    const FlashOutput whole{heads_first(output.out_bthd), output.lse_bht};
    if (groups.ulysses().size() == 1) {
        FlashGradients d = impl_->alone()
                               ? flash_backward(heads_first(dout_bthd), heads_first(q_bthd),
                                                heads_first(k_btkd), heads_first(v_btkd), whole, true)
                               : ring_backward(groups.ring(), impl_->hops, heads_first(dout_bthd),
                                               heads_first(q_bthd), pack(k_btkd, v_btkd), whole);
        return {tokens_first(d.dq_bhtd), tokens_first(d.dk_bksd), tokens_first(d.dv_bksd)};
    }
    Group& ulysses = groups.ulysses();
    const auto& [q_bhsd, both, out_bhsd] = output.by_heads;
    const at::Tensor dout_sbhd =
        at::empty({q_bhsd.size(2), q_bhsd.size(0), q_bhsd.size(1), q_bhsd.size(3)}, q_bhsd.options());
    tokens_to_heads(ulysses, dout_bthd, dout_sbhd, "the output's gradient by heads").wait();
    FlashGradients d = ring_backward(groups.ring(), impl_->hops, dout_sbhd.permute({1, 2, 0, 3}), q_bhsd,
                                     {both}, {out_bhsd, output.lse_bht});
    HeadsOnTheirWay dq = heads_to_tokens(ulysses, tokens_first(d.dq_bhtd), "gradients of queries");
    HeadsOnTheirWay dk = heads_to_tokens(ulysses, tokens_first(d.dk_bksd), "gradients of keys");
    HeadsOnTheirWay dv = heads_to_tokens(ulysses, tokens_first(d.dv_bksd), "gradients of values");
    return {dq.wait_and_join(q_bthd.size(2)), dk.wait_and_join(k_btkd.size(2)),
            dv.wait_and_join(k_btkd.size(2))};
}

}  // namespace ringmaster
