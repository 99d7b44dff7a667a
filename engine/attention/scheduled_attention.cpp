#include "engine/attention/scheduled_attention.h"

#include <ATen/ATen.h>

#include <limits>

#include "engine/attention/merge.h"

namespace ringmaster {

namespace {

// A key/value buffer of a stage is [S, 2, B, K, D]: any stretch of its tokens is one contiguous message.

at::Tensor queries_of(const at::Tensor& x_bhtd, const Slice& slice) {
    return x_bhtd.narrow(2, slice.query_begin, slice.query_end - slice.query_begin);
}

/// Of [B, S, K, D], as the kernels take them: [B, K, keys, D].
at::Tensor keys_of(const at::Tensor& x_bskd, const Slice& slice) {
    return x_bskd.narrow(1, slice.key_begin, slice.key_end - slice.key_begin).transpose(1, 2);
}

KeysValues views_of(const at::Tensor& buffer_s2bkd) {
    return {buffer_s2bkd.select(1, 0).transpose(0, 1), buffer_s2bkd.select(1, 1).transpose(0, 1)};
}

/// Key/value heads [begin, begin + count), and the query heads that share them.
struct Heads {
    int64_t begin = 0;
    int64_t count = 0;

    KeysValues of(const KeysValues& x) const {
        return {x.k_btkd.narrow(2, begin, count), x.v_btkd.narrow(2, begin, count)};
    }
    at::Tensor of_queries(const at::Tensor& x, int64_t group) const {
        return x.narrow(1, begin * group, count * group);
    }
};

/// One stage for some heads: what is computed between two waits.
struct Unit {
    const Stage* stage;
    Heads heads;
};

std::vector<Unit> units_of(const AttentionSchedule& schedule, int64_t key_heads) {
    const int64_t step = schedule.heads_at_once > 0 ? schedule.heads_at_once : key_heads;
    std::vector<Unit> units;
    for (int64_t begin = 0; begin < key_heads; begin += step) {
        for (const Stage& stage : schedule.stages) {
            units.push_back({&stage, {begin, std::min(step, key_heads - begin)}});
        }
    }
    return units;
}

bool is_plain(const AttentionSchedule& schedule, int64_t queries) {
    const Stage& stage = schedule.stages.front();
    return schedule.stages.size() == 1 && stage.is_own && stage.slices.size() == 1 &&
           stage.slices[0].mask != SliceMask::InverseCausal && stage.slices[0].query_begin == 0 &&
           stage.slices[0].query_end == queries && stage.slices[0].key_end == queries;
}

FlashOutput reversed(const FlashOutput& x) {
    return {x.out_bhtd.flip(2), x.lse_bht.flip(2)};
}

/// A triangle at the trailing edge of a window is a causal one, read backwards.
FlashOutput slice_forward(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, SliceMask mask) {
    if (mask != SliceMask::InverseCausal) return flash_forward(q, k, v, mask == SliceMask::Causal);
    return reversed(flash_forward(q.flip(2), k.flip(2), v.flip(2), true));
}

FlashGradients slice_backward(const at::Tensor& dout, const at::Tensor& q, const at::Tensor& k,
                              const at::Tensor& v, const FlashOutput& whole, SliceMask mask) {
    if (mask != SliceMask::InverseCausal)
        return flash_backward(dout, q, k, v, whole, mask == SliceMask::Causal);
    const FlashGradients d =
        flash_backward(dout.flip(2), q.flip(2), k.flip(2), v.flip(2), reversed(whole), true);
    return {d.dq_bhtd.flip(2), d.dk_bksd.flip(2), d.dv_bksd.flip(2)};
}

/// Brings each unit's keys and values, one unit ahead of the computation.
class Courier {
  public:
    Courier(Group& ring, const std::vector<Unit>& units, const KeysValues& own)
        : ring_(ring), units_(units), own_(own) {
        start(0);
    }

    /// The unit's keys and values, [B, S, K, D]; the next one's set off.
    KeysValues take(size_t unit) {
        for (Transfer& transfer : transfers_) transfer.wait();
        transfers_.clear();
        held_ = std::exchange(coming_, {});
        if (unit + 1 < units_.size()) start(unit + 1);
        ring_.progress().enter_hop(static_cast<int>(unit));
        if (units_[unit].stage->is_own) return units_[unit].heads.of(own_);
        return held_.defined() ? views_of(held_) : KeysValues{};
    }

