#include "engine/attention/ring_attention.h"

#include <ATen/ATen.h>

#include <limits>

#include "engine/attention/merge.h"

namespace ringmaster {

namespace {

int next_of(const Group& ring) {
    return (ring.rank() + 1) % ring.size();
}
int previous_of(const Group& ring) {
    return (ring.rank() + ring.size() - 1) % ring.size();
}

at::Tensor queries_of(const at::Tensor& x_bhtd, const Slice& slice) {
    return x_bhtd.narrow(2, slice.query_begin, slice.query_end - slice.query_begin);
}

at::Tensor lse_of(const at::Tensor& lse_bht, const Slice& slice) {
    return lse_bht.narrow(2, slice.query_begin, slice.query_end - slice.query_begin);
}

/// Of [B, S, K, D], as the kernels take them: [B, K, keys, D].
at::Tensor keys_of(const at::Tensor& x_bskd, const Slice& slice) {
    return x_bskd.narrow(1, slice.key_begin, slice.key_end - slice.key_begin).transpose(1, 2);
}

/// [2, keys, B, K, D] as `like`, in another dtype.
at::Tensor empty_keys(const KeysValues& like, int64_t keys, at::ScalarType dtype) {
    const auto sizes = like.both.sizes();
    return at::empty({2, keys, sizes[2], sizes[3], sizes[4]}, like.both.options().dtype(dtype));
}

/// A rank's held keys and values, and those on their way to it.
struct Carousel {
    Group& ring;
    KeysValues held;
    KeysValues incoming;
    Transfer transfer;

    void start(const std::vector<RingHop>& hops, size_t hop) {
        std::vector<at::Tensor> send, receive;
        if (hops[hop].sends_on) send.push_back(held.both);
        if (hops[hop].receives_next) {
            incoming = {empty_keys(held, hops[hop + 1].keys, held.both.scalar_type())};
            receive.push_back(incoming.both);
        }
        if (send.empty() && receive.empty()) return;
        transfer = ring.exchange(std::move(send), next_of(ring), std::move(receive), previous_of(ring),
                                 "keys and values");
    }

    /// Buffers that nothing reads any more are given back; a hop without keys leaves the old ones, unread.
    void finish() {
        transfer.wait();
        if (incoming.both.defined()) held = std::exchange(incoming, {});
    }
};

/// The running result, [B, T, H, D] and [B, H, T] in float32: undefined until the first block.
struct Running {
    at::Tensor out_bthd;
    at::Tensor lse_bht;

    void add(const FlashOutput& block, const Slice& slice, const at::Tensor& q_bhtd) {
        const at::Tensor block_out_bthd = block.out_bhtd.transpose(1, 2);
        if (!out_bthd.defined() && block_out_bthd.size(1) == q_bhtd.size(2)) {
            out_bthd = block_out_bthd.to(at::kFloat);
            lse_bht = block.lse_bht;
            return;
        }
        if (!out_bthd.defined()) {
            const int64_t B = q_bhtd.size(0), H = q_bhtd.size(1), T = q_bhtd.size(2), D = q_bhtd.size(3);
            const auto options = q_bhtd.options().dtype(at::kFloat);
            out_bthd = at::zeros({B, T, H, D}, options);
            lse_bht = at::full({B, H, T}, -std::numeric_limits<float>::infinity(), options);
        }
        merge_by_lse(out_bthd.narrow(1, slice.query_begin, block_out_bthd.size(1)), lse_of(lse_bht, slice),
                     block_out_bthd, block.lse_bht);
    }
};

}  // namespace

FlashOutput ring_forward(Group& ring, const std::vector<RingHop>& hops, const at::Tensor& q_bhtd,
                         KeysValues own) {
    Carousel carousel{ring, std::move(own), {}, {}};
    Running running;
    for (size_t h = 0; h < hops.size(); ++h) {
        carousel.start(hops, h);
        for (const Slice& slice : hops[h].slices) {
            running.add(
                flash_forward(queries_of(q_bhtd, slice), keys_of(carousel.held.keys_bskd(), slice),
                              keys_of(carousel.held.values_bskd(), slice), slice.mask == SliceMask::Causal),
                slice, q_bhtd);
        }
        carousel.finish();
    }
    return {running.out_bthd.to(q_bhtd.scalar_type()).transpose(1, 2), running.lse_bht};
}

FlashGradients ring_backward(Group& ring, const std::vector<RingHop>& hops, const at::Tensor& dout_bhtd,
                             const at::Tensor& q_bhtd, KeysValues own, const FlashOutput& whole) {
    Carousel carousel{ring, std::move(own), {}, {}};
    const auto float_options = q_bhtd.options().dtype(at::kFloat);
    at::Tensor dq_bhtd =
        at::zeros_like(q_bhtd.transpose(1, 2), float_options, at::MemoryFormat::Contiguous).transpose(1, 2);
    KeysValues gradients,
        arriving;      // of this hop's keys and values; of those, from the ranks that held them before
    Transfer carried;  // of the hop before: under way while this one computes
    for (size_t h = 0; h < hops.size(); ++h) {
        carousel.start(hops, h);
        gradients = {empty_keys(carousel.held, hops[h].keys, at::kFloat).zero_()};
        for (const Slice& slice : hops[h].slices) {
            const FlashGradients d = flash_backward(
                queries_of(dout_bhtd, slice), queries_of(q_bhtd, slice),
                keys_of(carousel.held.keys_bskd(), slice), keys_of(carousel.held.values_bskd(), slice),
                {queries_of(whole.out_bhtd, slice), lse_of(whole.lse_bht, slice)},
                slice.mask == SliceMask::Causal);
            queries_of(dq_bhtd, slice).add_(d.dq_bhtd);
            keys_of(gradients.keys_bskd(), slice).add_(d.dk_bksd);
            keys_of(gradients.values_bskd(), slice).add_(d.dv_bksd);
        }
        carried.wait();
        if (h > 0) gradients.both.add_(arriving.both);
        if (hops.size() > 1) {
            arriving = {empty_keys(gradients, hops[(h + 1) % hops.size()].keys, at::kFloat)};
            carried = ring.exchange({gradients.both}, next_of(ring), {arriving.both}, previous_of(ring),
                                    "gradients of keys and values");
        }
        carousel.finish();
    }
    carried.wait();
    const KeysValues& home = hops.size() > 1 ? arriving : gradients;
    const at::ScalarType dtype = q_bhtd.scalar_type();
    return {dq_bhtd.to(dtype), home.keys_bskd().to(dtype).transpose(1, 2),
            home.values_bskd().to(dtype).transpose(1, 2)};
}

}  // namespace ringmaster
