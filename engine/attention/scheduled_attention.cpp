#include "engine/attention/scheduled_attention.h"

#include <ATen/ATen.h>

#include "engine/attention/partial_attention.h"

namespace ringmaster {

namespace {

// A stage's key/value buffer is [S, 2, B, K, D], so that any range of its tokens is one contiguous message.

KeysValues views_of(const at::Tensor& buffer_s2bkd) {
    return {buffer_s2bkd.select(1, 0).transpose(0, 1), buffer_s2bkd.select(1, 1).transpose(0, 1)};
}

KeysValues of_heads(const KeysValues& x, const KeyHeads& heads) {
    return {x.k_btkd.narrow(2, heads.begin, heads.count), x.v_btkd.narrow(2, heads.begin, heads.count)};
}
at::Tensor heads_first(const at::Tensor& x_btkd) {
    return x_btkd.transpose(1, 2);
}

/// Names one stage for some heads: what is computed between two waits.
struct Unit {
    const Stage* stage;
    KeyHeads heads;
};

std::vector<Unit> units_of(const AttentionSchedule& schedule, int64_t query_heads, int64_t key_heads) {
    const int64_t step = schedule.heads_at_once > 0 ? schedule.heads_at_once : key_heads;
    std::vector<Unit> units;
    for (int64_t begin = 0; begin < key_heads; begin += step) {
        for (const Stage& stage : schedule.stages) {
            units.push_back({&stage, {begin, std::min(step, key_heads - begin), query_heads / key_heads}});
        }
    }
    return units;
}

/// Moves half of this rank's heads to the end of the backward: others' keys arrive while the first half
/// computes, and the last gradients travel back to their ranks while the second half does.
std::vector<Unit> backward_units_of(const AttentionSchedule& schedule, int64_t query_heads,
                                    int64_t key_heads) {
    std::vector<Unit> units = units_of(schedule, query_heads, key_heads);
    Unit& first = units.front();
    const bool split =
        schedule.heads_at_once == 0 && units.size() > 1 && first.stage->is_own && key_heads > 1;
    if (!split) return units;
    Unit last = first;
    first.heads.count = key_heads / 2;
    last.heads.begin = first.heads.count;
    last.heads.count = key_heads - first.heads.count;
    units.push_back(last);
    return units;
}

/// Returns true if only this rank's keys are seen.
bool is_local(const AttentionSchedule& schedule) {
    return schedule.stages.size() == 1 && schedule.stages[0].is_own;
}

/// Prefetches each unit's keys and values, one unit ahead of the computation.
class KeyValuePrefetcher {
  public:
    KeyValuePrefetcher(Group& ring, const std::vector<Unit>& units, const KeysValues& own)
        : ring_(ring), units_(units), own_(own) {
        start(0);
    }

    /// Returns the unit's keys and values, [B, S, K, D], and starts the transfers of the next unit.
    KeysValues take(size_t unit) {
        for (Transfer& transfer : transfers_) transfer.wait();
        transfers_.clear();
        held_ = std::exchange(coming_, {});
        if (unit + 1 < units_.size()) start(unit + 1);
        ring_.progress().enter_hop(static_cast<int>(unit));
        if (units_[unit].stage->is_own) return of_heads(own_, units_[unit].heads);
        return held_.defined() ? views_of(held_) : KeysValues{};
    }

  private:
    void start(size_t unit) {
        ring_.progress().enter_hop(static_cast<int>(unit));
        const Stage& stage = *units_[unit].stage;
        const KeysValues own = of_heads(own_, units_[unit].heads);
        if (!stage.is_own && stage.keys > 0) {
            coming_ = at::empty({stage.keys, 2, own.k_btkd.size(0), own.k_btkd.size(2), own.k_btkd.size(3)},
                                own.k_btkd.options());
            if (!stage.own.empty())
                pack(own, stage.own, coming_.narrow(0, stage.own_at, count_keys(stage.own)));
        }
        for (const KeyExchange& exchange : stage.exchanges) {
            std::vector<at::Tensor> send, receive;
            if (!exchange.sent.empty()) send.push_back(packed(own, exchange.sent, units_[unit].heads));
            if (exchange.received > 0) receive.push_back(coming_.narrow(0, exchange.at, exchange.received));
            transfers_.push_back(ring_.exchange(std::move(send), exchange.to, std::move(receive),
                                                exchange.from, "keys and values"));
        }
    }

