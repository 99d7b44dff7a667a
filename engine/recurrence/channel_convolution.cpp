#include "engine/recurrence/channel_convolution.h"

#include <ATen/ATen.h>

#include "engine/recurrence/gated_norm.h"

namespace ringmaster {

/// Holds the inputs of some channels, and the convolution's outputs before silu.
struct ChannelConvolution::Some {
    ChannelRange range;
    at::Tensor sources_bsc;  ///< inputs of tokens and of the tokens before stretches, then a row of zeros
    at::Tensor taps_cj;
    at::Tensor mixed_bpc;  ///< convolution's outputs, indexed by positions in chunks

    Some(const ChannelConvolution& layer, const at::Tensor& x_bte, const at::Tensor& before_bre,
         const ChannelRange& some)
        : range(some) {
        const OwnStretches& at = layer.stretches_;
        const auto options = x_bte.options().dtype(sum_type(x_bte));
        sources_bsc = at::zeros({x_bte.size(0), at.sources() + 1, range.count}, options);
        sources_bsc.narrow(1, 0, at.tokens).copy_(range.of(x_bte));
        if (at.received > 0)
            sources_bsc.narrow(1, at.tokens, at.sources() - at.tokens).copy_(range.of(before_bre));
        taps_cj = layer.weights_.convolution_c1j.squeeze(1)
                      .narrow(0, range.first, range.count)
                      .to(sources_bsc.scalar_type());
        mixed_bpc = convolution_of(at, sources_bsc, taps_cj);
        if (const at::Tensor& bias_c = layer.weights_.convolution_bias_c; bias_c.defined())
            mixed_bpc.add_(bias_c.narrow(0, range.first, range.count));
    }

    /// Returns the gradient of the sources, given that of the outputs; writes those of the weights to `sums`.
    at::Tensor backward(const ChannelConvolution& layer, const at::Tensor& dy_btc, const DeltaWeights& sums) {
        const OwnStretches& at = layer.stretches_;
        const at::Tensor dactive_bpc =
            with_zero_row(dy_btc.to(mixed_bpc.scalar_type())).index_select(1, at.tokens_p);
        const at::Tensor dmixed_bpc = with_zero_row(at::silu_backward(dactive_bpc, mixed_bpc));
        const auto of_these = [&](const at::Tensor& x_c) { return x_c.narrow(0, range.first, range.count); };
        if (sums.convolution_bias_c.defined())
            of_these(sums.convolution_bias_c).copy_(dmixed_bpc.sum(at::IntArrayRef{0, 1}));
        return sources_gradient(at, dmixed_bpc, sources_bsc, taps_cj,
                                of_these(sums.convolution_c1j.squeeze(1)));
    }
};

/// Returns the J − 1 inputs before each of this rank's stretches that continues a document, received from
/// other ranks: [B, received · (J − 1), E].
at::Tensor ChannelConvolution::before(const at::Tensor& x_bte) const {
    if (stretches_.stretches.most_sent == 0) return {};
    const at::Tensor& tails_r = stretches_.tails_r;
    const int64_t tokens = stretches_.tokens;
    const at::Tensor tails_bre =
        tokens == 0
            ? at::zeros({x_bte.size(0), tails_r.size(0), x_bte.size(2)}, x_bte.options())
            : x_bte.index_select(1, tails_r.clamp_max(tokens - 1)).mul_(tails_r.lt(tokens).unsqueeze(1));
    return tokens_before(groups_, stretches_, tails_bre);
}

template <class Body>
void ChannelConvolution::for_some(const at::Tensor& x_bte, const at::Tensor& before_bre,
                                  const Body& body) const {
    for_channel_ranges(x_bte.size(0) * stretches_.positions(), 1, x_bte.size(2), 1,
                       [&](const ChannelRange& range) { body(Some(*this, x_bte, before_bre, range)); });
}

at::Tensor ChannelConvolution::forward(const at::Tensor& x_bte) const {
    const at::Tensor y_bte = at::empty(x_bte.sizes(), x_bte.options());
    for_some(x_bte, before(x_bte), [&](const Some& some) {
        some.range.of(y_bte).copy_(
            with_zero_row(at::silu(some.mixed_bpc)).index_select(1, stretches_.positions_t));
    });
    return y_bte;
}

void ChannelConvolution::backward(const at::Tensor& dy_bte, const at::Tensor& x_bte,
                                  const DeltaWeights& gradients, double beta) const {
    const auto options = x_bte.options().dtype(sum_type(x_bte));
    const int64_t tokens = stretches_.tokens, reach = stretches_.sources() - tokens;
    DeltaWeights sums;
    sums.convolution_c1j = at::zeros(weights_.convolution_c1j.sizes(), options);
    if (weights_.convolution_bias_c.defined())
        sums.convolution_bias_c = at::zeros(weights_.convolution_bias_c.sizes(), options);
    const at::Tensor dbefore_bre = at::zeros({x_bte.size(0), reach, x_bte.size(2)}, options);
    for_some(x_bte, before(x_bte), [&](Some some) {
        const at::Tensor dsources_bsc = some.backward(*this, some.range.of(dy_bte), sums);
        some.range.of(x_bte).copy_(dsources_bsc.narrow(1, 0, tokens));
        some.range.of(dbefore_bre).copy_(dsources_bsc.narrow(1, tokens, reach));
    });
    if (stretches_.stretches.most_received > 0) {
        const at::Tensor arrived = gradients_of_tails(groups_, stretches_, dbefore_bre);
        if (arrived.defined()) x_bte.index_add_(1, stretches_.tail_tokens_m, arrived.to(x_bte.scalar_type()));
    }
    set_gradient(gradients.convolution_c1j, sums.convolution_c1j, beta);
    if (sums.convolution_bias_c.defined())
        set_gradient(gradients.convolution_bias_c, sums.convolution_bias_c, beta);
}

}  // namespace ringmaster
