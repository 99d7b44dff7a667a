#include "engine/attention/scheduled_attention.h"

#include <ATen/ATen.h>

#include "engine/attention/partial_attention.h"

namespace ringmaster {

namespace {

constexpr const char* kKeysValues = "keys and values";
constexpr const char* kSentKeys = "latents of keys and values";

// A stage's buffer is [S, P, B, K, D], so that any range of its tokens is one contiguous message. It holds
// keys and values (P = 2), or the vectors that are sent in their place (P = K = 1).

at::Tensor part_of(const at::Tensor& buffer_spbkd, int64_t part) {
    return buffer_spbkd.select(1, part).transpose(0, 1);
}

KeysValues of_heads(const KeysValues& x, const KeyHeads& heads) {
    return {x.k_btkd.narrow(2, heads.begin, heads.count), x.v_btkd.narrow(2, heads.begin, heads.count)};
}
/// Holds one stage for some of the heads, which is the work between two waits for transfers.
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

/// Returns the units of a backward pass. If one pass takes all heads, splits the stage of this rank's own
/// keys by heads: half of them come first, the others last. Other ranks' keys arrive during the first half;
/// the last gradients travel back during the second.
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

/// Returns true if the queries see only this rank's keys.
bool is_local(const AttentionSchedule& schedule) {
    return schedule.stages.size() == 1 && schedule.stages[0].is_own;
}

/// Prefetches each unit's keys and values, one unit ahead of the computation.
class KeyValuePrefetcher {
  public:
    KeyValuePrefetcher(Group& ring, const std::vector<Unit>& units, const KeysValues& own, SentKeys* sent)
        : ring_(ring), units_(units), own_(own), sent_(sent) {
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
        if (!held_.defined()) return {};
        if (sent_ != nullptr) return sent_->keys_values(received());
        return {part_of(held_, 0), part_of(held_, 1)};
    }
    /// Returns the vectors that were sent in place of the unit's keys and values.
    at::Tensor received() const { return part_of(held_, 0); }

  private:
    /// Returns the tensors that other ranks get for this rank's tokens, [B, T, K, D] each.
    std::vector<at::Tensor> message(const KeyHeads& heads) const {
        if (sent_ != nullptr) return {sent_->own()};
        const KeysValues own = of_heads(own_, heads);
        return {own.k_btkd, own.v_btkd};
    }
    static at::Tensor room(int64_t keys, const std::vector<at::Tensor>& message) {
        const at::Tensor& first = message[0];
        const auto parts = static_cast<int64_t>(message.size());
        return at::empty({keys, parts, first.size(0), first.size(2), first.size(3)}, first.options());
    }

    void start(size_t unit) {
        ring_.progress().enter_hop(static_cast<int>(unit));
        const Stage& stage = *units_[unit].stage;
        const std::vector<at::Tensor> own = message(units_[unit].heads);
        if (!stage.is_own && stage.keys > 0) {
            coming_ = room(stage.keys, own);
            if (!stage.own.empty())
                pack(own, stage.own, coming_.narrow(0, stage.own_at, count_keys(stage.own)));
        }
        for (const KeyExchange& exchange : stage.exchanges) {
            std::vector<at::Tensor> send, receive;
            if (!exchange.sent.empty()) send.push_back(packed(own, exchange.sent, units_[unit].heads));
            if (exchange.received > 0) receive.push_back(coming_.narrow(0, exchange.at, exchange.received));
            transfers_.push_back(ring_.exchange(std::move(send), exchange.to, std::move(receive),
                                                exchange.from, sent_ != nullptr ? kSentKeys : kKeysValues));
        }
    }

    static void pack(const std::vector<at::Tensor>& message, const KeyRanges& ranges,
                     const at::Tensor& into_spbkd) {
        int64_t at = 0;
        for (const KeyRange& range : ranges) {
            const at::Tensor to = into_spbkd.narrow(0, at, range.size());
            for (size_t part = 0; part < message.size(); ++part)
                to.select(1, static_cast<int64_t>(part))
                    .copy_(message[part].narrow(1, range.begin, range.size()).transpose(0, 1));
            at += range.size();
        }
    }

    /// Packs a message, or returns the last packed message if the next rank gets the same one.
    at::Tensor packed(const std::vector<at::Tensor>& message, const KeyRanges& ranges,
                      const KeyHeads& heads) {
        if (last_.defined() && last_ranges_ == ranges && last_heads_.begin == heads.begin) return last_;
        last_ = room(count_keys(ranges), message);
        pack(message, ranges, last_);
        last_ranges_ = ranges;
        last_heads_ = heads;
        return last_;
    }