    static void pack(const KeysValues& own, const KeyRanges& ranges, const at::Tensor& into_s2bkd) {
        int64_t at = 0;
        for (const KeyRange& range : ranges) {
            const at::Tensor part = into_s2bkd.narrow(0, at, range.size());
            part.select(1, 0).copy_(own.k_btkd.narrow(1, range.begin, range.size()).transpose(0, 1));
            part.select(1, 1).copy_(own.v_btkd.narrow(1, range.begin, range.size()).transpose(0, 1));
            at += range.size();
        }
    }

    /// Packs a message once if several ranks get the same one in a row.
    at::Tensor packed(const KeysValues& own, const KeyRanges& ranges, const KeyHeads& heads) {
        if (last_.defined() && last_ranges_ == ranges && last_heads_.begin == heads.begin) return last_;
        const at::Tensor& k = own.k_btkd;
        last_ = at::empty({count_keys(ranges), 2, k.size(0), k.size(2), k.size(3)}, k.options());
        pack(own, ranges, last_);
        last_ranges_ = ranges;
        last_heads_ = heads;
        return last_;
    }

    Group& ring_;
    const std::vector<Unit>& units_;
    const KeysValues& own_;
    at::Tensor held_, coming_;
    std::vector<Transfer> transfers_;
    at::Tensor last_;
    KeyRanges last_ranges_;
    KeyHeads last_heads_;
};

/// Sends the gradients of other ranks' keys and values back to them, and sums the gradients of this rank's in
/// float32, in the order of the units. Gradients that are no sums yet (makes_gradients()) travel in the
/// inputs' dtype, others in float32.
class GradientReturn {
  public:
    /// `before` holds sums to begin with, if any.
    GradientReturn(Group& ring, const KeysValues& own, const KeysValues& before = {})
        : ring_(ring), dk_(key_sums(own.k_btkd)), dv_(key_sums(own.v_btkd)), own_(own) {
        if (!before.k_btkd.defined()) return;
        dk_.begin_with(before.k_btkd);
        dv_.begin_with(before.v_btkd);
    }

    /// Returns the tensors to which a unit's gradients are added, or undefined ones if the kernel makes them.
    /// The tensors for this rank's own keys already hold sums.
    KeyGradients gradients_for(const Unit& unit) {
        const auto of_heads = [&](const at::Tensor& x_btkd) {
            return heads_first(x_btkd.narrow(2, unit.heads.begin, unit.heads.count));
        };
        const bool computes = !unit.stage->slices.empty();
        if (computes && makes_gradients(own_.k_btkd, unit.stage->one_call)) return {};
        if (unit.stage->is_own) return {of_heads(dk_.sum()), of_heads(dv_.sum())};
        const at::Tensor dk = float_room(unit.stage->keys, unit.heads),
                         dv = float_room(unit.stage->keys, unit.heads);
        if (!computes) dk.zero_(), dv.zero_();
        return {dk, dv, true};
    }

    void send(const Unit& unit, const KeyGradients& d) {
        if (unit.stage->is_own) {
            if (makes_gradients(own_.k_btkd, unit.stage->one_call))
                add(unit.heads, {{0, unit.stage->keys}}, tokens_outside(d.dk_bksd), tokens_outside(d.dv_bksd),
                    0);
            return;
        }
        receive();
        const at::Tensor dk = tokens_outside(d.dk_bksd), dv = tokens_outside(d.dv_bksd);
        add(unit.heads, unit.stage->own, dk, dv, unit.stage->own_at);
        for (const KeyExchange& exchange : unit.stage->exchanges) start(unit.heads, exchange, dk, dv);
    }

    KeysValues finish() {
        receive();
        return {dk_.sum(), dv_.sum()};
    }

  private:
    struct Coming {
        const KeyExchange* exchange;
        KeyHeads heads;
        at::Tensor dk_sbkd, dv_sbkd;
        Transfer transfer;
    };

    /// The CPU joins each part as it comes: its kernels add to the sum itself, and memory is scarcer.
    static PartSums key_sums(const at::Tensor& x_btkd) {
        const at::Tensor like = heads_first(x_btkd);
        if (like.is_cpu()) return PartSums(like, PartSums::Kind::Gradients, 0);
        return PartSums(like, PartSums::Kind::Gradients);
    }

