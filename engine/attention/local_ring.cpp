#include "engine/attention/local_ring.h"

#include <ATen/ATen.h>

#include <array>

#include "engine/attention/partial_attention.h"

namespace ringmaster {

namespace {

at::Tensor places_of(const Spans& spans, at::Device device) {
    std::vector<at::Tensor> parts;
    for (const Span& span : spans) parts.push_back(at::arange(span.begin, span.end, span.step, at::kLong));
    return at::cat(parts).to(device);
}

/// Returns the tokens at these positions, in B T H D memory order.
at::Tensor tokens_at(const at::Tensor& x_bhsd, const at::Tensor& places_t) {
    return x_bhsd.transpose(1, 2).index_select(1, places_t).transpose(1, 2);
}

KeyHeads all_heads(const RingShare& share) {
    const int64_t heads = share.k_bktd.size(1);
    return {0, heads, share.q_bhtd.size(1) / heads};
}

std::vector<Slice> causal_slices(const RingShare& sequence) {
    const int64_t tokens = sequence.q_bhtd.size(2);
    return {{0, tokens, 0, tokens, SliceMask::Causal}};
}

/// The keys of one hop: owner and ranges. A single range, as in causal layouts, is read as a view.
struct Hop {
    size_t owner = 0;
    KeyRanges read;

