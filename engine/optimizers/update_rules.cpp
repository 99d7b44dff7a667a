#include "engine/optimizers/update_rules.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "engine/config/optimizer_arguments.h"
#include "engine/optimizers/scalar_number.h"
#include "engine/optimizers/schedule_free.h"

namespace ringmaster {

namespace {

/// Implements AdamW of transformers 4, optimization.py: epsilon is added before the bias is corrected, and
/// the weights decay after the update.
class AdamWHf : public ElementRule {
  public:
    explicit AdamWHf(const Config& config)
        : beta1_(config.adam_beta1), beta2_(config.adam_beta2), epsilon_(config.adam_epsilon) {}

    void move(const RuleStep& at, at::Tensor& weights, const at::Tensor& gradients,
              std::vector<at::Tensor>& states) const override {
        states[0].mul_(number(beta1_)).add_(gradients, 1 - beta1_);
        states[1].mul_(number(beta2_)).addcmul_(gradients, gradients, 1 - beta2_);
        weights.addcdiv_(states[0], states[1].sqrt().add_(epsilon_), -step_size(at));
        if (at.decay > 0) weights.add_(weights, -at.rate * at.decay);
    }

    std::optional<double> change(const RuleStep& at, double weight, double gradient,
                                 const std::vector<double>& states) const override {
        const double m = beta1_ * states[0] + (1 - beta1_) * gradient;
        const double v = beta2_ * states[1] + (1 - beta2_) * gradient * gradient;
        const double moved = -step_size(at) * m / (std::sqrt(v) + epsilon_);
        return moved - at.rate * at.decay * (weight + moved);
    }

  private:
    double step_size(const RuleStep& at) const {
        const auto steps = static_cast<double>(at.step);
        return at.rate * std::sqrt(1 - std::pow(beta2_, steps)) / (1 - std::pow(beta1_, steps));
    }

    double beta1_, beta2_, epsilon_;
};

/// Implements torch.optim.SGD.
class Sgd : public ElementRule {
  public:
    explicit Sgd(const Config& config)
        : momentum_(optimizer_argument(config, "momentum")),
          dampening_(optimizer_argument(config, "dampening")),
          nesterov_(optimizer_argument(config, "nesterov") > 0) {}

    void move(const RuleStep& at, at::Tensor& weights, const at::Tensor& gradients,
              std::vector<at::Tensor>& states) const override {
        at::Tensor gradient = at.decay != 0 ? gradients.add(weights, at.decay) : gradients;
        if (!states.empty()) {
            at::Tensor& buffer = states[0];
            if (at.step == 1) {
                buffer.copy_(gradient);
            } else {
                buffer.mul_(number(momentum_)).add_(gradient, 1 - dampening_);
            }
            gradient = nesterov_ ? gradient.add(buffer, momentum_) : buffer;
        }
        weights.add_(gradient, -at.rate);
    }

    std::optional<double> change(const RuleStep& at, double weight, double gradient,
                                 const std::vector<double>& states) const override {
        double along = gradient + at.decay * weight;
        if (!states.empty()) {
            const double buffer = at.step == 1 ? along : momentum_ * states[0] + (1 - dampening_) * along;
            along = nesterov_ ? along + momentum_ * buffer : buffer;
        }
        return -at.rate * along;
    }

  private:
    double momentum_, dampening_;
    bool nesterov_;
};

/// Implements torch.optim.RMSprop.
class RmsProp : public ElementRule {
  public:
    explicit RmsProp(const Config& config)
        : alpha_(optimizer_argument(config, "alpha")),
          eps_(optimizer_argument(config, "eps")),
          momentum_(optimizer_argument(config, "momentum")),
          centered_(optimizer_argument(config, "centered") > 0) {}

