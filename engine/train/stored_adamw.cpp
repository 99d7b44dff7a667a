#include "engine/train/stored_adamw.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "engine/error.h"
#include "engine/train/moments_update.h"
#include "engine/train/state_codes.h"
#include "engine/train/state_file.h"

namespace ringmaster {

namespace {

constexpr std::array kStates = {"exp_avg", "exp_avg_sq"};

const CodeBook* book_of(StateKind kind, const StateFormat& format, bool is_signed) {
    if (!format.in_codes()) return nullptr;
    return kind == StateKind::Bitsandbytes8 ? &bitsandbytes_book(is_signed) : &torchao_book(format.bits, is_signed);
}

bool is_torchaos(StateKind kind) {
    return kind == StateKind::TorchaoBlocks8 || kind == StateKind::TorchaoBlocks4;
}

}  // namespace

StoredAdamW::StoredAdamW(Parameters& parameters, const Config& config, const OptimizerKind& kind)
    : parameters_(parameters),
      config_(config),
      in_blocks_(is_torchaos(kind.states) ? AdamWNumbers::Form::Torchao : AdamWNumbers::Form::Blocks),
      in_numbers_(is_torchaos(kind.states) ? AdamWNumbers::Form::Torchao : AdamWNumbers::Form::Whole) {
    std::vector<int64_t> blocks;
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        owned_.push_back(own(i, kind));
        const ParameterShape& shape = parameters.shapes()[i];
        blocks.push_back(state_format(kind.states, shape.size(), shape.name == kEmbedding).block);
    }
    cuts_ = std::make_unique<CutBlocks>(parameters, blocks, int64_t{kStates.size()});
}

StoredAdamW::Owned StoredAdamW::own(size_t parameter, const OptimizerKind& kind) {
    const ParameterShape& shape = parameters_.shapes()[parameter];
    const at::Tensor& master = parameters_.master().values;
    const StateFormat format = state_format(kind.states, shape.size(), shape.name == kEmbedding);
    const FlatRange range = parameters_.own_elements(parameter);
    if (format.bits == 4 && range.begin % 2 == 1)
        throw Error(Failure::Refused, Code("CFG-CONFLICT"),
                    shape.name + " is cut in the middle of a byte of 4-bit optimizer states", "optimizer",
                    "take another number of ranks, or optimizer: adamw_torch_8bit");
    const StoredState::Where where{range, master.device(), master.scalar_type(),
                                   config_.optimizer_offloading && !master.device().is_cpu()};
    Owned owned{parameters_.own_values(parameters_.master(), parameter),
                parameters_.own_values(parameters_.gradients(), parameter),
                {},
                shape.decays};
    for (const bool is_signed : {true, false})
        owned.states.emplace_back(format, book_of(kind.states, format, is_signed), where);
    return owned;
}