    Group& ring_;
    const std::vector<Unit>& units_;
    const KeysValues& own_;
    SentKeys* sent_;  ///< null if keys and values are sent
    at::Tensor held_, coming_;
    std::vector<Transfer> transfers_;
    at::Tensor last_;
    KeyRanges last_ranges_;
    KeyHeads last_heads_;
};

/// Sends the gradients of other ranks' keys and values back to those ranks. Sums the gradients of this rank's
/// keys and values in float32, in the order of the units. Gradients that one call of a kernel made
/// (makes_gradients()) travel in the inputs' dtype, others in float32. If vectors were sent in place of keys
/// and values, the gradients of those vectors travel instead.
class GradientReturn {
  public:
    /// `before` holds the sums to start from, if there are any.
    GradientReturn(Group& ring, const KeysValues& own, const ScoreRule& rule, const KeysValues& before,
                   SentKeys* sent)
        : ring_(ring), own_(own), rule_(rule), sent_(sent) {
        sums_ = {key_sums(own.k_btkd), key_sums(own.v_btkd)};
        if (sent_ != nullptr) sums_.push_back(key_sums(sent_->own()));
        if (!before.k_btkd.defined()) return;
        sums_[kKeys].begin_with(before.k_btkd);
        sums_[kValues].begin_with(before.v_btkd);
    }

    /// Returns the tensors to which a unit's gradients are added, or undefined ones if the kernel makes them.
    /// The tensors for this rank's own keys already hold sums.
    KeyGradients gradients_for(const Unit& unit) {
        const auto of_heads = [&](const at::Tensor& x_btkd) {
            return heads_first(x_btkd.narrow(2, unit.heads.begin, unit.heads.count));
        };
        const bool computes = !unit.stage->slices.empty();
        if (computes && makes_gradients(own_.k_btkd, rule_, unit.stage->one_call)) return {};
        if (unit.stage->is_own) return {of_heads(sums_[kKeys].sum()), of_heads(sums_[kValues].sum())};
        if (!computes && sent_ != nullptr) return {};
        const at::Tensor dk = float_room(unit.stage->keys, unit.heads),
                         dv = float_room(unit.stage->keys, unit.heads);
        if (!computes) dk.zero_(), dv.zero_();
        return {dk, dv, true};
    }

    /// `received` holds the vectors that were sent in place of the unit's keys and values, if any.
    void send(const Unit& unit, KeyGradients d, const at::Tensor& received) {
        if (unit.stage->is_own) {
            if (makes_gradients(own_.k_btkd, rule_, unit.stage->one_call))
                add(kKeys, unit.heads, {{0, unit.stage->keys}}, both(d), 0);
            return;
        }
        receive();
        const std::vector<at::Tensor> back = sent_ != nullptr ? of_sent(unit, d, received) : both(d);
        d = {};
        add(first_sent(), heads_sent(unit.heads), unit.stage->own, back, unit.stage->own_at);
        for (const KeyExchange& exchange : unit.stage->exchanges) start(unit.heads, exchange, back);
    }

    KeysValues finish() {
        receive();
        return {sums_[kKeys].sum(), sums_[kValues].sum()};
    }
    /// Returns the gradient of the vectors sent in place of this rank's keys and values: [B, T, 1, W], for
    /// the part that other ranks computed. Undefined if there are none.
    at::Tensor of_vectors() { return sent_ != nullptr ? sums_[kVectors].sum() : at::Tensor(); }

  private:
    enum Sum : size_t { kKeys, kValues, kVectors };  ///< index in sums_

    struct Coming {
        const KeyExchange* exchange;
        KeyHeads heads;
        std::vector<at::Tensor> gradients_sbkd;
        Transfer transfer;
    };

    /// The CPU joins each part at once, because its kernels add to the sum themselves and memory is scarcer.
    static PartSums key_sums(const at::Tensor& x_btkd) {
        const at::Tensor like = heads_first(x_btkd);
        if (like.is_cpu()) return PartSums(like, PartSums::Kind::Gradients, 0);
        return PartSums(like, PartSums::Kind::Gradients);
    }