    void move(const RuleStep& at, at::Tensor& weights, const at::Tensor& gradients,
              std::vector<at::Tensor>& states) const override {
        const at::Tensor gradient = at.decay != 0 ? gradients.add(weights, at.decay) : gradients;
        states[0].mul_(number(alpha_)).addcmul_(gradient, gradient, 1 - alpha_);
        at::Tensor average = states[0];
        if (centered_) {
            at::Tensor& mean = states.back();
            mean.lerp_(gradient, 1 - alpha_);
            average = average.addcmul(mean, mean, -1).sqrt_();
        } else {
            average = average.sqrt();
        }
        average.add_(eps_);
        if (momentum_ > 0) {
            states[1].mul_(number(momentum_)).addcdiv_(gradient, average);
            weights.add_(states[1], -at.rate);
        } else {
            weights.addcdiv_(gradient, average, -at.rate);
        }
    }

    std::optional<double> change(const RuleStep& at, double weight, double gradient,
                                 const std::vector<double>& states) const override {
        const double along = gradient + at.decay * weight;
        double average = alpha_ * states[0] + (1 - alpha_) * along * along;
        if (centered_) {
            const double mean = states.back() + (1 - alpha_) * (along - states.back()), whole = average;
            average -= mean * mean;
            if (average < 1e-4 * whole) return std::nullopt;  // the difference is only rounding error
        }
        const double move = along / (std::sqrt(average) + eps_);
        return -at.rate * (momentum_ > 0 ? momentum_ * states[1] + move : move);
    }

  private:
    double alpha_, eps_, momentum_;
    bool centered_;
};

/// Implements RMSprop of bitsandbytes, backends/cpu/ops.py, which adds the decay to the gradient.
class BlockRmsProp : public ElementRule {
  public:
    void move(const RuleStep& at, at::Tensor& weights, const at::Tensor& gradients,
              std::vector<at::Tensor>& states) const override {
        const at::Tensor gradient = at.decay > 0 ? gradients.add(weights, at.decay) : gradients;
        states[0].mul_(number(kAlpha)).addcmul_(gradient, gradient, 1 - kAlpha);
        const at::Tensor root = states[0].sqrt().add_(kEpsilon);
        if (at.in_codes) {
            weights.addcdiv_(gradient, root, -at.rate);
        } else {
            weights.add_(gradient / root, -at.rate);
        }
    }

    std::optional<double> change(const RuleStep& at, double weight, double gradient,
                                 const std::vector<double>& states) const override {
        const double along = gradient + at.decay * weight;
        return -at.rate * along / (std::sqrt(kAlpha * states[0] + (1 - kAlpha) * along * along) + kEpsilon);
    }

  private:
    static constexpr double kAlpha = 0.99, kEpsilon = 1e-8;
};

/// Implements Lion. Sources: Chen et al. 2023, "Symbolic Discovery of Optimization Algorithms"; bitsandbytes,
/// backends/cpu/ops.py.
class Lion : public ElementRule {
  public:
    explicit Lion(const Config& config) : beta1_(config.adam_beta1), beta2_(config.adam_beta2) {}

    void move(const RuleStep& at, at::Tensor& weights, const at::Tensor& gradients,
              std::vector<at::Tensor>& states) const override {
        if (at.decay > 0) weights.mul_(number(1 - at.rate * at.decay));
        const at::Tensor along = at.in_codes ? states[0].mul(beta1_).add_(gradients.mul(1 - beta1_))
                                             : states[0].mul(beta1_).add_(gradients, 1 - beta1_);
        weights.add_(along.sign(), -at.rate);
        states[0].mul_(number(beta2_)).add_(gradients, 1 - beta2_);
    }

    std::optional<double> change(const RuleStep& at, double weight, double gradient,
                                 const std::vector<double>& states) const override {
        const double kept = beta1_ * states[0], fresh = (1 - beta1_) * gradient, along = kept + fresh;
        if (along != 0 && std::abs(along) < 1e-5 * (std::abs(kept) + std::abs(fresh))) return std::nullopt;
        const double sign = along > 0 ? 1 : along < 0 ? -1 : 0;
        return -at.rate * (at.decay * weight + sign);
    }