AdamWNumbers StoredAdamW::numbers(const Owned& owned, double learning_rate) const {
    AdamWNumbers with;
    with.form = owned.states[0].in_codes() ? in_blocks_ : in_numbers_;
    const double root2 = std::sqrt(1 - std::pow(config_.adam_beta2, static_cast<double>(steps_)));
    const double correction1 = 1 - std::pow(config_.adam_beta1, static_cast<double>(steps_));
    const double inside = with.form == AdamWNumbers::Form::Whole ? root2 : 1;
    const double decay = owned.decays ? learning_rate * config_.weight_decay : 0;
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

void StoredAdamW::step(double learning_rate) {
    ++steps_;
    std::vector<Held> held;
    at::Tensor largest = cuts_->begin();
    for (size_t i = 0; i < owned_.size(); ++i) {
        const AdamWNumbers with = numbers(owned_[i], learning_rate);
        for (const CutBlocks::Stretch& stretch : cuts_->stretches(i)) {
            if (stretch.cut < 0) {
                update_whole(owned_[i], stretch, with);
                continue;
            }
            held.push_back({i, stretch, new_moments(owned_[i], stretch.begin, stretch.count, with)});
            for (size_t s = 0; s < kStates.size(); ++s)
                largest[stretch.cut][static_cast<int64_t>(s)].copy_(held.back().moments[s].abs().max());
        }
    }
    settle(held, largest);
    parameters_.share_update();
}

void StoredAdamW::settle(const std::vector<Held>& held, at::Tensor& largest) {
    if (cuts_->none()) return;
    cuts_->agree(largest);
    for (const Held& part : held) {
        for (size_t s = 0; s < kStates.size(); ++s)
            owned_[part.parameter].states[s].write_part(
                part.stretch.begin, part.moments[s],
                largest[part.stretch.cut].narrow(0, static_cast<int64_t>(s), 1));
    }
}

void StoredAdamW::update_whole(Owned& owned, const CutBlocks::Stretch& stretch, const AdamWNumbers& with) {
    if (owned.master.is_cpu() && owned.states[0].in_codes()) return update_kernels(owned, stretch, with);
    for (int64_t begin = 0; begin < stretch.count; begin += kStatesOnTheirWay) {
        const int64_t count = std::min(kStatesOnTheirWay, stretch.count - begin);
        const std::vector<at::Tensor> moments = new_moments(owned, stretch.begin + begin, count, with);
        for (size_t s = 0; s < kStates.size(); ++s) owned.states[s].write(stretch.begin + begin, moments[s]);
    }
}

std::vector<at::Tensor> StoredAdamW::new_moments(Owned& owned, int64_t begin, int64_t count,
                                                 const AdamWNumbers& with) {
    std::vector<at::Tensor> moments;
    for (const StoredState& state : owned.states) moments.push_back(state.read(begin, count));
    update_moments(with, owned.master.narrow(0, begin, count), owned.gradients.narrow(0, begin, count), moments[0],
                   moments[1]);
    return moments;
}

/// A block at a time, so that its numbers stay in the processor's cache.
void StoredAdamW::update_kernels(Owned& owned, const CutBlocks::Stretch& stretch, const AdamWNumbers& with) {
    constexpr int64_t kBlocksAThread = 64, kLargestBlock = 4096;
    const BlockOptimizer& kernels = block_optimizer();
    StoredState* states[] = {&owned.states[0], &owned.states[1]};
    const int64_t block = states[0]->block();
    TORCH_INTERNAL_ASSERT(block <= kLargestBlock);
    const int64_t first_block =
        (parameters_.own_elements(static_cast<size_t>(&owned - owned_.data())).begin + stretch.begin) / block -
        states[0]->first_block();
    const auto work = [&](int64_t first, int64_t last) {
        float moments[2][kLargestBlock];
        for (int64_t b = first; b < last; ++b) {
            const int64_t begin = b * block, count = std::min(block, stretch.count - begin);
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
}

std::vector<at::Tensor> StoredAdamW::states_at(const std::vector<Place>& places) const {
    std::vector<at::Tensor> found;
    for (size_t s = 0; s < kStates.size(); ++s) {
        std::vector<at::Tensor> parts;
        for (size_t i = 0; i < places.size();) {
            const size_t parameter = places[i].parameter;
            std::vector<int64_t> in_own;
            for (; i < places.size() && places[i].parameter == parameter; ++i) in_own.push_back(places[i].in_own);
            parts.push_back(owned_[parameter].states[s].values_at(at::tensor(in_own, at::kLong)));
        }
        found.push_back(parts.empty() ? at::empty({0}, at::kDouble) : at::cat(parts).to(at::kCPU, at::kDouble));
    }
    return found;
}

std::vector<double> StoredAdamW::states_after(const Element& element) const {
    if (owned_[element.parameter].states[0].in_codes()) return {};
    return adamw_moments(config_, element);
}

double StoredAdamW::change_of(const Element& element, int64_t step, double learning_rate) const {
    return adamw_change(config_, element, parameters_.shapes()[element.parameter].decays, step, learning_rate);
}

std::optional<WrittenFile> StoredAdamW::save(const std::filesystem::path& file, bool writes) const {
    StateFile states(parameters_, writes);
    for (size_t s = 0; s < kStates.size(); ++s) {
        for (size_t i = 0; i < owned_.size(); ++i) states.add(kStates[s], i, owned_[i].states[s]);
    }
    return states.write(file);
}

void StoredAdamW::load(const std::filesystem::path& path, int64_t completed_steps) {
    const SafetensorsFile file(path);
    for (size_t s = 0; s < kStates.size(); ++s) {
        for (size_t i = 0; i < owned_.size(); ++i) read_state(file, parameters_, kStates[s], i, owned_[i].states[s]);
    }
    steps_ = completed_steps;
}

}  // namespace ringmaster
