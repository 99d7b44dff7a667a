#include "engine/optimizers/stored_adamw.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <cmath>

#include "engine/config/offloading.h"
#include "engine/optimizers/moments_update.h"

namespace ringmaster {

namespace {

bool is_torchaos(StateKind kind) {
    return kind == StateKind::TorchaoBlocks8 || kind == StateKind::TorchaoBlocks4;
}

/// Asks the processor to load elements into its cache.
void prefetch(const at::Tensor& flat, int64_t begin, int64_t count) {
    constexpr int64_t kLine = 64;
    const auto size = static_cast<int64_t>(flat.element_size());
    const auto* bytes = static_cast<const char*>(flat.const_data_ptr()) + begin * size;
    for (int64_t at = 0; at < count * size; at += kLine) __builtin_prefetch(bytes + at);
}

}  // namespace

StoredAdamW::StoredAdamW(Parameters& parameters, const Config& config, const OptimizerKind& kind)
    : StoredOptimizer(parameters, config, kind),
      in_blocks_(is_torchaos(kind.states) ? AdamWNumbers::Form::Torchao : AdamWNumbers::Form::Blocks),
      in_numbers_(is_torchaos(kind.states) ? AdamWNumbers::Form::Torchao : AdamWNumbers::Form::Whole),
      is_fused_(states_on_disk(config) && parameters.master().values.scalar_type() == at::kFloat) {}

AdamWNumbers StoredAdamW::numbers(const Owned& owned, double learning_rate) const {
    AdamWNumbers with;
    with.form = owned.states[0].in_codes() ? in_blocks_ : in_numbers_;
    const double root2 = std::sqrt(1 - std::pow(config_.adam_beta2, static_cast<double>(steps())));
    const double correction1 = 1 - std::pow(config_.adam_beta1, static_cast<double>(steps()));
    const double inside = with.form == AdamWNumbers::Form::Whole ? root2 : 1;
    const double decay = learning_rate * owned.group.decay;
    const auto set = [](float& number, double value) { number = static_cast<float>(value); };
    set(with.beta1, config_.adam_beta1);
    set(with.beta2, config_.adam_beta2);
    set(with.rest1, 1 - config_.adam_beta1);
    set(with.rest2, 1 - config_.adam_beta2);
    set(with.decay, decay);
    set(with.shrink, 1 - decay);
    set(with.rate, learning_rate);
    set(with.correction1, correction1);
    set(with.root2, root2);
    set(with.step_size, -learning_rate / correction1 * inside);
    set(with.epsilon, config_.adam_epsilon * inside);
    return with;
}

std::vector<at::Tensor> StoredAdamW::new_states(Owned& owned, int64_t begin, int64_t count,
                                                double learning_rate) {
    std::vector<at::Tensor> moments;
    for (const StoredState& state : owned.states) moments.push_back(state.read(begin, count));
    if (is_fused_) {
        const at::Tensor steps = at::full({}, double(this->steps()), owned.master.options());
        at::_fused_adamw_({owned.master.narrow(0, begin, count)}, {owned.gradients.narrow(0, begin, count)},
                          {moments[0]}, {moments[1]}, {}, {steps}, learning_rate, config_.adam_beta1,
                          config_.adam_beta2, owned.group.decay, config_.adam_epsilon, false, false);
        return moments;
    }
    update_moments(numbers(owned, learning_rate), owned.master.narrow(0, begin, count),
                   owned.gradients.narrow(0, begin, count), moments[0], moments[1]);
    return moments;
}

/// Updates one block at a time, so that its numbers stay in the processor's cache.
bool StoredAdamW::update_kernels(Owned& owned, const CutBlocks::Stretch& stretch, double learning_rate) {
    if (!owned.master.is_cpu() || !owned.states[0].in_codes()) return false;
    constexpr int64_t kBlocksAThread = 64, kLargestBlock = 4096;
    const BlockOptimizer& kernels = block_optimizer();
    const AdamWNumbers with = numbers(owned, learning_rate);
    StoredState* states[] = {&owned.states[0], &owned.states[1]};
    const int64_t block = states[0]->block();
    TORCH_INTERNAL_ASSERT(block <= kLargestBlock);
    const int64_t first_block =
        (parameters_.own_elements(index_of(owned)).begin + stretch.begin) / block - states[0]->first_block();
    const auto work = [&](int64_t first, int64_t last) {
        float moments[2][kLargestBlock];
        for (int64_t b = first; b < last; ++b) {
            const int64_t begin = b * block, count = std::min(block, stretch.count - begin);
            prefetch(owned.master, stretch.begin + begin, count);
            prefetch(owned.gradients, stretch.begin + begin, count);
            uint8_t* codes[2];
            float* scales[2];
            for (int s = 0; s < 2; ++s) {
                codes[s] = states[s]->stored().data_ptr<uint8_t>() +
                           states[s]->book().bytes_of(stretch.begin + begin);
                scales[s] = states[s]->scales().data_ptr<float>() + first_block + b;
                kernels.decode(states[s]->book(), codes[s], *scales[s], moments[s], count);
            }
            update_on_cpu(kernels, with, owned.master, owned.gradients, stretch.begin + begin, moments[0],
                          moments[1], count);
            for (int s = 0; s < 2; ++s) {
                *scales[s] = scale_of(states[s]->book(), kernels.largest(moments[s], count));
                kernels.encode(states[s]->book(), moments[s], *scales[s], codes[s], count);
            }
        }
    };
    at::parallel_for(0, (stretch.count + block - 1) / block, kBlocksAThread, work);
    return true;
}

std::vector<double> StoredAdamW::states_after(const Element& element) const {
    if (!owned_[element.parameter].group.trained) return {};
    return adamw_moments(config_, element);
}

std::optional<double> StoredAdamW::change_of(const Element& element, int64_t step,
                                             double learning_rate) const {
    return adamw_change(config_, element, owned_[element.parameter].group, step, learning_rate);
}

}  // namespace ringmaster
