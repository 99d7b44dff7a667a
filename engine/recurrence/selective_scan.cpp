#include "engine/recurrence/selective_scan.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/kernels/scan.h"
#include "engine/recurrence/gated_norm.h"
#include "engine/recurrence/state_passing.h"
#include "engine/recurrence/token_scan.h"

namespace ringmaster {

namespace {

at::Tensor channels_of(const at::Tensor& projected_btw) {
    return projected_btw.narrow(2, 0, projected_btw.size(2) / 2);
}

at::Tensor gates_of(const at::Tensor& projected_btw) {
    const int64_t E = projected_btw.size(2) / 2;
    return projected_btw.narrow(2, E, E);
}

/// Returns the number of channels, rounded up to whole groups of kScanLanes.
int64_t filled(int64_t channels) {
    return (channels + kScanLanes - 1) / kScanLanes * kScanLanes;
}

/// Pads the tensor with zeros to whole groups of channels in this dimension; the result is packed.
at::Tensor fill(const at::Tensor& x, int64_t dim) {
    const int64_t missing = filled(x.size(dim)) - x.size(dim);
    if (missing == 0) return x.contiguous();
    std::vector<int64_t> sizes = x.sizes().vec();
    sizes[static_cast<size_t>(dim)] = missing;
    return at::cat({x, at::zeros(sizes, x.options())}, dim);
}

/// Reorders [N, C, K] to [N, C / L, K, L].
at::Tensor to_groups(const at::Tensor& x_nck) {
    return fill(x_nck, 1).unflatten(1, {-1, kScanLanes}).transpose(2, 3).contiguous();
}

/// Reverses to_groups for `channels` channels.
at::Tensor from_groups(const at::Tensor& x_ngkl, int64_t channels) {
    return x_ngkl.transpose(2, 3).flatten(1, 2).narrow(1, 0, channels);
}

}  // namespace

/// Holds the inputs of some channels.
struct SelectiveScan::Some {
    const SelectiveScan& layer;
    ChannelRange range;
    at::Tensor raw_btc;   ///< the steps before softplus
    at::Tensor rates_ck;  ///< A
    at::Tensor x_btc, steps_btc;
    TokenScan scan;

    Some(const SelectiveScan& of, const ScanTensors& in, const at::Tensor& keys_btk,
         const at::Tensor& queries_btk, const ChannelRange& some)
        : layer(of),
          range(some),
          raw_btc(some.of(in.steps_bte).to(keys_btk.scalar_type()) + of_vector(of.weights_.step_bias_h)),
          rates_ck(of_vector(of.weights_.decay_log_h).to(keys_btk.scalar_type()).exp().neg_()),
          x_btc(fill(some.of(in.channels_bte).to(keys_btk.scalar_type()), 2)),
          steps_btc(fill(at::softplus(raw_btc), 2)),
          scan({x_btc, steps_btc, to_groups(rates_ck.unsqueeze(0)).squeeze(0), keys_btk, queries_btk}) {}

    at::Tensor of_vector(const at::Tensor& x_e) const { return x_e.narrow(0, range.first, range.count); }
    at::Tensor without_filling(const at::Tensor& filled_btc) const {
        return filled_btc.narrow(2, 0, range.count);
    }
    /// Returns these channels' part of a state, [B, E, K, 1]; zeros if the state is undefined.
    at::Tensor state_of(const at::Tensor& state_bek1) const {
        if (!state_bek1.defined()) return scan.zero_state();
        return to_groups(state_bek1.narrow(1, range.first, range.count).squeeze(3));
    }
    void put_state(const at::Tensor& to_bek1, const at::Tensor& state_bgkl) const {
        to_bek1.narrow(1, range.first, range.count).copy_(from_groups(state_bgkl, range.count).unsqueeze(3));
    }
    /// Returns P, the decay over `span`, for this range of channels: [B, C, K, 1].
    at::Tensor decay_over(const TokenSpan& span) const {
        const at::Tensor sums_bc = without_filling(steps_btc).narrow(1, span.first, span.count).sum(1);
        return (sums_bc.unsqueeze(2) * rates_ck).exp_().unsqueeze(3);
    }
    TokenSpan span_of(size_t stretch) const {
        const Stretch& at = layer.stretches_.at(layer.stretches_.own[stretch]);
        return {at.first, at.size()};
    }
    /// Returns the gradient of the output before the gate.
    at::Tensor output_gradient(const at::Tensor& dgated_bte, const at::Tensor& gates_bte) const {
        const at::Tensor share = at::silu(range.of(gates_bte).to(x_btc.scalar_type()));
        return fill(share.mul_(range.of(dgated_bte)), 2);
    }
};

/// Holds the gradients that are sums over tokens, in float32, or float64 for float64 tensors.
struct SelectiveScan::Sums {
    at::Tensor step_bias_e, decay_log_ek, skip_e, keys_btk, queries_btk;