  private:
    void start(size_t unit) {
        ring_.progress().enter_hop(static_cast<int>(unit));
        const Stage& stage = *units_[unit].stage;
        const KeysValues own = units_[unit].heads.of(own_);
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

    /// The same message for one rank after the other is packed once.
    at::Tensor packed(const KeysValues& own, const KeyRanges& ranges, const Heads& heads) {
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
    Heads last_heads_;
};

/// Takes the gradients of others' keys and values home, and adds up those of the own: in float32, [T, 2, B,
/// K, D], in the order of the units.
class Homecoming {
  public:
    Homecoming(Group& ring, const KeysValues& own) : ring_(ring) {
        const auto sizes = own.k_btkd.sizes();
        home_t2bkd_ =
            at::zeros({sizes[1], 2, sizes[0], sizes[2], sizes[3]}, own.k_btkd.options().dtype(at::kFloat));
    }

    /// Where a unit's gradients are to be added, [S, 2, B, K, D].
    at::Tensor gradients_for(const Unit& unit) const {
        const at::Tensor home = heads_of(unit.heads);
        if (unit.stage->is_own) return home;
        const auto sizes = home.sizes();
        return at::zeros({unit.stage->keys, 2, sizes[2], unit.heads.count, sizes[4]}, home.options());
    }

    void send(const Unit& unit, const at::Tensor& gradients) {
        if (unit.stage->is_own) return;
        receive();
        int64_t at = unit.stage->own_at;
        for (const KeyRange& range : unit.stage->own) {
            heads_of(unit.heads)
                .narrow(0, range.begin, range.size())
                .add_(gradients.narrow(0, at, range.size()));
            at += range.size();
        }
        for (const KeyExchange& exchange : unit.stage->exchanges) start(unit.heads, exchange, gradients);
    }

    KeysValues finish(at::ScalarType dtype) {
        receive();
        const KeysValues d = views_of(home_t2bkd_);
        return {d.k_btkd.to(dtype), d.v_btkd.to(dtype)};
    }

  private:
    struct Coming {
        const KeyExchange* exchange;
        Heads heads;
        at::Tensor gradients;
        Transfer transfer;
    };

    at::Tensor heads_of(const Heads& heads) const { return home_t2bkd_.narrow(3, heads.begin, heads.count); }

    void start(const Heads& heads, const KeyExchange& exchange, const at::Tensor& gradients) {
        std::vector<at::Tensor> send, receive;
        if (exchange.received > 0) send.push_back(gradients.narrow(0, exchange.at, exchange.received));
        at::Tensor arriving;
        if (!exchange.sent.empty()) {
            auto sizes = gradients.sizes().vec();
            sizes[0] = count_keys(exchange.sent);
            arriving = at::empty(sizes, gradients.options());
            receive.push_back(arriving);
        }
        coming_.push_back({&exchange, heads, arriving,
                           ring_.exchange(std::move(send), exchange.from, std::move(receive), exchange.to,
                                          "gradients of keys and values")});
    }

    void receive() {
        for (Coming& coming : coming_) {
            coming.transfer.wait();
            int64_t at = 0;
            for (const KeyRange& range : coming.exchange->sent) {
                heads_of(coming.heads)
                    .narrow(0, range.begin, range.size())
                    .add_(coming.gradients.narrow(0, at, range.size()));
                at += range.size();
            }
        }
        coming_.clear();
    }

    Group& ring_;
    at::Tensor home_t2bkd_;
    std::vector<Coming> coming_;
};

/// The running result, [B, T, H, D] and [B, H, T] in float32: undefined until the first block.
struct Running {
    const at::Tensor& q_bhtd;
    at::Tensor out_bthd;
    at::Tensor lse_bht;

    /// Of the query heads from `first_head` on.
    void add(const FlashOutput& block, const Slice& slice, int64_t first_head) {
        const at::Tensor block_out_bthd = block.out_bhtd.transpose(1, 2);
        const int64_t heads = block_out_bthd.size(2), queries = block_out_bthd.size(1);
        if (!out_bthd.defined() && queries == q_bhtd.size(2) && heads == q_bhtd.size(1)) {
            out_bthd = block_out_bthd.to(at::kFloat);
            lse_bht = block.lse_bht;
            return;
        }
        start();
        merge_by_lse(out_bthd.narrow(1, slice.query_begin, queries).narrow(2, first_head, heads),
                     lse_bht.narrow(2, slice.query_begin, queries).narrow(1, first_head, heads),
                     block_out_bthd, block.lse_bht);
    }

    void start() {
        if (out_bthd.defined()) return;
        const int64_t B = q_bhtd.size(0), H = q_bhtd.size(1), T = q_bhtd.size(2), D = q_bhtd.size(3);
        const auto options = q_bhtd.options().dtype(at::kFloat);
        out_bthd = at::zeros({B, T, H, D}, options);
        lse_bht = at::full({B, H, T}, -std::numeric_limits<float>::infinity(), options);
    }
};

}  // namespace

FlashOutput scheduled_forward(Group& ring, const AttentionSchedule& schedule, const at::Tensor& q_bhtd,
                              const KeysValues& own) {
    if (is_plain(schedule, q_bhtd.size(2))) {
        return flash_forward(q_bhtd, own.k_btkd.transpose(1, 2), own.v_btkd.transpose(1, 2),
                             schedule.stages[0].slices[0].mask == SliceMask::Causal);
    }
    const int64_t group = q_bhtd.size(1) / own.k_btkd.size(2);
    const std::vector<Unit> units = units_of(schedule, own.k_btkd.size(2));
    Courier courier(ring, units, own);
    Running running{q_bhtd, {}, {}};
    for (size_t u = 0; u < units.size(); ++u) {
        const KeysValues keys = courier.take(u);
        const at::Tensor q = units[u].heads.of_queries(q_bhtd, group);
        for (const Slice& slice : units[u].stage->slices) {
            running.add(slice_forward(queries_of(q, slice), keys_of(keys.k_btkd, slice),
                                      keys_of(keys.v_btkd, slice), slice.mask),
                        slice, units[u].heads.begin * group);
        }
    }
    running.start();
    return {running.out_bthd.to(q_bhtd.scalar_type()).transpose(1, 2), running.lse_bht};
}

ScheduledGradients scheduled_backward(Group& ring, const AttentionSchedule& schedule,
                                      const at::Tensor& dout_bhtd, const at::Tensor& q_bhtd,
                                      const KeysValues& own, const FlashOutput& whole) {
    if (is_plain(schedule, q_bhtd.size(2))) {
        FlashGradients d =
            flash_backward(dout_bhtd, q_bhtd, own.k_btkd.transpose(1, 2), own.v_btkd.transpose(1, 2), whole,
                           schedule.stages[0].slices[0].mask == SliceMask::Causal);
        return {d.dq_bhtd, {d.dk_bksd.transpose(1, 2), d.dv_bksd.transpose(1, 2)}};
    }
    const int64_t group = q_bhtd.size(1) / own.k_btkd.size(2);
    const std::vector<Unit> units = units_of(schedule, own.k_btkd.size(2));
    Courier courier(ring, units, own);
    Homecoming homecoming(ring, own);
    const at::Tensor dq_bhtd = at::zeros_like(q_bhtd.transpose(1, 2), q_bhtd.options().dtype(at::kFloat),
                                              at::MemoryFormat::Contiguous)
                                   .transpose(1, 2);
    for (size_t u = 0; u < units.size(); ++u) {
        const KeysValues keys = courier.take(u);
        const at::Tensor gradients = homecoming.gradients_for(units[u]);
        const KeysValues d_keys = views_of(gradients);
        const auto part = [&](const at::Tensor& x, const Slice& slice) {
            return queries_of(units[u].heads.of_queries(x, group), slice);
        };
        for (const Slice& slice : units[u].stage->slices) {
            const FlashGradients d =
                slice_backward(part(dout_bhtd, slice), part(q_bhtd, slice), keys_of(keys.k_btkd, slice),
                               keys_of(keys.v_btkd, slice),
                               {part(whole.out_bhtd, slice), part(whole.lse_bht, slice)}, slice.mask);
            part(dq_bhtd, slice).add_(d.dq_bhtd);
            keys_of(d_keys.k_btkd, slice).add_(d.dk_bksd);
            keys_of(d_keys.v_btkd, slice).add_(d.dv_bksd);
        }
        homecoming.send(units[u], gradients);
    }
    return {dq_bhtd.to(q_bhtd.scalar_type()), homecoming.finish(q_bhtd.scalar_type())};
}

}  // namespace ringmaster