    at::Tensor of(const at::Tensor& x_bktd) const {
        if (read.size() == 1) return x_bktd.narrow(2, read[0].begin, read[0].size());
        std::vector<at::Tensor> parts;
        for (const KeyRange& range : read) parts.push_back(x_bktd.narrow(2, range.begin, range.size()));
        return at::cat(parts, 2);
    }
    void add(PartSums& to, const at::Tensor& part_bktd) const {
        int64_t at = 0;
        for (const KeyRange& range : read) {
            to.add({part_bktd.narrow(2, at, range.size()).transpose(1, 2), {}, range.begin, 0});
            at += range.size();
        }
    }
};

/// Returns the keys that a stage of `rank` reads: the rank's keys, or those that the stage's sender sends.
Hop hop_of(const LocalRing& ring, size_t rank, size_t stage) {
    const Stage& here = ring.schedules[rank].stages[stage];
    if (here.is_own) return {rank, {{0, here.keys}}};
    const auto from = static_cast<size_t>(here.exchanges.front().from);
    return {from, ring.schedules[from].stages[stage].exchanges.front().sent};
}

template <typename Compute>
void each_hop(const LocalRing& ring, size_t rank, const Compute& compute) {
    const AttentionSchedule& schedule = ring.schedules[rank];
    for (size_t stage = 0; stage < schedule.stages.size(); ++stage) {
        if (!schedule.stages[stage].slices.empty())
            compute(hop_of(ring, rank, stage), schedule.stages[stage]);
    }
}

}  // namespace

LocalRing deal(const Layout& layout, const RingShare& sequence) {
    LocalRing ring;
    for (size_t rank = 0; rank < layout.ranks.size(); ++rank) {
        const at::Tensor places = places_of(layout.ranks[rank], sequence.q_bhtd.device());
        ring.places.push_back(places);
        ring.schedules.push_back(make_ring_schedule(layout.ranks, static_cast<int>(rank)));
        ring.shares.push_back({tokens_at(sequence.q_bhtd, places), tokens_at(sequence.dout_bhtd, places),
                               tokens_at(sequence.k_bktd, places), tokens_at(sequence.v_bktd, places)});
    }
    return ring;
}

std::vector<FlashOutput> ring_forward(const LocalRing& ring) {
    std::vector<FlashOutput> outputs;
    for (size_t rank = 0; rank < ring.shares.size(); ++rank) {
        const RingShare& share = ring.shares[rank];
        PartialAttention attention(share.q_bhtd);
        each_hop(ring, rank, [&](const Hop& hop, const Stage& stage) {
            const RingShare& owner = ring.shares[hop.owner];
            attention.add(hop.of(owner.k_bktd), hop.of(owner.v_bktd), all_heads(share), stage.slices);
        });
        outputs.push_back(attention.finish());
    }
    return outputs;
}

std::vector<FlashGradients> ring_backward(const LocalRing& ring, const std::vector<FlashOutput>& outputs) {
    std::vector<FlashGradients> gradients(ring.shares.size());
    std::vector<PartSums> dk, dv;
    for (const RingShare& share : ring.shares) {
        dk.emplace_back(share.k_bktd, PartSums::Kind::Gradients);
        dv.emplace_back(share.v_bktd, PartSums::Kind::Gradients);
    }
    for (size_t rank = 0; rank < ring.shares.size(); ++rank) {
        const RingShare& share = ring.shares[rank];
        PartialGradients sums(share.dout_bhtd, share.q_bhtd, outputs[rank]);
        each_hop(ring, rank, [&](const Hop& hop, const Stage& stage) {
            const RingShare& owner = ring.shares[hop.owner];
            const at::Tensor k = hop.of(owner.k_bktd), v = hop.of(owner.v_bktd);
            KeyGradients d;
            if (!makes_gradients(k, {}, stage.one_call))
                d = {at::empty_like(k, at::kFloat), at::empty_like(v, at::kFloat), true};
            sums.add(k, v, all_heads(share), stage.slices, d);
            hop.add(dk[hop.owner], d.dk_bksd);
            hop.add(dv[hop.owner], d.dv_bksd);
        });
        gradients[rank].dq_bhtd = sums.finish();
    }
    for (size_t rank = 0; rank < ring.shares.size(); ++rank) {
        gradients[rank].dk_bksd = dk[rank].sum().transpose(1, 2);
        gradients[rank].dv_bksd = dv[rank].sum().transpose(1, 2);
    }
    return gradients;
}

std::vector<at::Tensor> put_together(const LocalRing& ring, const std::vector<FlashOutput>& outputs,
                                     const std::vector<FlashGradients>& gradients) {
    std::array<std::vector<at::Tensor>, 4> parts;
    for (const FlashOutput& part : outputs) parts[0].push_back(part.out_bhtd);
    for (const FlashGradients& part : gradients) {
        parts[1].push_back(part.dq_bhtd);
        parts[2].push_back(part.dk_bksd);
        parts[3].push_back(part.dv_bksd);
    }
    const at::Tensor places = at::cat(ring.places);
    std::vector<at::Tensor> whole;
    for (const std::vector<at::Tensor>& of_ranks : parts) {
        const at::Tensor all = at::cat(of_ranks, 2);
        whole.push_back(at::empty_like(all).index_copy_(2, places, all));
    }
    return whole;
}

FlashOutput one_call_forward(const RingShare& sequence) {
    const auto whole =
        attention_in_one_call(sequence.q_bhtd, sequence.k_bktd, sequence.v_bktd, causal_slices(sequence));
    if (whole) return *whole;
    PartialAttention attention(sequence.q_bhtd);
    attention.add(sequence.k_bktd, sequence.v_bktd, all_heads(sequence), causal_slices(sequence));
    return attention.finish();
}

FlashGradients one_call_backward(const RingShare& sequence, const FlashOutput& whole) {
    const auto d = gradients_in_one_call(sequence.dout_bhtd, sequence.q_bhtd, sequence.k_bktd,
                                         sequence.v_bktd, whole, causal_slices(sequence));
    if (d) return *d;
    PartialGradients sums(sequence.dout_bhtd, sequence.q_bhtd, whole);
    const at::Tensor dk = at::empty_like(sequence.k_bktd, at::kFloat),
                     dv = at::empty_like(sequence.v_bktd, at::kFloat);
    KeyGradients d_keys{dk, dv, true};
    sums.add(sequence.k_bktd, sequence.v_bktd, all_heads(sequence), causal_slices(sequence), d_keys);
    return {sums.finish(), dk, dv};
}

}  // namespace ringmaster
