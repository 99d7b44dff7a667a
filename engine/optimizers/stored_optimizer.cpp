#include "engine/optimizers/stored_optimizer.h"

#include <ATen/ATen.h>

#include <algorithm>

#include "engine/config/offloading.h"
#include "engine/config/optimizer_arguments.h"
#include "engine/error.h"
#include "engine/optimizers/state_file.h"

namespace ringmaster {

namespace {

constexpr const char* kRunNumbers = "run_numbers";

const CodeBook* book_of(StateKind kind, const StateFormat& format, bool is_signed) {
    if (!format.in_codes()) return nullptr;
    return kind == StateKind::Bitsandbytes8 ? &bitsandbytes_book(is_signed)
                                            : &torchao_book(format.bits, is_signed);
}

}  // namespace

StoredOptimizer::StoredOptimizer(Parameters& parameters, const Config& config, const OptimizerKind& kind)
    : parameters_(parameters),
      config_(config),
      kind_(kind),
      specs_(states_of(optimizer_states(config), 1, false)),
      groups_(parameter_groups(parameters.shapes(), config)),
      disk_(states_on_disk(config) ? std::make_shared<DiskFile>(config.optimizer_disk) : nullptr) {
    std::vector<int64_t> blocks;
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        owned_.push_back(own(i));
        blocks.push_back(format_of(i).block);
    }
    cuts_ = std::make_unique<CutBlocks>(parameters, blocks, static_cast<int64_t>(specs_.size()));
}

/// Returns the format of a parameter's states. transformers keeps the embedding's states in float32, but not
/// with axolotl's parameter groups.
StateFormat StoredOptimizer::format_of(size_t parameter) const {
    const ParameterShape& shape = parameters_.shapes()[parameter];
    const bool own_groups = config_.embedding_lr || config_.embedding_lr_scale ||
                            !config_.lr_groups.empty() || config_.loraplus_lr_ratio;
    return state_format(kind_.states, shape.size(), is_embedding(shape.name) && !own_groups);
}

StoredOptimizer::Owned StoredOptimizer::own(size_t parameter) {
    const at::Tensor& master = parameters_.master().values;
    const StateFormat format = format_of(parameter);
    const FlatRange range = parameters_.own_elements(parameter);
    if (format.bits == 4 && range.begin % 2 == 1)
        throw Error(Failure::Refused, Code("CFG-CONFLICT"),
                    parameters_.shapes()[parameter].name +
                        " is cut in the middle of a byte of 4-bit optimizer states",
                    "optimizer", "take another number of ranks, or optimizer: adamw_torch_8bit");
    const StoredState::Where where{
        range, master.device(), master.scalar_type(), config_.optimizer_offloading, parameters_.device(),
        disk_};
    Owned owned{parameters_.own_values(parameters_.master(), parameter),
                parameters_.own_values(parameters_.gradients(), parameter),
                {},
                groups_[parameter]};
    for (const StateSpec& spec : specs_)
        owned.states.emplace_back(format, book_of(kind_.states, format, spec.is_signed), where);
    return owned;
}

void StoredOptimizer::step(double learning_rate) {
    ++steps_;
    std::vector<Held> held;
    at::Tensor largest = cuts_->begin();
    for (size_t i = 0; i < owned_.size(); ++i) {
        if (i + 1 < owned_.size() && owned_[i + 1].group.trained)
            for (const StoredState& state : owned_[i + 1].states) state.ahead();
        if (owned_[i].group.trained) update(i, learning_rate * owned_[i].group.rate, held, largest);
        for (const StoredState& state : owned_[i].states) state.leave();
    }
    settle(held, largest);
    parameters_.share_update();
}

