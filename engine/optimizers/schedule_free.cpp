#include "engine/optimizers/schedule_free.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "engine/config/optimizer_arguments.h"
#include "engine/optimizers/scalar_number.h"

namespace ringmaster {

namespace {

class ScheduleFree : public ElementRule {
  public:
    ScheduleFree(const Config& config, int64_t warmup_steps)
        : beta1_(config.adam_beta1),
          beta2_(config.adam_beta2),
          eps_(config.adam_epsilon),
          r_(optimizer_argument(config, "r")),
          power_(optimizer_argument(config, "weight_lr_power")),
          warmup_(static_cast<double>(warmup_steps)) {}

    void begin(int64_t step, double rate) override {
        const auto t = static_cast<double>(step);
        warm_ = t - 1 < warmup_ ? t / warmup_ : 1;
        correction2_ = 1 - std::pow(beta2_, t);
        most_rate_ = std::max(rate * warm_, most_rate_);
        const double weight = std::pow(t, r_) * std::pow(most_rate_, power_);
        weights_ += weight;
        share_ = weights_ == 0 ? 0 : weight / weights_;
    }

    void move(const RuleStep& at, at::Tensor& weights, const at::Tensor& gradients,
              std::vector<at::Tensor>& states) const override {
        at::Tensor &square = states[0], &z = states[1];
        if (at.step == 1) z.copy_(weights);
        const double rate = at.rate * warm_;
        square.mul_(number(beta2_)).addcmul_(gradients, gradients, 1 - beta2_);
        at::Tensor along = gradients / square.div(correction2_).sqrt_().add_(eps_);
        if (at.decay != 0) along.add_(weights, at.decay);
        weights.lerp_(z, share_);
        weights.add_(along, rate * (beta1_ * (1 - share_) - 1));
        z.sub_(along, rate);
    }

    std::optional<double> change(const RuleStep& at, double weight, double gradient,
                                 const std::vector<double>& states) const override {
        const double square = beta2_ * states[0] + (1 - beta2_) * gradient * gradient;
        const double z = at.step == 1 ? weight : states[1], rate = at.rate * warm_;
        const double along = gradient / (std::sqrt(square / correction2_) + eps_) + at.decay * weight;
        return share_ * (z - weight) + rate * (beta1_ * (1 - share_) - 1) * along;
    }

    std::vector<double> numbers() const override { return {most_rate_, weights_}; }
    void take_numbers(const std::vector<double>& numbers) override {
        most_rate_ = numbers[0];
        weights_ = numbers[1];
    }

    bool averages() const override { return true; }
    void average(bool averaged, at::Tensor& weights, const std::vector<at::Tensor>& states) const override {
        weights.lerp_(states[1], averaged ? 1 - 1 / beta1_ : 1 - beta1_);
    }

  private:
    double beta1_, beta2_, eps_, r_, power_, warmup_;
    double most_rate_ = -1, weights_ = 0;            // largest rate and sum of weights over the run so far
    double warm_ = 1, correction2_ = 1, share_ = 0;  // numbers for the current step
};

}  // namespace

std::unique_ptr<ElementRule> make_schedule_free(const Config& config, int64_t warmup_steps) {
    return std::make_unique<ScheduleFree>(config, warmup_steps);
}

}  // namespace ringmaster
