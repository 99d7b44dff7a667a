// Computes a selective scan with LibTorch's operations, at the same position of all chunks at a time. First
// every chunk starts from a state of zeros; then the states are passed from chunk to chunk; then every chunk
// is computed again from its state.
#include <ATen/ATen.h>

#include <algorithm>
#include <vector>

#include "engine/kernels/scan.h"
#include "engine/recurrence/token_scan.h"

namespace ringmaster {

namespace {

/// Reorders [B, G, K, L] to [B, C, K].
at::Tensor by_channels(const at::Tensor& state_bgkl) {
    return state_bgkl.transpose(2, 3).flatten(1, 2);
}

void put(const at::Tensor& to_bgkl, const at::Tensor& state_bck) {
    to_bgkl.copy_(state_bck.unflatten(1, {to_bgkl.size(1), to_bgkl.size(3)}).transpose(2, 3));
}

}  // namespace

/// Views one position of all chunks, and holds its decays.
struct ScanByOperations::Position {
    at::Tensor x_bnc1, step_bnc1, key_bn1k, query_bn1k, decay_bnck;

    at::Tensor written_bnc1() const { return x_bnc1 * step_bnc1; }
    /// Returns the state after the position.
    at::Tensor next(const at::Tensor& state_bnck) const {
        return (decay_bnck * state_bnck).addcmul_(written_bnc1(), key_bn1k);
    }
};

ScanByOperations::ScanByOperations(const TokenScan::Inputs& in, const TokenSpan& span)
    : span_(span),
      chunks_((span.count + kScanChunk - 1) / kScanChunk),
      rates_ck(in.rates_gkl.transpose(1, 2).flatten(0, 1)),
      x_bnmc(in_chunks(in.x_btc)),
      steps_bnmc(in_chunks(in.steps_btc)),
      keys_bnmk(in_chunks(in.keys_btk)),
      queries_bnmk(in_chunks(in.queries_btk)),
      decays_bnck((steps_bnmc.sum(2).unsqueeze(3) * rates_ck).exp_()) {}

/// Returns the span as [B, N, M, W], padded with zeros: a step of 0 leaves the state as it is.
at::Tensor ScanByOperations::in_chunks(const at::Tensor& x_btw) const {
    return at::constant_pad_nd(x_btw.narrow(1, span_.first, span_.count),
                               {0, 0, 0, chunks_ * kScanChunk - span_.count})
        .unflatten(1, {chunks_, kScanChunk});
}

ScanByOperations::Position ScanByOperations::at(int64_t position) const {
    const at::Tensor step_bnc1 = steps_bnmc.select(2, position).unsqueeze(3);
    return {x_bnmc.select(2, position).unsqueeze(3), step_bnc1, keys_bnmk.select(2, position).unsqueeze(2),
            queries_bnmk.select(2, position).unsqueeze(2), (step_bnc1 * rates_ck).exp_()};
}

/// Computes the states before all chunks, and replaces state_bgkl by the state after the last.
void ScanByOperations::find_begins(const at::Tensor& state_bgkl) {
    at::Tensor ends_bnck = at::zeros_like(decays_bnck);
    for (int64_t m = 0; m < kScanChunk; ++m) ends_bnck = at(m).next(ends_bnck);
    begins_bnck = at::empty_like(ends_bnck);
    at::Tensor state_bck = by_channels(state_bgkl);
    for (int64_t n = 0; n < chunks_; ++n) {
        begins_bnck.select(1, n).copy_(state_bck);
        state_bck = (decays_bnck.select(1, n) * state_bck).add_(ends_bnck.select(1, n));
    }
    put(state_bgkl, state_bck);
}

void ScanByOperations::forward(const at::Tensor& state_bgkl, const at::Tensor& y_btc) {
    find_begins(state_bgkl);
    if (!y_btc.defined()) return;
    at::Tensor state_bnck = begins_bnck, y_bnmc = at::empty_like(x_bnmc);
    for (int64_t m = 0; m < kScanChunk; ++m) {
        const Position position = at(m);
        state_bnck = position.next(state_bnck);
        y_bnmc.select(2, m).copy_((state_bnck * position.query_bn1k).sum(3));
    }
    y_btc.narrow(1, span_.first, span_.count).copy_(y_bnmc.flatten(1, 2).narrow(1, 0, span_.count));
}

at::Tensor ScanByOperations::gradients_after(const at::Tensor& dy_bnmc, const at::Tensor& dstate_bgkl) const {
    at::Tensor dbegins_bnck = at::zeros_like(decays_bnck);
    for (int64_t m = kScanChunk - 1; m >= 0; --m) {
        const Position position = at(m);
        dbegins_bnck = dbegins_bnck.addcmul_(dy_bnmc.select(2, m).unsqueeze(3), position.query_bn1k)
                           .mul_(position.decay_bnck);
    }
    const at::Tensor dafter_bnck = at::empty_like(dbegins_bnck);
    at::Tensor dstate_bck = by_channels(dstate_bgkl);
    for (int64_t n = chunks_ - 1; n >= 0; --n) {
        dafter_bnck.select(1, n).copy_(dstate_bck);
        dstate_bck = (decays_bnck.select(1, n) * dstate_bck).add_(dbegins_bnck.select(1, n));
    }
    put(dstate_bgkl, dstate_bck);
    return dafter_bnck;
}

void ScanByOperations::state_gradient(const at::Tensor& dy_btc, const at::Tensor& dstate_bgkl) const {
    gradients_after(in_chunks(dy_btc), dstate_bgkl);
}

void ScanByOperations::backward(const at::Tensor& dy_btc, const at::Tensor& state_bgkl,
                                const at::Tensor& dstate_bgkl, const TokenScan::Gradients& gradients) {
    find_begins(state_bgkl);
    const at::Tensor dy_bnmc = in_chunks(dy_btc);
    at::Tensor d_bnck = gradients_after(dy_bnmc, dstate_bgkl);
    std::vector<at::Tensor> states = {begins_bnck};
    for (int64_t m = 0; m < kScanChunk; ++m) states.push_back(at(m).next(states.back()));
    const at::Tensor dx_bnmc = at::empty_like(x_bnmc), dsteps_bnmc = at::empty_like(steps_bnmc);
    const at::Tensor dkeys_bnmk = at::empty_like(keys_bnmk), dqueries_bnmk = at::empty_like(queries_bnmk);
    at::Tensor drates_ck = at::zeros_like(rates_ck);
    for (int64_t m = kScanChunk - 1; m >= 0; --m) {
        const Position position = at(m);
        const at::Tensor dy_bnc1 = dy_bnmc.select(2, m).unsqueeze(3);
        dqueries_bnmk.select(2, m).copy_((states.back() * dy_bnc1).sum(2));
        states.pop_back();
        d_bnck.addcmul_(dy_bnc1, position.query_bn1k);
        dkeys_bnmk.select(2, m).copy_((d_bnck * position.written_bnc1()).sum(2));
        const at::Tensor dwritten_bnc = (d_bnck * position.key_bn1k).sum(3);
        d_bnck.mul_(position.decay_bnck);
        const at::Tensor dexponent_bnck = states.back() * d_bnck;
        dx_bnmc.select(2, m).copy_(dwritten_bnc * position.step_bnc1.squeeze(3));
        dsteps_bnmc.select(2, m).copy_(
            (dexponent_bnck * rates_ck).sum(3).addcmul_(dwritten_bnc, position.x_bnc1.squeeze(3)));
        drates_ck.add_((dexponent_bnck * position.step_bnc1).sum(at::IntArrayRef{0, 1}));
    }
    const auto in_span = [&](const at::Tensor& x_btw) { return x_btw.narrow(1, span_.first, span_.count); };
    const auto of_tokens = [&](const at::Tensor& x_bnmw) {
        return x_bnmw.flatten(1, 2).narrow(1, 0, span_.count);
    };
    in_span(gradients.dx_btc).copy_(of_tokens(dx_bnmc));
    in_span(gradients.dsteps_btc).copy_(of_tokens(dsteps_bnmc));
    in_span(gradients.dkeys_btk).add_(of_tokens(dkeys_bnmk));
    in_span(gradients.dqueries_btk).add_(of_tokens(dqueries_bnmk));
    gradients.drates_gkl.add_(drates_ck.unflatten(0, {-1, kScanLanes}).transpose(1, 2));
}

}  // namespace ringmaster