/// Updates a parameter. Adds stretches of cut blocks to `held`, and their states' magnitudes to `largest`.
void StoredOptimizer::update(size_t parameter, double learning_rate, std::vector<Held>& held,
                             at::Tensor& largest) {
    Owned& owned = owned_[parameter];
    for (const CutBlocks::Stretch& stretch : cuts_->stretches(parameter)) {
        if (stretch.cut < 0) {
            update_whole(owned, stretch, learning_rate);
            continue;
        }
        held.push_back({parameter, stretch, new_states(owned, stretch.begin, stretch.count, learning_rate)});
        for (size_t s = 0; s < specs_.size(); ++s)
            largest[stretch.cut][static_cast<int64_t>(s)].copy_(held.back().states[s].abs().max());
    }
}

void StoredOptimizer::settle(const std::vector<Held>& held, at::Tensor& largest) {
    if (cuts_->none()) return;
    cuts_->agree(largest);
    for (const Held& part : held) {
        for (size_t s = 0; s < specs_.size(); ++s)
            owned_[part.parameter].states[s].write_part(
                part.stretch.begin, part.states[s],
                largest[part.stretch.cut].narrow(0, static_cast<int64_t>(s), 1));
    }
}

void StoredOptimizer::update_whole(Owned& owned, const CutBlocks::Stretch& stretch, double learning_rate) {
    if (update_kernels(owned, stretch, learning_rate)) return;
    for (int64_t begin = 0; begin < stretch.count; begin += elements_at_once()) {
        const int64_t count = std::min(elements_at_once(), stretch.count - begin);
        const std::vector<at::Tensor> states = new_states(owned, stretch.begin + begin, count, learning_rate);
        for (size_t s = 0; s < specs_.size(); ++s) owned.states[s].write(stretch.begin + begin, states[s]);
    }
}

std::vector<at::Tensor> StoredOptimizer::states_at(const std::vector<Place>& places) const {
    return read_at(places, &StoredState::values_at);
}

std::vector<at::Tensor> StoredOptimizer::roundings_at(const std::vector<Place>& places) const {
    return read_at(places, &StoredState::roundings_at);
}

std::vector<at::Tensor> StoredOptimizer::read_at(const std::vector<Place>& places, OfState of) const {
    std::vector<at::Tensor> found;
    for (size_t s = 0; s < specs_.size(); ++s) {
        std::vector<at::Tensor> parts;
        for (size_t i = 0; i < places.size();) {
            const size_t parameter = places[i].parameter;
            std::vector<int64_t> in_own;
            for (; i < places.size() && places[i].parameter == parameter; ++i)
                in_own.push_back(places[i].in_own);
            parts.push_back((owned_[parameter].states[s].*of)(at::tensor(in_own, at::kLong)));
        }
        found.push_back(parts.empty() ? at::empty({0}, at::kDouble)
                                      : at::cat(parts).to(at::kCPU, at::kDouble));
    }
    return found;
}

std::optional<WrittenFile> StoredOptimizer::save(const std::filesystem::path& file, bool writes) const {
    StateFile states(parameters_, writes);
    for (size_t s = 0; s < specs_.size(); ++s) {
        for (size_t i = 0; i < owned_.size(); ++i)
            states.add(std::string(specs_[s].name), i, owned_[i].states[s]);
    }
    if (const std::vector<double> numbers = run_numbers(); !numbers.empty())
        states.add_whole(kRunNumbers, {static_cast<int64_t>(numbers.size())},
                         at::tensor(numbers, at::kDouble));
    return states.write(file);
}

void StoredOptimizer::load(const std::filesystem::path& path, int64_t completed_steps) {
    const SafetensorsFile file(path);
    for (size_t s = 0; s < specs_.size(); ++s) {
        for (size_t i = 0; i < owned_.size(); ++i)
            read_state(file, parameters_, std::string(specs_[s].name), i, owned_[i].states[s]);
    }
    steps_ = completed_steps;
    if (run_numbers().empty()) return;
    at::Tensor numbers = at::zeros({static_cast<int64_t>(run_numbers().size())}, at::kDouble);
    read_whole(file, kRunNumbers, numbers);
    take_run_numbers({numbers.data_ptr<double>(), numbers.data_ptr<double>() + numbers.size(0)});
}

}  // namespace ringmaster
