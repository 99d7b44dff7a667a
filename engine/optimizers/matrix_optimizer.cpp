#include "engine/optimizers/matrix_optimizer.h"

#include <ATen/ATen.h>

#include "engine/config/optimizer_arguments.h"
#include "engine/model/host_arena.h"
#include "engine/optimizers/state_file.h"
#include "engine/optimizers/values_at.h"
#include "engine/optimizers/whole_vectors.h"

namespace ringmaster {

namespace {

class MatrixOptimizer : public Optimizer {
  public:
    MatrixOptimizer(Parameters& parameters, const Config& config, const OptimizerKind& kind,
                    std::unique_ptr<MatrixRule> rule);

    void step(double learning_rate) override;
    std::optional<WrittenFile> save(const std::filesystem::path& file, bool writes = true) const override;
    void load(const std::filesystem::path& file, int64_t completed_steps) override;
    std::vector<at::Tensor> states_at(const std::vector<Place>& places) const override;
    std::optional<double> change_of(const Element& element, int64_t step,
                                    double learning_rate) const override;

  private:
    std::vector<StateSpec> specs(size_t parameter) const;
    bool updates_whole(size_t parameter) const {
        return groups_[parameter].trained && !states_[parameter].second.defined();
    }
    at::Tensor gathered(const Flat& flat, int unit) const;
    void update_unit(int unit, size_t begin, size_t end, double learning_rate);
    void update_whole(size_t parameter, const std::array<at::Tensor, 3>& unit, double learning_rate);
    void update_own(size_t parameter, double learning_rate);
    MatrixStep step_of(size_t parameter, double learning_rate) const;
    StoredState element_state(size_t parameter, const StateSpec& spec) const;
    const std::vector<at::Tensor>& vectors_here(size_t parameter) const;

    Parameters& parameters_;
    const Config& config_;
    const OptimizerKind kind_;
    const std::unique_ptr<MatrixRule> rule_;
    const std::vector<ParameterGroup> groups_;
    std::vector<MatrixStates> states_;
    Flat momentum_;  ///< momentum of all parameters; empty if the rule has none
    int64_t steps_ = 0;

