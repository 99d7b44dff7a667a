// Implements Adafactor, CAME and Muon. Sums over a matrix are taken by rows and then added in float64, so
// that they do not depend on the number of threads.
#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>

#include "engine/config/optimizer_arguments.h"
#include "engine/optimizers/matrix_optimizer.h"
#include "engine/optimizers/scalar_number.h"

namespace ringmaster {

namespace {

/// Returns the root mean square.
double rms_of(const at::Tensor& values) {
    const at::Tensor rows = values.dim() > 1 ? values : values.unsqueeze(0);
    const at::Tensor norms = at::linalg_vector_norm(rows, 2, 1).to(at::kCPU, at::kDouble);
    double sum = 0;
    for (int64_t i = 0; i < norms.size(0); ++i)
        sum += norms.data_ptr<double>()[i] * norms.data_ptr<double>()[i];
    return std::sqrt(sum / static_cast<double>(values.numel()));
}

/// Returns the elements' inverse square roots of the matrix that these row and column means stand for
/// (Shazeer & Stern 2018, "Adafactor", section 3).
at::Tensor inverse_root(const at::Tensor& rows, const at::Tensor& columns) {
    const at::Tensor of_rows = (rows / rows.mean(-1, true)).rsqrt_().unsqueeze(-1);
    return at::mul(of_rows, columns.unsqueeze(-2).rsqrt());
}

void move_means(at::Tensor& rows, at::Tensor& columns, const at::Tensor& squares, double beta) {
    rows.mul_(number(beta)).add_(squares.mean(-1), 1 - beta);
    columns.mul_(number(beta)).add_(squares.mean(-2), 1 - beta);
}

double element_of(const at::Tensor& values, int64_t at) {
    return values.data_ptr<double>()[at];
}

double mean_of(const at::Tensor& values) {
    return values.mean().item<double>();
}

/// Implements Adafactor of transformers 5.23, optimization.py, with the Trainer's settings: without relative
/// steps, without a first moment, and without scaling by the weights.
class Adafactor : public MatrixRule {
  public:
    at::Tensor moved(const MatrixStep& at, const at::Tensor& weights, const at::Tensor& gradients,
                     MatrixStates& states) const override {
        const at::Tensor gradient = gradients.to(at::kFloat);
        at::Tensor weight = weights.to(at::kFloat, false, true);
        const double beta = 1 - std::pow(static_cast<double>(at.step), -0.8);
        const at::Tensor squares = gradient.square().add_(1e-30);
        at::Tensor update;
        if (states.vectors.size() == 2) {
            move_means(states.vectors[0], states.vectors[1], squares, beta);
            update = inverse_root(states.vectors[0], states.vectors[1]).mul_(gradient);
        } else {
            states.vectors[0].mul_(number(beta)).add_(squares, 1 - beta);
            update = states.vectors[0].rsqrt().mul_(gradient);
        }
        states.divisor = std::max(1.0, rms_of(update));
        update.div_(states.divisor).mul_(number(at.rate));
        if (at.decay != 0) weight.add_(weight, -at.decay * at.rate);
        return weight.sub_(update).to(weights.scalar_type());
    }

    std::optional<double> change(const MatrixStep& at, const Optimizer::Element& element, int64_t columns,
                                 const std::vector<at::Tensor>& vectors, double,
                                 double divisor) const override {
        const double square = vectors.size() == 1
                                  ? element_of(vectors[0], element.at)
                                  : element_of(vectors[0], element.at / columns) / mean_of(vectors[0]) *
                                        element_of(vectors[1], element.at % columns);
        return -at.rate * (at.decay * element.weight + element.gradient / std::sqrt(square) / divisor);
    }
};

/// Implements CAME. Sources: Luo et al. 2023, "CAME: Confidence-guided Adaptive Memory Efficient
/// Optimization"; came_pytorch 0.1.3.
class Came : public MatrixRule {
  public:
    explicit Came(const Config& config)
        : beta1_(config.adam_beta1),
          beta2_(config.adam_beta2),
          beta3_(optimizer_argument(config, "beta3")),
          eps1_(config.adam_epsilon),
          eps2_(optimizer_argument(config, "eps2")),
          threshold_(optimizer_argument(config, "clip_threshold")) {}

    at::Tensor moved(const MatrixStep& at, const at::Tensor& weights, const at::Tensor& gradients,
                     MatrixStates& states) const override {
        const at::Tensor gradient = gradients.to(at::kFloat);
        std::vector<at::Tensor>& kept = states.vectors;
        const bool is_matrix = kept.size() == 4;
        const at::Tensor squares = gradient.square().add_(eps1_);
        at::Tensor update;
        if (is_matrix) {
            move_means(kept[0], kept[1], squares, beta2_);
            update = inverse_root(kept[0], kept[1]).mul_(gradient);
        } else {
            kept[0].mul_(number(beta2_)).add_(squares, 1 - beta2_);
            update = kept[0].rsqrt().mul_(gradient);
        }
        update.div_(std::max(1.0, rms_of(update) / threshold_));
        at::Tensor& momentum = states.momentum;
        momentum.mul_(number(beta1_)).add_(update, 1 - beta1_);
        if (is_matrix) {
            move_means(kept[2], kept[3], (update - momentum).square_().add_(eps2_), beta3_);
            update = inverse_root(kept[2], kept[3]).mul_(momentum);
        } else {
            update = momentum.clone();
        }
        at::Tensor weight = weights.clone();  // as in the library, weights are updated in their dtype
        if (at.decay != 0) weight.add_(weight, -at.decay * at.rate);
        return weight.add_(update.mul_(number(at.rate)).neg_());
    }

