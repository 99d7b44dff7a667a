#include "engine/recurrence/short_convolution.h"

#include <ATen/ATen.h>

#include "engine/recurrence/delta_weights.h"
#include "engine/recurrence/gated_norm.h"

namespace ringmaster {

ShortConvolution::Parts ShortConvolution::parts_of(const at::Tensor& projected_btw) {
    const auto parts = projected_btw.chunk(3, 2);
    return {parts[0], parts[1], parts[2]};
}

/// Returns b · x for this rank's tokens and for the tokens before its stretches, followed by a row of zeros.
at::Tensor ShortConvolution::sources_of(const Parts& parts) const {
    const at::ScalarType dtype = sum_type(parts.x_btc);
    const int64_t tokens = stretches_.tokens, C = parts.x_btc.size(2);
    at::Tensor sources_bsc =
        at::zeros({parts.x_btc.size(0), stretches_.sources() + 1, C}, parts.x_btc.options().dtype(dtype));
    const at::Tensor own_btc = sources_bsc.narrow(1, 0, tokens);
    own_btc.copy_(parts.b_btc).mul_(parts.x_btc);
    if (stretches_.stretches.most_sent > 0) {
        const at::Tensor before_brc =
            tokens_before(groups_, stretches_, with_zero_row(own_btc).index_select(1, stretches_.tails_r));
        sources_bsc.narrow(1, tokens, stretches_.sources() - tokens).copy_(before_brc);
    }
    return sources_bsc;
}

at::Tensor ShortConvolution::taps_cj(const at::Tensor& like) const {
    return weight_c1j_.squeeze(1).to(like.scalar_type());
}

/// Returns the convolution's outputs, [B, T, C]; zeros for padding.
at::Tensor ShortConvolution::convolved(const at::Tensor& sources_bsc) const {
    const at::Tensor mixed_bpc = convolution_of(stretches_, sources_bsc, taps_cj(sources_bsc));
    return with_zero_row(mixed_bpc).index_select(1, stretches_.positions_t);
}

at::Tensor ShortConvolution::forward(const at::Tensor& projected_btw) const {
    const Parts parts = parts_of(projected_btw);
    return convolved(sources_of(parts)).mul_(parts.c_btc).to(projected_btw.scalar_type());
}

void ShortConvolution::backward(const at::Tensor& dy_btc, const at::Tensor& projected_btw,
                                const at::Tensor& dweight_c1j, double beta) const {
    const Parts parts = parts_of(projected_btw);
    const int64_t tokens = stretches_.tokens;
    const at::Tensor sources_bsc = sources_of(parts), taps = taps_cj(sources_bsc);
    const at::Tensor dc_btc = convolved(sources_bsc).mul_(dy_btc);
    const at::Tensor dmixed_bpc =
        with_zero_row(with_zero_row(dy_btc.to(sources_bsc.scalar_type()).mul(parts.c_btc))
                          .index_select(1, stretches_.tokens_p));
    parts.c_btc.copy_(dc_btc);
    const at::Tensor weight_cj = at::empty_like(taps);
    const at::Tensor dsources_bsc = sources_gradient(stretches_, dmixed_bpc, sources_bsc, taps, weight_cj);
    const at::Tensor dproduct_btc = dsources_bsc.narrow(1, 0, tokens);
    if (stretches_.stretches.most_received > 0) {
        const at::Tensor arrived = gradients_of_tails(
            groups_, stretches_, dsources_bsc.narrow(1, tokens, stretches_.sources() - tokens));
        if (arrived.defined()) dproduct_btc.index_add_(1, stretches_.tail_tokens_m, arrived);
    }
    const at::Tensor db_btc = dproduct_btc * parts.x_btc;
    parts.x_btc.copy_(dproduct_btc.mul_(parts.b_btc));
    parts.b_btc.copy_(db_btc);
    set_gradient(dweight_c1j, weight_cj, beta);
}

}  // namespace ringmaster
