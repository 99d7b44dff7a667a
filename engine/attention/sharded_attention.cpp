#include "engine/attention/sharded_attention.h"

#include <ATen/ATen.h>

#include <limits>

#include "engine/attention/flash.h"
#include "engine/attention/merge.h"
#include "engine/plan/slices.h"

namespace ringmaster {

namespace {

/// Keys and values of one ring rank in one buffer, [2, B, S, K, D].
struct KeysValues {
    at::Tensor both;
    at::Tensor keys() const { return both[0]; }
    at::Tensor values() const { return both[1]; }
};

}  // namespace

struct ShardedAttention::Impl {
    /// What this rank computes with the keys that it holds at one hop, and whether they come and go.
    struct Hop {
        int source = 0;              ///< ring rank that the keys and values are of
        std::vector<Slice> slices;
        bool sends_on = false;       ///< some rank further on reads them
        bool receives_next = false;  ///< the next hop's are sent to this rank
    };

    Groups& groups;
    std::vector<int64_t> tokens;  ///< of each ring rank
    std::vector<Hop> hops;

    Impl(Groups& groups_, const Layout& layout);
    Group& ring() { return groups.ring(); }
    int next() { return (ring().rank() + 1) % ring().size(); }
    int previous() { return (ring().rank() + ring().size() - 1) % ring().size(); }
    at::Tensor empty_for(int source, const at::Tensor& k_btkd, at::ScalarType dtype) const {
        return at::empty({2, k_btkd.size(0), tokens[static_cast<size_t>(source)], k_btkd.size(2), k_btkd.size(3)},
                         k_btkd.options().dtype(dtype));
    }
    Transfer rotate(const Hop& hop, const KeysValues& held, const KeysValues& incoming);
    KeysValues incoming_after(size_t hop, const at::Tensor& k_btkd) const;
};

ShardedAttention::Impl::Impl(Groups& groups_, const Layout& layout) : groups(groups_) {
    const int ranks = ring().size();
    const int rank = ring().rank();
    const int ulysses = groups.mesh().ulysses;
    std::vector<Spans> spans;
    for (int r = 0; r < ranks; ++r) {
        spans.push_back(ring_spans(layout, r, ulysses));
        tokens.push_back(count_tokens(spans.back()));
    }
    auto of = [&](int r) -> const Spans& { return spans[static_cast<size_t>((r + 2 * ranks) % ranks)]; };
    auto is_read_by = [&](int reader, int source) { return !make_slices(of(reader), of(source)).empty(); };
    // At hop h rank r holds the keys of r − h; they go on while a rank further along the ring reads them.
    auto goes_on = [&](int holder, int hop) {
        for (int step = 1; step < ranks - hop; ++step) {
            if (is_read_by(holder + step, holder - hop)) return true;
        }
        return false;
    };
    for (int h = 0; h < ranks; ++h) {
        Hop hop;
        hop.source = (rank - h + ranks) % ranks;
        hop.slices = make_slices(of(rank), of(hop.source));
        hop.sends_on = goes_on(rank, h);
        hop.receives_next = goes_on(rank - 1, h);
        hops.push_back(std::move(hop));
    }
}

KeysValues ShardedAttention::Impl::incoming_after(size_t hop, const at::Tensor& k_btkd) const {
    if (hop + 1 == hops.size() || !hops[hop].receives_next) return {};
    return {empty_for(hops[hop + 1].source, k_btkd, k_btkd.scalar_type())};
}

Transfer ShardedAttention::Impl::rotate(const Hop& hop, const KeysValues& held, const KeysValues& incoming) {
    std::vector<at::Tensor> send, receive;
    if (hop.sends_on) send.push_back(held.both);
    if (incoming.both.defined()) receive.push_back(incoming.both);
    if (send.empty() && receive.empty()) return {};
    return ring().exchange(std::move(send), next(), std::move(receive), previous(), "keys and values");
}

ShardedAttention::ShardedAttention(Groups& groups, const Layout& layout) : impl_(std::make_unique<Impl>(groups, layout)) {}

ShardedAttention::~ShardedAttention() = default;

AttentionOutput ShardedAttention::forward(const at::Tensor& q_bthd, const at::Tensor& k_btkd, const at::Tensor& v_btkd) {
    Impl& impl = *impl_;
    if (impl.hops.size() == 1) {
        FlashOutput whole = flash_forward(q_bthd.transpose(1, 2), k_btkd.transpose(1, 2), v_btkd.transpose(1, 2), true);
        return {whole.out_bhtd.transpose(1, 2), whole.lse_bht};
    }
    at::Tensor out_bthd, lse_bht;
    KeysValues held{at::stack({k_btkd, v_btkd})};
    for (size_t h = 0; h < impl.hops.size(); ++h) {
        const Impl::Hop& hop = impl.hops[h];
        KeysValues incoming = impl.incoming_after(h, k_btkd);
        Transfer transfer = impl.rotate(hop, held, incoming);
        for (const Slice& slice : hop.slices) {
            const int64_t queries = slice.query_end - slice.query_begin, keys = slice.key_end - slice.key_begin;
            FlashOutput block = flash_forward(q_bthd.narrow(1, slice.query_begin, queries).transpose(1, 2),
                                              held.keys().narrow(1, slice.key_begin, keys).transpose(1, 2),
                                              held.values().narrow(1, slice.key_begin, keys).transpose(1, 2),
                                              slice.mask == SliceMask::Causal);
            const at::Tensor block_out_bthd = block.out_bhtd.transpose(1, 2);
            if (!out_bthd.defined() && queries == q_bthd.size(1)) {
                out_bthd = block_out_bthd.to(at::kFloat);
                lse_bht = block.lse_bht;
                continue;
            }
            if (!out_bthd.defined()) {
                out_bthd = at::zeros(q_bthd.sizes(), q_bthd.options().dtype(at::kFloat));
                lse_bht = at::full({q_bthd.size(0), q_bthd.size(2), q_bthd.size(1)}, -std::numeric_limits<float>::infinity(),
                                   out_bthd.options());
            }
            merge_by_lse(out_bthd.narrow(1, slice.query_begin, queries), lse_bht.narrow(2, slice.query_begin, queries),
                         block_out_bthd, block.lse_bht);
        }
        transfer.wait();
        held = std::move(incoming);
    }
    return {out_bthd.to(q_bthd.scalar_type()), lse_bht};
}

AttentionGradients ShardedAttention::backward(const at::Tensor& dout_bthd, const at::Tensor& q_bthd, const at::Tensor& k_btkd,
                                              const at::Tensor& v_btkd, const AttentionOutput& output) {
    Impl& impl = *impl_;
    if (impl.hops.size() == 1) {
        FlashGradients d = flash_backward(dout_bthd.transpose(1, 2), q_bthd.transpose(1, 2), k_btkd.transpose(1, 2),
                                          v_btkd.transpose(1, 2), {output.out_bthd.transpose(1, 2), output.lse_bht}, true);
        return {d.dq_bhtd.transpose(1, 2), d.dk_bksd.transpose(1, 2), d.dv_bksd.transpose(1, 2)};
    }
    at::Tensor dq_bthd = at::zeros(q_bthd.sizes(), q_bthd.options().dtype(at::kFloat));
    KeysValues held{at::stack({k_btkd, v_btkd})};
    at::Tensor arriving;       // gradients of the keys and values held at this hop, from the ranks before
    Transfer gradients_moved;  // of the hop before: under way while this one computes
    for (size_t h = 0; h < impl.hops.size(); ++h) {
        const Impl::Hop& hop = impl.hops[h];
        KeysValues incoming = impl.incoming_after(h, k_btkd);
        Transfer transfer = impl.rotate(hop, held, incoming);
        at::Tensor own = at::zeros({2, k_btkd.size(0), impl.tokens[static_cast<size_t>(hop.source)], k_btkd.size(2), k_btkd.size(3)},
                                   k_btkd.options().dtype(at::kFloat));
        for (const Slice& slice : hop.slices) {
            const int64_t queries = slice.query_end - slice.query_begin, keys = slice.key_end - slice.key_begin;
            auto of_queries = [&](const at::Tensor& x_bthd) {
                return x_bthd.narrow(1, slice.query_begin, queries).transpose(1, 2);
            };
            FlashGradients d = flash_backward(of_queries(dout_bthd), of_queries(q_bthd),
                                              held.keys().narrow(1, slice.key_begin, keys).transpose(1, 2),
                                              held.values().narrow(1, slice.key_begin, keys).transpose(1, 2),
                                              {of_queries(output.out_bthd), output.lse_bht.narrow(2, slice.query_begin, queries)},
                                              slice.mask == SliceMask::Causal);
            dq_bthd.narrow(1, slice.query_begin, queries).add_(d.dq_bhtd.transpose(1, 2));
            own[0].narrow(1, slice.key_begin, keys).add_(d.dk_bksd.transpose(1, 2));
            own[1].narrow(1, slice.key_begin, keys).add_(d.dv_bksd.transpose(1, 2));
        }
        gradients_moved.wait();
        if (h > 0) own.add_(arriving);
        const size_t following = (h + 1) % impl.hops.size();
        arriving = impl.empty_for(impl.hops[following].source, k_btkd, at::kFloat);
        gradients_moved = impl.ring().exchange({own}, impl.next(), {arriving}, impl.previous(), "gradients of keys and values");
        transfer.wait();
        held = std::move(incoming);
    }
    gradients_moved.wait();
    const at::ScalarType dtype = q_bthd.scalar_type();
    return {dq_bthd.to(dtype), arriving[0].to(dtype), arriving[1].to(dtype)};
}

}  // namespace ringmaster
