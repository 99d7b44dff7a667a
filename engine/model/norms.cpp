#include "engine/model/norms.h"

#include "engine/model/layer_norm.h"
#include "engine/model/ops.h"

namespace ringmaster {

namespace {

double offset_of(const ModelConfig& model) {
    return model.norm_adds_one ? 1 : 0;
}

}  // namespace

at::Tensor norm_of(const ModelConfig& model, const at::Tensor& x_nw, const at::Tensor& parameters_w,
                   at::Tensor& stats, double eps) {
    const auto norm = model.layer_norms ? layer_norm : rms_norm;
    return norm(x_nw, parameters_w, eps, stats, offset_of(model));
}

at::Tensor norm_again_of(const ModelConfig& model, const at::Tensor& x_nw, const at::Tensor& parameters_w,
                         const at::Tensor& stats, double eps) {
    if (!model.layer_norms) return rms_norm_again(x_nw, parameters_w, stats, offset_of(model));
    return layer_norm_again(x_nw, parameters_w, eps, stats, offset_of(model));
}

void norm_backward_of(const ModelConfig& model, const at::Tensor& dy_nw, const at::Tensor& x_nw,
                      const at::Tensor& parameters_w, const at::Tensor& stats, const at::Tensor& dx_nw,
                      bool accumulate, const at::Tensor& gradient_w, double beta) {
    const auto backward = model.layer_norms ? layer_norm_backward : rms_norm_backward;
    backward(dy_nw, x_nw, parameters_w, stats, dx_nw, accumulate, gradient_w, beta, offset_of(model));
}

}  // namespace ringmaster
