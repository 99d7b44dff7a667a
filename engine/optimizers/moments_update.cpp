#include "engine/optimizers/moments_update.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

namespace ringmaster {

namespace {

using Form = AdamWNumbers::Form;

void move_moments(const AdamWNumbers& with, const at::Tensor& gradient, at::Tensor& m, at::Tensor& v) {
    if (with.form == Form::Torchao) {
        m.add_(gradient - m, with.rest1);
        v.add_(gradient * gradient - v, with.rest2);
        return;
    }
    m.mul_(with.beta1).add_(gradient, with.rest1);
    v.mul_(with.beta2).addcmul_(gradient, gradient, with.rest2);
}

at::Tensor moved(const AdamWNumbers& with, const at::Tensor& weight, const at::Tensor& m,
                 const at::Tensor& v) {
    if (with.form == Form::Whole)
        return (weight * with.shrink).add_(m / (v.sqrt() + with.epsilon), with.step_size);
    const at::Tensor root = v.sqrt().div_(with.root2).add_(with.epsilon);
    if (with.form == Form::Blocks) return (weight * with.shrink).addcdiv_(m, root, with.step_size);
    return (weight - with.decay * weight).sub_((m / with.correction1).mul_(with.rate).div_(root));
}

}  // namespace

void update_moments(const AdamWNumbers& with, const at::Tensor& weights, const at::Tensor& gradients,
                    at::Tensor& exp_avg, at::Tensor& exp_avg_sq) {
    if (weights.is_cpu()) {
        constexpr int64_t kAThread = 16384;
        at::parallel_for(0, weights.size(0), kAThread, [&](int64_t begin, int64_t end) {
            update_on_cpu(block_optimizer(), with, weights, gradients, begin,
                          exp_avg.data_ptr<float>() + begin, exp_avg_sq.data_ptr<float>() + begin,
                          end - begin);
        });
        return;
    }
    move_moments(with, gradients.to(at::kFloat), exp_avg, exp_avg_sq);
    weights.copy_(moved(with, weights.to(at::kFloat), exp_avg, exp_avg_sq));
}

void update_on_cpu(const BlockOptimizer& kernels, const AdamWNumbers& with, const at::Tensor& weights,
                   const at::Tensor& gradients, int64_t begin, float* exp_avg, float* exp_avg_sq,
                   int64_t count) {
    if (weights.scalar_type() == at::kFloat) {
        kernels.adamw_float(with, weights.data_ptr<float>() + begin,
                            gradients.const_data_ptr<float>() + begin, exp_avg, exp_avg_sq, count);
        return;
    }
    kernels.adamw_bf16(with, static_cast<Bf16*>(weights.data_ptr()) + begin,
                       static_cast<const Bf16*>(gradients.const_data_ptr()) + begin, exp_avg, exp_avg_sq,
                       count);
}

}  // namespace ringmaster