    static at::Tensor tokens_outside(const at::Tensor& x_bksd) { return x_bksd.permute({2, 0, 1, 3}); }
    static std::vector<at::Tensor> both(const KeyGradients& d) {
        return {tokens_outside(d.dk_bksd), tokens_outside(d.dv_bksd)};
    }
    std::vector<at::Tensor> of_sent(const Unit& unit, const KeyGradients& d, const at::Tensor& received) {
        if (!unit.stage->slices.empty()) return {sent_->gradient(received, d.dk_bksd, d.dv_bksd)};
        return {room(unit.stage->keys, unit.heads, at::kFloat).zero_()};
    }

    Sum first_sent() const { return sent_ != nullptr ? kVectors : kKeys; }
    KeyHeads heads_sent(const KeyHeads& heads) const { return sent_ != nullptr ? KeyHeads{0, 1} : heads; }

    /// Allocates the gradients of `keys` keys, or of the vectors sent in their place, in S B K D order.
    at::Tensor room(int64_t keys, const KeyHeads& heads, at::ScalarType dtype) const {
        const at::Tensor like = sent_ != nullptr ? sent_->own() : own_.k_btkd;
        return at::empty({keys, like.size(0), heads_sent(heads).count, like.size(3)},
                         like.options().dtype(dtype));
    }
    at::Tensor float_room(int64_t keys, const KeyHeads& heads) const {
        const at::Tensor& k = own_.k_btkd;
        return at::empty({keys, k.size(0), heads.count, k.size(3)}, k.options().dtype(at::kFloat))
            .permute({1, 2, 0, 3});
    }

    /// Adds the gradients of this rank's keys in `ranges` to the sums from `first` on. They begin at index
    /// `at` of gradients_sbkd.
    void add(Sum first, const KeyHeads& heads, const KeyRanges& ranges,
             const std::vector<at::Tensor>& gradients_sbkd, int64_t at) {
        for (const KeyRange& range : ranges) {
            for (size_t i = 0; i < gradients_sbkd.size(); ++i)
                sums_[first + i].add({gradients_sbkd[i].narrow(0, at, range.size()).transpose(0, 1),
                                      {},
                                      range.begin,
                                      heads.begin});
            at += range.size();
        }
    }

    void start(const KeyHeads& heads, const KeyExchange& exchange,
               const std::vector<at::Tensor>& gradients_sbkd) {
        std::vector<at::Tensor> send, receive;
        if (exchange.received > 0) {
            for (const at::Tensor& d : gradients_sbkd)
                send.push_back(d.narrow(0, exchange.at, exchange.received).contiguous());
        }
        Coming coming{&exchange, heads_sent(heads), {}, {}};
        if (!exchange.sent.empty()) {
            const bool rounded =
                sent_ == nullptr && makes_gradients(own_.k_btkd, rule_, exchange.sent_to_one_call);
            const at::ScalarType dtype = rounded ? own_.k_btkd.scalar_type() : at::kFloat;
            for (size_t i = 0; i < gradients_sbkd.size(); ++i)
                coming.gradients_sbkd.push_back(room(count_keys(exchange.sent), heads, dtype));
            receive = coming.gradients_sbkd;
        }
        coming.transfer = ring_.exchange(std::move(send), exchange.from, std::move(receive), exchange.to,
                                         "gradients of keys and values");
        coming_.push_back(std::move(coming));
    }

    void receive() {
        for (Coming& coming : coming_) {
            coming.transfer.wait();
            add(first_sent(), coming.heads, coming.exchange->sent, coming.gradients_sbkd, 0);
        }
        coming_.clear();
    }