    std::optional<double> change(const MatrixStep& at, const Optimizer::Element& element, int64_t columns,
                                 const std::vector<at::Tensor>& vectors, double momentum,
                                 double) const override {
        double update = momentum;
        if (vectors.size() == 4)
            update /= std::sqrt(element_of(vectors[2], element.at / columns) / mean_of(vectors[2]) *
                                element_of(vectors[3], element.at % columns));
        return -at.rate * (at.decay * element.weight + update);
    }

  private:
    double beta1_, beta2_, beta3_, eps1_, eps2_, threshold_;
};

/// Implements Muon. Sources: Jordan et al. 2024, "Muon: An optimizer for hidden layers in neural networks";
/// Liu et al. 2025, "Muon is Scalable for LLM Training"; axolotl-contribs-mit 0.0.6, muon/muon.py.
class Muon : public MatrixRule {
  public:
    explicit Muon(const Config& config)
        : beta1_(config.adam_beta1),
          beta2_(config.adam_beta2),
          eps_(config.adam_epsilon),
          momentum_(optimizer_argument(config, "momentum")),
          nesterov_(optimizer_argument(config, "nesterov") > 0),
          iterations_(static_cast<int>(optimizer_argument(config, "ns_steps"))) {}

    at::Tensor moved(const MatrixStep& at, const at::Tensor& weights, const at::Tensor& gradients,
                     MatrixStates& states) const override {
        if (states.second.defined()) return adamw(at, weights, gradients, states);
        at::Tensor& buffer = states.momentum;
        buffer.mul_(number(momentum_)).add_(gradients);
        const at::Tensor along = nesterov_ ? gradients.add(buffer, momentum_) : buffer;
        const auto most = static_cast<double>(std::max(weights.size(0), weights.size(1)));
        at::Tensor weight = weights.mul(1 - at.rate * at.decay);
        return weight.add_(orthogonal(along), -at.rate * 0.2 * std::sqrt(most));
    }

    std::optional<double> change(const MatrixStep& at, const Optimizer::Element& element, int64_t,
                                 const std::vector<at::Tensor>&, double, double divisor) const override {
        // The parameter is a matrix, whose elements depend on each other.
        if (divisor == 0) return std::nullopt;
        const double m = beta1_ * element.states[0] + (1 - beta1_) * element.gradient;
        const double v = beta2_ * element.states[1] + (1 - beta2_) * element.gradient * element.gradient;
        return -at.rate * (at.decay * element.weight + m / (eps_ + std::sqrt(v)) / scale_at(at.step));
    }

  private:
    double scale_at(int64_t step) const {
        const auto t = static_cast<double>(step);
        return (1 - std::pow(beta1_, t)) / std::sqrt(1 - std::pow(beta2_, t));
    }

    /// Updates embedding and head with the library's AdamW, which adds epsilon before the bias correction.
    at::Tensor adamw(const MatrixStep& at, const at::Tensor& weights, const at::Tensor& gradients,
                     MatrixStates& states) const {
        states.momentum.lerp_(gradients, 1 - beta1_);
        states.second.lerp_(gradients.square(), 1 - beta2_);
        const at::Tensor change = states.momentum / (states.second.sqrt().add_(eps_));
        return weights.mul(1 - at.rate * at.decay).add_(change, -at.rate / scale_at(at.step));
    }

    /// Brings all singular values close to 1 by a quintic iteration (Newton-Schulz).
    at::Tensor orthogonal(const at::Tensor& matrix) const {
        constexpr double a = 3.4445, b = -4.7750, c = 2.0315;
        const bool is_tall = matrix.size(0) > matrix.size(1);
        at::Tensor x = matrix.to(at::kBFloat16);
        if (is_tall) x = x.t();
        const double norm = rms_of(x.to(at::kFloat)) * std::sqrt(static_cast<double>(x.numel()));
        x = x / (at::scalar_tensor(norm, x.options()) + 1e-7);
        for (int i = 0; i < iterations_; ++i) {
            const at::Tensor gram = at::matmul(x, x.t());
            x = a * x + at::matmul(b * gram + at::matmul(c * gram, gram), x);
        }
        return is_tall ? x.t() : x;
    }

    double beta1_, beta2_, eps_, momentum_;
    bool nesterov_;
    int iterations_;
};

}  // namespace

std::unique_ptr<MatrixRule> make_adafactor() {
    return std::make_unique<Adafactor>();
}

std::unique_ptr<MatrixRule> make_came(const Config& config) {
    return std::make_unique<Came>(config);
}

std::unique_ptr<MatrixRule> make_muon(const Config& config) {
    return std::make_unique<Muon>(config);
}

}  // namespace ringmaster