    static at::Tensor tokens_outside(const at::Tensor& x_bksd) { return x_bksd.permute({2, 0, 1, 3}); }

    /// Returns memory for the gradients of `keys` keys, in S B K D order.
    at::Tensor room(int64_t keys, const KeyHeads& heads, at::ScalarType dtype) const {
        const at::Tensor& k = own_.k_btkd;
        return at::empty({keys, k.size(0), heads.count, k.size(3)}, k.options().dtype(dtype));
    }
    at::Tensor float_room(int64_t keys, const KeyHeads& heads) const {
        return room(keys, heads, at::kFloat).permute({1, 2, 0, 3});
    }

    /// Adds the gradients of this rank's keys in `ranges`, which begin at index `at`.
    void add(const KeyHeads& heads, const KeyRanges& ranges, const at::Tensor& dk_sbkd,
             const at::Tensor& dv_sbkd, int64_t at) {
        for (const KeyRange& range : ranges) {
            const auto part = [&](const at::Tensor& x_sbkd) {
                return AttentionPart{
                    x_sbkd.narrow(0, at, range.size()).transpose(0, 1), {}, range.begin, heads.begin};
            };
            dk_.add(part(dk_sbkd));
            dv_.add(part(dv_sbkd));
            at += range.size();
        }
    }

    void start(const KeyHeads& heads, const KeyExchange& exchange, const at::Tensor& dk_sbkd,
               const at::Tensor& dv_sbkd) {
        std::vector<at::Tensor> send, receive;
        if (exchange.received > 0) {
            for (const at::Tensor& d : {dk_sbkd, dv_sbkd})
                send.push_back(d.narrow(0, exchange.at, exchange.received).contiguous());
        }
        Coming coming{&exchange, heads, {}, {}, {}};
        if (!exchange.sent.empty()) {
            const at::ScalarType dtype = makes_gradients(own_.k_btkd, exchange.sent_to_one_call)
                                             ? own_.k_btkd.scalar_type()
                                             : at::kFloat;
            coming.dk_sbkd = room(count_keys(exchange.sent), heads, dtype);
            coming.dv_sbkd = at::empty_like(coming.dk_sbkd);
            receive = {coming.dk_sbkd, coming.dv_sbkd};
        }
        coming.transfer = ring_.exchange(std::move(send), exchange.from, std::move(receive), exchange.to,
                                         "gradients of keys and values");
        coming_.push_back(std::move(coming));
    }

    void receive() {
        for (Coming& coming : coming_) {
            coming.transfer.wait();
            add(coming.heads, coming.exchange->sent, coming.dk_sbkd, coming.dv_sbkd, 0);
        }
        coming_.clear();
    }