  private:
    double beta1_, beta2_;
};

/// Implements AdEMAMix (Pagliardini et al. 2024, "The AdEMAMix Optimizer"; bitsandbytes, optim/ademamix.py).
class AdEMAMix : public ElementRule {
  public:
    explicit AdEMAMix(const Config& config)
        : beta1_(config.adam_beta1),
          beta2_(config.adam_beta2),
          beta3_(optimizer_argument(config, "beta3")),
          alpha_(optimizer_argument(config, "alpha")),
          eps_(config.adam_epsilon),
          t_alpha_(optimizer_argument(config, "t_alpha")),
          t_beta3_(optimizer_argument(config, "t_beta3")) {}

    void move(const RuleStep& at, at::Tensor& weights, const at::Tensor& gradients,
              std::vector<at::Tensor>& states) const override {
        const Now now = at_step(at.step);
        states[0].mul_(number(beta1_)).add_(gradients, 1 - beta1_);
        states[1].mul_(number(now.beta3)).add_(gradients, 1 - now.beta3);
        states[2].mul_(number(beta2_)).addcmul_(gradients, gradients, 1 - beta2_);
        const at::Tensor change = (states[0] / now.correction1)
                                      .add_(states[1] * now.alpha)
                                      .div_((states[2].sqrt() / now.root2).add_(eps_));
        if (at.decay > 0) weights.mul_(number(1 - at.rate * at.decay));
        weights.add_(change, -at.rate);
    }

    std::optional<double> change(const RuleStep& at, double weight, double gradient,
                                 const std::vector<double>& states) const override {
        const Now now = at_step(at.step);
        const double fast = beta1_ * states[0] + (1 - beta1_) * gradient;
        const double slow = now.beta3 * states[1] + (1 - now.beta3) * gradient;
        const double square = beta2_ * states[2] + (1 - beta2_) * gradient * gradient;
        const double mixed = fast / now.correction1 + now.alpha * slow;
        const double parts = std::abs(fast / now.correction1) + std::abs(now.alpha * slow);
        if (std::abs(mixed) < 1e-3 * parts) return std::nullopt;
        return -at.rate * (at.decay * weight + mixed / (std::sqrt(square) / now.root2 + eps_));
    }

  private:
    struct Now {
        double alpha, beta3, correction1, root2;
    };
    /// Returns alpha and beta3, which rise to their values over t_alpha and t_beta3 steps.
    Now at_step(int64_t step) const {
        const auto t = static_cast<double>(step);
        Now now{alpha_, beta3_, 1 - std::pow(beta1_, t), std::sqrt(1 - std::pow(beta2_, t))};
        if (t_alpha_ > 0) now.alpha = std::min(t * alpha_ / t_alpha_, alpha_);
        if (t_beta3_ > 0) {
            const double ln1 = std::log(beta1_), ln3 = std::log(beta3_), done = t / t_beta3_;
            now.beta3 = std::min(std::exp(ln1 * ln3 / ((1 - done) * ln3 + done * ln1)), beta3_);
        }
        return now;
    }

    double beta1_, beta2_, beta3_, alpha_, eps_, t_alpha_, t_beta3_;
};

}  // namespace

std::unique_ptr<ElementRule> make_rule(const Config& config, const OptimizerKind& kind,
                                       int64_t warmup_steps) {
    switch (kind.rule) {
        case UpdateRule::AdamWHf:
            return std::make_unique<AdamWHf>(config);
        case UpdateRule::Sgd:
            return std::make_unique<Sgd>(config);
        case UpdateRule::RmsProp:
            if (kind.states != StateKind::AsWeights) return std::make_unique<BlockRmsProp>();
            return std::make_unique<RmsProp>(config);
        case UpdateRule::Lion:
            return std::make_unique<Lion>(config);
        case UpdateRule::AdEMAMix:
            return std::make_unique<AdEMAMix>(config);
        case UpdateRule::ScheduleFree:
            return make_schedule_free(config, warmup_steps);
        default:
            break;
    }
    TORCH_CHECK(false, kind.name, " is no rule of single elements");
}

}  // namespace ringmaster
