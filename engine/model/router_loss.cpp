#include "engine/model/router_loss.h"

#include <ATen/ATen.h>

namespace ringmaster {

namespace {

at::Tensor is_token(const at::Tensor& places_n) {
    return places_n.ge(0).to(at::kDouble);
}

}  // namespace

RouterLoss::RouterLoss(const ModelConfig& model, at::Device device)
    : experts_(model.num_experts),
      coefficient_(model.router_loss_coefficient),
      sums_(at::zeros({2 * experts_ + 1}, at::TensorOptions().dtype(at::kDouble).device(device))) {}

void RouterLoss::begin() {
    sums_.zero_();
    gradient_e_.reset();
    value_ = 0;
}

void RouterLoss::count(const Routing& routing, const at::Tensor& places_n) {
    const at::Tensor tokens_n = is_token(places_n);
    const at::Tensor of_slots = tokens_n.unsqueeze(1).expand_as(routing.chosen_nk).reshape({-1});
    sums_.narrow(0, 0, experts_).scatter_add_(0, routing.chosen_nk.reshape({-1}), of_slots);
    sums_.narrow(0, experts_, experts_).add_(at::mv(routing.probabilities_ne.t().to(at::kDouble), tokens_n));
    sums_.select(0, 2 * experts_).add_(tokens_n.sum());
}

void RouterLoss::settle(double scale) {
    const double tokens = std::max(1.0, sums_.select(0, 2 * experts_).item<double>());
    const at::Tensor chosen_e = sums_.narrow(0, 0, experts_) / tokens;
    const at::Tensor probable_e = sums_.narrow(0, experts_, experts_) / tokens;
    const double weight = coefficient_ * static_cast<double>(experts_);
    value_ = weight * (chosen_e * probable_e).sum().item<double>();
    gradient_e_ = chosen_e * (scale * weight / tokens);
}

at::Tensor RouterLoss::gradient(const at::Tensor& places_n) const {
    return (is_token(places_n).unsqueeze(1) * gradient_e_).to(at::kFloat);
}

}  // namespace ringmaster