    Sums(const DeltaWeights& weights, const at::Tensor& keys)
        : step_bias_e(at::empty(weights.step_bias_h.sizes(), keys.options())),
          decay_log_ek(at::empty(weights.decay_log_h.sizes(), keys.options())),
          skip_e(at::empty(weights.skip_h.sizes(), keys.options())),
          keys_btk(at::zeros_like(keys)),
          queries_btk(at::zeros_like(keys)) {}
};

template <class Body>
void SelectiveScan::for_some(const ScanTensors& in, const Body& body) const {
    const at::ScalarType dtype = sum_type(in.channels_bte);
    const at::Tensor keys_btk = in.keys_btk.to(dtype).contiguous();
    const at::Tensor queries_btk = in.queries_btk.to(dtype).contiguous();
    const auto sizes = in.channels_bte.sizes();
    // LibTorch's operations keep all states of a chunk, so they compute only a few channels at a time.
    const int64_t of_token = in.channels_bte.is_cpu() ? 1 : std::max<int64_t>(1, sizes_.key_width / 8);
    for_channel_ranges(sizes[0] * sizes[1], of_token, sizes[2], kScanLanes, [&](const ChannelRange& range) {
        body(Some(*this, in, keys_btk, queries_btk, range));
    });
}

at::Tensor SelectiveScan::convolved(const at::Tensor& projected_btw) const {
    return ChannelConvolution(groups_, stretches_, weights_).forward(channels_of(projected_btw));
}

void SelectiveScan::convolved_backward(const at::Tensor& dconvolved_bte, const at::Tensor& projected_btw,
                                       const DeltaWeights& gradients, double beta) const {
    ChannelConvolution(groups_, stretches_, weights_)
        .backward(dconvolved_bte, channels_of(projected_btw), gradients, beta);
}

DeltaOutput SelectiveScan::forward(const ScanTensors& in) const {
    const auto options = in.channels_bte.options().dtype(sum_type(in.channels_bte));
    const int64_t B = in.channels_bte.size(0);
    const auto state = [&] { return at::empty({B, sizes_.values(), sizes_.key_width, 1}, options); };
    const size_t count = stretches_.own.size();
    DeltaOutput output;
    output.states.resize(count);
    output.transitions.resize(count);
    if (stretches_.stretches.most_sent > 0) {
        StateMaps maps{{}, std::vector<at::Tensor>(count), true};
        for (size_t i = 0; i < count; ++i) {
            const Stretch& stretch = stretches_.at(stretches_.own[i]);
            if (stretch.has_after) maps.ends[i] = state();
            if (stretch.has_after && stretch.has_before) output.transitions[i] = state();
        }
        for_some(in, [&](const Some& some) {
            for (size_t i = 0; i < count; ++i) {
                if (!maps.ends[i].defined()) continue;
                const at::Tensor end_bgkl = some.scan.zero_state();
                some.scan.forward(some.span_of(i), end_bgkl, {});
                some.put_state(maps.ends[i], end_bgkl);
                if (output.transitions[i].defined())
                    output.transitions[i]
                        .narrow(1, some.range.first, some.range.count)
                        .copy_(some.decay_over(some.span_of(i)));
            }
        });
        maps.transitions = output.transitions;
        output.states = states_before(groups_, stretches_, maps, state());
    }
    output.heads_bthv = at::empty(in.channels_bte.sizes(), in.channels_bte.options());
    for_some(in, [&](const Some& some) {
        const at::Tensor y_btc = at::zeros_like(some.x_btc);
        for (size_t i = 0; i < count; ++i)
            some.scan.forward(some.span_of(i), some.state_of(output.states[i]), y_btc);
        some.range.of(output.heads_bthv)
            .copy_(some.without_filling(y_btc).addcmul_(
                some.without_filling(some.x_btc), some.of_vector(weights_.skip_h).to(y_btc.scalar_type())));
    });
    return output;
}

at::Tensor SelectiveScan::gated(const at::Tensor& projected_btw, const DeltaOutput& output) const {
    const at::Tensor gates_bte = gates_of(projected_btw), &y_bte = output.heads_bthv;
    const at::Tensor gated_bte = at::empty(y_bte.sizes(), y_bte.options());
    const at::ScalarType dtype = sum_type(y_bte);
    for_channel_ranges(y_bte.size(0) * y_bte.size(1), 1, y_bte.size(2), 1, [&](const ChannelRange& range) {
        range.of(gated_bte).copy_(at::silu(range.of(gates_bte).to(dtype)).mul_(range.of(y_bte)));
    });
    return gated_bte;
}

std::vector<at::Tensor> SelectiveScan::gradients_after(const at::Tensor& dgated_bte,
                                                       const at::Tensor& gates_bte, const ScanTensors& in,
                                                       const DeltaOutput& output) const {
    const size_t count = stretches_.own.size();
    if (stretches_.stretches.most_received == 0) return std::vector<at::Tensor>(count);
    const at::Tensor like = at::empty({in.channels_bte.size(0), sizes_.values(), sizes_.key_width, 1},
                                      in.channels_bte.options().dtype(sum_type(in.channels_bte)));
    StateMaps maps{output.transitions, std::vector<at::Tensor>(count), true};
    for (size_t i = 0; i < count; ++i)
        if (stretches_.at(stretches_.own[i]).has_before) maps.ends[i] = at::empty_like(like);
    for_some(in, [&](const Some& some) {
        const at::Tensor dy_btc = some.output_gradient(dgated_bte, gates_bte);
        for (size_t i = 0; i < count; ++i) {
            if (!maps.ends[i].defined()) continue;
            const at::Tensor dstate_bgkl = some.scan.zero_state();
            some.scan.state_gradient(some.span_of(i), dy_btc, dstate_bgkl);
            some.put_state(maps.ends[i], dstate_bgkl);
        }
    });
    return state_gradients_after(groups_, stretches_, maps, like);
}

ScanTensors SelectiveScan::backward(const at::Tensor& dgated_bte, const at::Tensor& projected_btw,
                                    const ScanTensors& in, const DeltaOutput& output,
                                    const DeltaWeights& gradients, double beta) const {
    const at::Tensor gates_bte = gates_of(projected_btw);
    const std::vector<at::Tensor> dafter = gradients_after(dgated_bte, gates_bte, in, output);
    const at::ScalarType dtype = sum_type(in.channels_bte);
    Sums sums(weights_, in.keys_btk.to(dtype));
    const at::Tensor dchannels_bte = at::empty(in.channels_bte.sizes(), in.channels_bte.options());
    for_some(in, [&](const Some& some) {
        const at::Tensor dy_btc = some.output_gradient(dgated_bte, gates_bte);
        const TokenScan::Gradients d = some.scan.zero_gradients();
        for (size_t i = 0; i < stretches_.own.size(); ++i)
            some.scan.backward(some.span_of(i), dy_btc, some.state_of(output.states[i]),
                               some.state_of(dafter[i]), d);
        sums.keys_btk.add_(d.dkeys_btk);
        sums.queries_btk.add_(d.dqueries_btk);
        const at::Tensor drates_ck = from_groups(d.drates_gkl.unsqueeze(0), some.range.count).squeeze(0);
        some.of_vector(sums.decay_log_ek).copy_(drates_ck.mul(some.rates_ck));
        const at::Tensor dy = some.without_filling(dy_btc), x = some.without_filling(some.x_btc);
        some.of_vector(sums.skip_e).copy_((dy * x).sum(at::IntArrayRef{0, 1}));
        const at::Tensor dx = some.without_filling(d.dx_btc);
        some.range.of(dchannels_bte).copy_(dx.addcmul_(dy, some.of_vector(weights_.skip_h).to(dtype)));
        const at::Tensor draw = some.without_filling(d.dsteps_btc).mul_(at::sigmoid(some.raw_btc));
        some.of_vector(sums.step_bias_e).copy_(draw.sum(at::IntArrayRef{0, 1}));
        some.range.of(in.steps_bte).copy_(draw);
        const at::Tensor gates = some.range.of(gates_bte);
        const at::Tensor dshare = some.range.of(dgated_bte).to(dtype) * some.range.of(output.heads_bthv);
        gates.copy_(at::silu_backward(dshare, gates.to(dtype)));
    });
    set_gradient(gradients.step_bias_h, sums.step_bias_e, beta);
    set_gradient(gradients.decay_log_h, sums.decay_log_ek, beta);
    set_gradient(gradients.skip_h, sums.skip_e, beta);
    return {dchannels_bte, in.steps_bte, sums.keys_btk.to(in.keys_btk.scalar_type()),
            sums.queries_btk.to(in.queries_btk.scalar_type())};
}

}  // namespace ringmaster