    Group& ring_;
    PartSums dk_, dv_;
    const KeysValues& own_;
    std::vector<Coming> coming_;
};

void add_pass(Group& ring, const AttentionSchedule& schedule, int64_t query_heads, const KeysValues& own,
              PartialAttention& attention) {
    const std::vector<Unit> units = units_of(schedule, query_heads, own.k_btkd.size(2));
    KeyValuePrefetcher prefetcher(ring, units, own);
    for (size_t u = 0; u < units.size(); ++u) {
        const KeysValues keys = prefetcher.take(u);
        if (units[u].stage->slices.empty()) continue;
        attention.add(heads_first(keys.k_btkd), heads_first(keys.v_btkd), units[u].heads,
                      units[u].stage->slices);
    }
}

/// Adds the gradients of queries to `sums`, and returns those of this rank's keys, added to `before`.
KeysValues add_gradients(Group& ring, const AttentionSchedule& schedule, int64_t query_heads,
                         const KeysValues& own, const KeysValues& before, PartialGradients& sums) {
    const std::vector<Unit> units = backward_units_of(schedule, query_heads, own.k_btkd.size(2));
    KeyValuePrefetcher prefetcher(ring, units, own);
    GradientReturn gradient_return(ring, own, before);
    for (size_t u = 0; u < units.size(); ++u) {
        const KeysValues keys = prefetcher.take(u);
        KeyGradients d = gradient_return.gradients_for(units[u]);
        if (!units[u].stage->slices.empty())
            sums.add(heads_first(keys.k_btkd), heads_first(keys.v_btkd), units[u].heads,
                     units[u].stage->slices, d);
        gradient_return.send(units[u], d);
    }
    return gradient_return.finish();
}

/// Returns the chunks whose keys a chunk reads: its own, then from the last one on.
std::vector<size_t> chunks_read(const std::vector<AttentionSchedule>& passes) {
    std::vector<size_t> chunks = {passes.size() - 1};
    for (size_t chunk = passes.size() - 1; chunk-- > 0;)
        if (!is_idle(passes[chunk])) chunks.push_back(chunk);
    return chunks;
}

}  // namespace

FlashOutput scheduled_forward(Group& ring, const AttentionSchedule& schedule, const at::Tensor& q_bhtd,
                              const KeysValues& own, const ScoreRule& rule) {
    if (is_local(schedule)) {
        const auto whole = attention_in_one_call(q_bhtd, heads_first(own.k_btkd), heads_first(own.v_btkd),
                                                 schedule.stages[0].slices, rule);
        if (whole) return *whole;
    }
    PartialAttention attention(q_bhtd, rule);
    add_pass(ring, schedule, q_bhtd.size(1), own, attention);
    return attention.finish();
}

ScheduledGradients scheduled_backward(Group& ring, const AttentionSchedule& schedule,
                                      const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                      const KeysValues& own, const FlashOutput& whole,
                                      const ScoreRule& rule) {
    if (is_local(schedule)) {
        const auto d = gradients_in_one_call(dout_bhtd, q_bhtd, heads_first(own.k_btkd),
                                             heads_first(own.v_btkd), whole, schedule.stages[0].slices, rule);
        if (d) return {d->dq_bhtd, {d->dk_bksd.transpose(1, 2), d->dv_bksd.transpose(1, 2)}};
    }
    PartialGradients sums(dout_bhtd, q_bhtd, whole, rule);
    const KeysValues d = add_gradients(ring, schedule, q_bhtd.size(1), own, {}, sums);
    return {sums.finish(), d};
}

// A chunk's keys are on the way from `held` while those of another are in use.

FlashOutput chunk_forward(Group& ring, const std::vector<AttentionSchedule>& passes, const at::Tensor& q_bhtd,
                          const KeysValues& own, HeldKeys& held, const ScoreRule& rule) {
    const std::vector<size_t> chunks = chunks_read(passes);
    if (chunks.size() == 1) return scheduled_forward(ring, passes.back(), q_bhtd, own, rule);
    PartialAttention attention(q_bhtd, rule);
    for (size_t i = 0; i < chunks.size(); ++i) {
        const KeysValues keys = i == 0 ? own : held.keys(chunks[i]);
        if (i + 1 < chunks.size()) held.fetch(chunks[i + 1], false);
        add_pass(ring, passes[chunks[i]], q_bhtd.size(1), keys, attention);
    }
    return attention.finish();
}

ScheduledGradients chunk_backward(Group& ring, const std::vector<AttentionSchedule>& passes,
                                  const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                  const KeysValues& own, HeldKeys& held, const FlashOutput& whole,
                                  const ScoreRule& rule) {
    const std::vector<size_t> chunks = chunks_read(passes);
    ScheduledGradients gradients;
    gradients.d_btkd = held.take_sums(chunks[0]);
    if (chunks.size() == 1 && !gradients.d_btkd.k_btkd.defined())
        return scheduled_backward(ring, passes.back(), dout_bhtd, q_bhtd, own, whole, rule);
    PartialGradients sums(dout_bhtd, q_bhtd, whole, rule);
    for (size_t i = 0; i < chunks.size(); ++i) {
        const KeysValues keys = i == 0 ? own : held.keys(chunks[i]);
        const KeysValues before = i == 0 ? std::move(gradients.d_btkd) : held.take_sums(chunks[i]);
        if (i + 1 < chunks.size()) held.fetch(chunks[i + 1], true);
        KeysValues d = add_gradients(ring, passes[chunks[i]], q_bhtd.size(1), keys, before, sums);
        if (i == 0)
            gradients.d_btkd = std::move(d);
        else
            held.put_sums(chunks[i], std::move(d));
    }
    gradients.dq_bhtd = sums.finish();
    return gradients;
}

}  // namespace ringmaster