    Group& ring_;
    std::vector<PartSums> sums_;
    const KeysValues& own_;
    ScoreRule rule_;
    SentKeys* sent_;
    std::vector<Coming> coming_;
};

void add_pass(Group& ring, const AttentionSchedule& schedule, int64_t query_heads, const KeysValues& own,
              SentKeys* sent, PartialAttention& attention) {
    const std::vector<Unit> units = units_of(schedule, query_heads, own.k_btkd.size(2));
    KeyValuePrefetcher prefetcher(ring, units, own, sent);
    for (size_t u = 0; u < units.size(); ++u) {
        const KeysValues keys = prefetcher.take(u);
        if (units[u].stage->slices.empty()) continue;
        attention.add(heads_first(keys.k_btkd), heads_first(keys.v_btkd), units[u].heads,
                      units[u].stage->slices);
    }
}

struct OwnGradients {
    KeysValues keys;
    at::Tensor vectors_bt1w;
};

/// Adds the gradients of queries to `sums`, and returns those of this rank's keys, added to `before`.
OwnGradients add_gradients(Group& ring, const AttentionSchedule& schedule, int64_t query_heads,
                           const KeysValues& own, const ScoreRule& rule, const KeysValues& before,
                           SentKeys* sent, PartialGradients& sums) {
    const std::vector<Unit> units = backward_units_of(schedule, query_heads, own.k_btkd.size(2));
    KeyValuePrefetcher prefetcher(ring, units, own, sent);
    GradientReturn gradient_return(ring, own, rule, before, sent);
    for (size_t u = 0; u < units.size(); ++u) {
        KeysValues keys = prefetcher.take(u);
        KeyGradients d = gradient_return.gradients_for(units[u]);
        if (!units[u].stage->slices.empty())
            sums.add(heads_first(keys.k_btkd), heads_first(keys.v_btkd), units[u].heads,
                     units[u].stage->slices, d);
        keys = {};
        const bool has_vectors = sent != nullptr && !units[u].stage->is_own && units[u].stage->keys > 0;
        gradient_return.send(units[u], std::move(d), has_vectors ? prefetcher.received() : at::Tensor());
    }
    KeysValues of_keys = gradient_return.finish();
    return {std::move(of_keys), gradient_return.of_vectors()};
}

/// Returns the chunks whose keys the last chunk reads: first the last chunk itself, then the earlier chunks,
/// latest first.
std::vector<size_t> chunks_read(const std::vector<AttentionSchedule>& passes) {
    std::vector<size_t> chunks = {passes.size() - 1};
    for (size_t chunk = passes.size() - 1; chunk-- > 0;)
        if (!is_idle(passes[chunk])) chunks.push_back(chunk);
    return chunks;
}

}  // namespace

FlashOutput scheduled_forward(Group& ring, const AttentionSchedule& schedule, const at::Tensor& q_bhtd,
                              const KeysValues& own, const ScoreRule& rule, SentKeys* sent) {
    if (is_local(schedule)) {
        const auto whole = attention_in_one_call(q_bhtd, heads_first(own.k_btkd), heads_first(own.v_btkd),
                                                 schedule.stages[0].slices, rule);
        if (whole) return *whole;
    }
    PartialAttention attention(q_bhtd, rule);
    add_pass(ring, schedule, q_bhtd.size(1), own, sent, attention);
    return attention.finish();
}

ScheduledGradients scheduled_backward(Group& ring, const AttentionSchedule& schedule,
                                      const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                      const KeysValues& own, const FlashOutput& whole, const ScoreRule& rule,
                                      SentKeys* sent) {
    if (is_local(schedule)) {
        const auto d = gradients_in_one_call(dout_bhtd, q_bhtd, heads_first(own.k_btkd),
                                             heads_first(own.v_btkd), whole, schedule.stages[0].slices, rule);
        if (d) return {d->dq_bhtd, {d->dk_bksd.transpose(1, 2), d->dv_bksd.transpose(1, 2)}, {}};
    }
    PartialGradients sums(dout_bhtd, q_bhtd, whole, rule);
    const OwnGradients d = add_gradients(ring, schedule, q_bhtd.size(1), own, rule, {}, sent, sums);
    return {sums.finish(), d.keys, d.vectors_bt1w};
}

// `held` fetches the next chunk's keys while the current chunk's are in use.

FlashOutput chunk_forward(Group& ring, const std::vector<AttentionSchedule>& passes, const at::Tensor& q_bhtd,
                          const KeysValues& own, HeldKeys& held, const ScoreRule& rule) {
    const std::vector<size_t> chunks = chunks_read(passes);
    if (chunks.size() == 1) return scheduled_forward(ring, passes.back(), q_bhtd, own, rule);
    PartialAttention attention(q_bhtd, rule);
    for (size_t i = 0; i < chunks.size(); ++i) {
        const KeysValues keys = i == 0 ? own : held.keys(chunks[i]);
        if (i + 1 < chunks.size()) held.fetch(chunks[i + 1], false);
        add_pass(ring, passes[chunks[i]], q_bhtd.size(1), keys, nullptr, attention);
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
        KeysValues d =
            add_gradients(ring, passes[chunks[i]], q_bhtd.size(1), keys, rule, before, nullptr, sums).keys;
        if (i == 0)
            gradients.d_btkd = std::move(d);
        else
            held.put_sums(chunks[i], std::move(d));
    }
    gradients.dq_bhtd = sums.finish();
    return gradients;
}

}  // namespace ringmaster
