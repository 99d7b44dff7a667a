#include "engine/model/layer_inputs.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "engine/model/norms.h"
#include "engine/model/ops.h"
#include "engine/piece_sizes.h"

namespace ringmaster {

namespace {

constexpr double kHalf = 0.70710678118654752440;  // √½

/// Calls `body` with the first token and the number of tokens of each part that is computed at once. There
/// are at most 16 parts, because a bfloat16 gradient sums them.
template <class Body>
void for_tokens(int64_t tokens, const Body& body) {
    constexpr int64_t kLeast = pieces::kLeastEmbedded, kMostParts = pieces::kMostEmbedded;
    const int64_t at_once = std::max(kLeast, (tokens + kMostParts - 1) / kMostParts);
    for (int64_t begin = 0; begin < tokens; begin += at_once) body(begin, std::min(at_once, tokens - begin));
}

}  // namespace

/// Returns the factor of the table's rows, rounded as in Gemma's class.
double LayerInputs::table_multiplier(const at::Tensor& rows) const {
    return rounded_to(rows.scalar_type(), std::sqrt(double(model_.layer_input_width)));
}

/// Returns the projection before its norm, a row for each token and layer: [N·layers, P].
at::Tensor LayerInputs::projected(const at::Tensor& x_nc) const {
    return scale_in_place(product(x_nc, parameters_.weights().layer_projection_wc.t()),
                          1 / std::sqrt(double(model_.hidden_size)))
        .view({-1, model_.layer_input_width});
}

void LayerInputs::begin(const at::Tensor& ids_n, const at::Tensor& x_nc, bool learns) {
    const ModelTensors& weights = parameters_.weights();
    learns_ = learns;
    gradients_nw_.reset();
    if (learns_) ids_n_ = ids_n;
    if (learns_) x_nc_ = x_nc;
    inputs_nw_ = at::empty({x_nc.size(0), model_.layer_inputs_width}, x_nc.options());
    for_tokens(x_nc.size(0), [&](int64_t begin, int64_t count) {
        at::Tensor stats;
        const at::Tensor normed = norm_of(model_, projected(x_nc.narrow(0, begin, count)),
                                          weights.layer_projection_norm_p, stats, model_.rms_norm_eps);
        at::Tensor rows = weights.layer_inputs_vw.index_select(0, ids_n.narrow(0, begin, count));
        scale_in_place(scale_in_place(rows, table_multiplier(rows)).add_(normed.view_as(rows)), kHalf);
        inputs_nw_.narrow(0, begin, count).copy_(rows);
    });
}

void LayerInputs::put_gradient(int layer, const at::Tensor& gradient_np) {
    if (!learns_) return;
    if (!gradients_nw_.defined()) gradients_nw_ = at::empty_like(inputs_nw_);
    columns_of(gradients_nw_, layer).copy_(gradient_np);
}

void LayerInputs::backward(const at::Tensor& dx_nc, double beta) {
    inputs_nw_.reset();
    scale_in_place(gradients_nw_, kHalf);
    projection_backward(dx_nc, beta);
    table_backward(beta);
    clear();
}

void LayerInputs::projection_backward(const at::Tensor& dx_nc, double beta) const {
    const ModelTensors &weights = parameters_.weights(), &gradients = parameters_.weight_gradients();
    for_tokens(dx_nc.size(0), [&](int64_t begin, int64_t count) {
        const at::Tensor x = x_nc_.narrow(0, begin, count), raw = projected(x), draw = at::empty_like(raw);
        at::Tensor stats;
        norm_of(model_, raw, weights.layer_projection_norm_p, stats, model_.rms_norm_eps);
        norm_backward_of(model_, gradients_nw_.narrow(0, begin, count).view_as(raw), raw,
                         weights.layer_projection_norm_p, stats, draw, false,
                         gradients.layer_projection_norm_p, beta);
        const at::Tensor dprojected = scale_in_place(draw, 1 / std::sqrt(double(model_.hidden_size)))
                                          .view({count, model_.layer_inputs_width});
        accumulate_weight_gradient(gradients.layer_projection_wc, dprojected, x, beta);
        add_product(dx_nc.narrow(0, begin, count), dprojected, weights.layer_projection_wc);
        beta = 1;
    });
}

/// Adds the table's gradient. Padding adds nothing to its row of the table, as in torch.nn.Embedding.
void LayerInputs::table_backward(double beta) const {
    const at::Tensor& dtable_vw = parameters_.weight_gradients().layer_inputs_vw;
    if (!dtable_vw.defined()) return;
    if (beta == 0) at::Tensor(dtable_vw).zero_();
    if (model_.padding_token)
        at::Tensor(gradients_nw_).masked_fill_(ids_n_.eq(*model_.padding_token).unsqueeze(1), 0);
    scale_in_place(gradients_nw_, table_multiplier(gradients_nw_));
    accumulate_embedding_gradient(dtable_vw, ids_n_, gradients_nw_);
}

void LayerInputs::clear() {
    for (at::Tensor* held : {&ids_n_, &x_nc_, &inputs_nw_, &gradients_nw_}) held->reset();
}

}  // namespace ringmaster