    mutable std::pair<size_t, int64_t> here_of_{-1, -1};  ///< parameter and step of the vectors in here_
    mutable std::vector<at::Tensor> here_;                ///< float64 on the CPU
};

int64_t length_of(const ParameterShape& shape, StateExtent extent) {
    if (extent == StateExtent::Whole) return shape.size();
    return extent == StateExtent::Columns ? shape.shape.back() : shape.size() / shape.shape.back();
}

MatrixOptimizer::MatrixOptimizer(Parameters& parameters, const Config& config, const OptimizerKind& kind,
                                 std::unique_ptr<MatrixRule> rule)
    : parameters_(parameters),
      config_(config),
      kind_(kind),
      rule_(std::move(rule)),
      groups_(parameter_groups(parameters.shapes(), config)),
      states_(parameters.shapes().size()) {
    const at::Tensor& master = parameters.master().values;
    const at::ScalarType dtype = kind.states == StateKind::AsWeights ? master.scalar_type() : at::kFloat;
    const bool in_host = config.optimizer_offloading, sharded = parameters.stage() > 0;
    if (kind.rule != UpdateRule::Adafactor)
        momentum_ = in_host ? host_flat(parameters, sharded, dtype)
                            : parameters.make_flat(sharded, dtype, master.device());
    const at::TensorOptions of_device = at::TensorOptions().device(parameters.device());
    for (size_t i = 0; i < states_.size(); ++i) {
        for (const StateSpec& spec : specs(i)) {
            if (spec.extent != StateExtent::Elements)
                states_[i].vectors.push_back(
                    at::zeros({length_of(parameters.shapes()[i], spec.extent)}, of_device.dtype(at::kFloat)));
            else if (spec.name == "moment2")
                states_[i].second =
                    in_host ? host_zeros({parameters.own_elements(i).size()}, dtype, parameters.device())
                            : at::zeros({parameters.own_elements(i).size()}, of_device.dtype(dtype));
        }
    }
}

std::vector<StateSpec> MatrixOptimizer::specs(size_t parameter) const {
    const ParameterShape& shape = parameters_.shapes()[parameter];
    return states_of(optimizer_states(config_), shape.shape.size(), is_table(shape.name));
}

MatrixStep MatrixOptimizer::step_of(size_t parameter, double learning_rate) const {
    return {steps_, learning_rate * groups_[parameter].rate, groups_[parameter].decay};
}

void MatrixOptimizer::step(double learning_rate) {
    ++steps_;
    const size_t count = parameters_.shapes().size();
    for (size_t begin = 0; begin < count;) {
        const int unit = parameters_.unit_of(begin);
        size_t end = begin;
        while (end < count && parameters_.unit_of(end) == unit) ++end;
        update_unit(unit, begin, end, learning_rate);
        begin = end;
    }
    parameters_.share_update();
}

/// Returns a whole unit from the ranks' slices; at stage 1 gradients are correct only in the slices.
at::Tensor MatrixOptimizer::gathered(const Flat& flat, int unit) const {
    const at::Device device = parameters_.device();
    if (parameters_.stage() == 0) return parameters_.whole_unit(flat, unit).to(device);
    const at::Tensor own = parameters_.own_slice(flat, unit).to(device);
    Group& ranks = parameters_.sharding_groups()->shard();
    at::Tensor whole = at::empty({own.size(0) * ranks.size()}, own.options());
    ranks.all_gather(whole, own, "states of " + parameters_.name_of(unit)).wait();
    return whole;
}

void MatrixOptimizer::update_unit(int unit, size_t begin, size_t end, double learning_rate) {
    bool is_whole = false;
    for (size_t i = begin; i < end; ++i) is_whole = is_whole || updates_whole(i);
    std::array<at::Tensor, 3> of_unit;
    if (is_whole) {
        of_unit = {gathered(parameters_.master(), unit), gathered(parameters_.gradients(), unit), {}};
        if (momentum_.values.defined()) of_unit[2] = gathered(momentum_, unit);
    }
    for (size_t i = begin; i < end; ++i) {
        if (!groups_[i].trained) continue;
        if (states_[i].second.defined()) {
            update_own(i, learning_rate);
        } else {
            update_whole(i, of_unit, learning_rate);
        }
    }
}

void MatrixOptimizer::update_whole(size_t parameter, const std::array<at::Tensor, 3>& unit,
                                   double learning_rate) {
    MatrixStates& states = states_[parameter];
    if (unit[2].defined()) states.momentum = parameters_.view(unit[2], parameter);
    const at::Tensor moved =
        rule_->moved(step_of(parameter, learning_rate), parameters_.view(unit[0], parameter),
                     parameters_.view(unit[1], parameter), states);
    const FlatRange own = parameters_.own_elements(parameter);
    const auto keep = [&](const Flat& flat, const at::Tensor& whole) {
        parameters_.own_values(flat, parameter).copy_(whole.reshape({-1}).narrow(0, own.begin, own.size()));
    };
    keep(parameters_.master(), moved);
    if (states.momentum.defined()) keep(momentum_, states.momentum);
    states.momentum.reset();
}

/// Updates this rank's elements of a parameter that is updated element by element.
void MatrixOptimizer::update_own(size_t parameter, double learning_rate) {
    const at::Tensor weights = parameters_.own_values(parameters_.master(), parameter);
    const at::Tensor gradients = parameters_.own_values(parameters_.gradients(), parameter);
    const at::Tensor first = parameters_.own_values(momentum_, parameter), second = states_[parameter].second;
    const int64_t own = weights.size(0), at_once = needs_whole_vectors(weights) ? kOneThread : own;
    for (int64_t begin = 0; begin < own; begin += at_once) {
        const int64_t count = std::min(at_once, own - begin);
        const auto part = [&](const at::Tensor& values) {
            return in_whole_vectors(values.narrow(0, begin, count).to(weights.device()));
        };
        const auto keep = [&](const at::Tensor& values, const at::Tensor& moved) {
            values.narrow(0, begin, count).copy_(moved.narrow(0, 0, count));
        };
        MatrixStates states{part(first), part(second), {}};
        keep(weights,
             rule_->moved(step_of(parameter, learning_rate), part(weights), part(gradients), states));
        keep(first, states.momentum);
        keep(second, states.second);
    }
}

// ------------------------------------------------------------------------------------------ proofs

std::vector<at::Tensor> MatrixOptimizer::states_at(const std::vector<Place>& places) const {
    if (kind_.rule != UpdateRule::Muon) return {};
    std::vector<double> second;
    for (const Place& place : places) {
        const at::Tensor& of = states_[place.parameter].second;
        second.push_back(of.defined() ? of[place.in_own].item<double>() : 0);
    }
    return {values_at(parameters_, momentum_, places), at::tensor(second, at::kDouble)};
}

const std::vector<at::Tensor>& MatrixOptimizer::vectors_here(size_t parameter) const {
    if (here_of_ != std::pair(parameter, steps_)) {
        here_.clear();
        for (const at::Tensor& vector : states_[parameter].vectors)
            here_.push_back(vector.to(at::kCPU, at::kDouble));
        here_of_ = {parameter, steps_};
    }
    return here_;
}

std::optional<double> MatrixOptimizer::change_of(const Element& element, int64_t step,
                                                 double learning_rate) const {
    const size_t i = element.parameter;
    if (!groups_[i].trained) return 0;
    const bool is_muons_matrix = kind_.rule == UpdateRule::Muon && !states_[i].second.defined();
    double momentum = 0;
    if (kind_.rule == UpdateRule::Came) {
        const int64_t in_own = element.at - parameters_.own_elements(i).begin;
        momentum = parameters_.own_values(momentum_, i)[in_own].item<double>();
    }
    MatrixStep at = step_of(i, learning_rate);
    at.step = step;
    return rule_->change(at, element, parameters_.shapes()[i].shape.back(), vectors_here(i), momentum,
                         is_muons_matrix ? 0 : states_[i].divisor);
}

// ------------------------------------------------------------------------------------------ checkpoints

/// Returns a state of this rank's elements that shares the optimizer's memory.
StoredState MatrixOptimizer::element_state(size_t parameter, const StateSpec& spec) const {
    const at::Tensor own =
        spec.name == "moment2" ? states_[parameter].second : parameters_.own_values(momentum_, parameter);
    return StoredState(own);
}

std::optional<WrittenFile> MatrixOptimizer::save(const std::filesystem::path& file, bool writes) const {
    StateFile states(parameters_, writes);
    for (size_t i = 0; i < states_.size(); ++i) {
        size_t vector = 0;
        for (const StateSpec& spec : specs(i)) {
            const ParameterShape& shape = parameters_.shapes()[i];
            if (spec.extent == StateExtent::Elements) {
                states.add(std::string(spec.name), i, element_state(i, spec));
            } else {
                states.add_whole(std::string(spec.name) + "." + shape.name, {length_of(shape, spec.extent)},
                                 states_[i].vectors[vector++]);
            }
        }
    }
    return states.write(file);
}

void MatrixOptimizer::load(const std::filesystem::path& path, int64_t completed_steps) {
    const SafetensorsFile file(path);
    for (size_t i = 0; i < states_.size(); ++i) {
        size_t vector = 0;
        for (const StateSpec& spec : specs(i)) {
            if (spec.extent == StateExtent::Elements) {
                StoredState state = element_state(i, spec);
                read_state(file, parameters_, std::string(spec.name), i, state);
            } else {
                read_whole(file, std::string(spec.name) + "." + parameters_.shapes()[i].name,
                           states_[i].vectors[vector++]);
            }
        }
    }
    steps_ = completed_steps;
}

}  // namespace

std::unique_ptr<Optimizer> make_matrix_optimizer(Parameters& parameters, const Config& config) {
    const OptimizerKind& kind = *find_optimizer(config.optimizer);
    std::unique_ptr<MatrixRule> rule;
    if (kind.rule == UpdateRule::Adafactor) rule = make_adafactor();
    if (kind.rule == UpdateRule::Came) rule = make_came(config);
    if (kind.rule == UpdateRule::Muon) rule = make_muon(config);
    return std::make_unique<MatrixOptimizer>(parameters, config, kind, std::move(rule));
}

}  // namespace ringmaster
