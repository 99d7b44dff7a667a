#include "engine/optimizers/adamw.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <memory>

#include "engine/files/safetensors.h"
#include "engine/model/host_arena.h"
#include "engine/optimizers/values_at.h"
#include "engine/piece_sizes.h"

namespace ringmaster {

namespace {

const char* safetensors_dtype(const at::Tensor& tensor) {
    return tensor.scalar_type() == at::kFloat ? "F32" : "BF16";
}

bool lies_behind(const at::Tensor& next, const at::Tensor& before) {
    return next.is_alias_of(before) && next.storage_offset() == before.storage_offset() + before.size(0);
}

at::Tensor longer(const at::Tensor& flat, int64_t by) {
    return flat.as_strided({flat.size(0) + by}, {1});
}

Flat make_moments(const Parameters& parameters, const Config& config) {
    const at::Tensor& master = parameters.master().values;
    const bool sharded = parameters.stage() > 0;
    return config.optimizer_offloading ? host_flat(parameters, sharded, master.scalar_type())
                                       : parameters.make_flat(sharded, master.scalar_type(), master.device());
}

}  // namespace

AdamW::AdamW(Parameters& parameters, const Config& config)
    : parameters_(parameters),
      config_(config),
      groups_(parameter_groups(parameters.shapes(), config)),
      exp_avg_(make_moments(parameters, config)),
      exp_avg_sq_(make_moments(parameters, config)),
      steps_(at::zeros({}, parameters.master().values.options().dtype(at::kFloat))) {
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        if (parameters.own_elements(i).size() == 0 || !groups_[i].trained) continue;
        const auto own = [&](const Flat& flat) { return parameters.own_values(flat, i); };
        const Part part{own(parameters.master()), own(parameters.gradients()), own(exp_avg_),
                        own(exp_avg_sq_), groups_[i]};
        if (!parts_.empty() && part.continues(parts_.back())) {
            parts_.back().join(part);
        } else {
            parts_.push_back(part);
        }
    }
}

bool AdamW::Part::continues(const Part& before) const {
    return group == before.group && lies_behind(master, before.master) &&
           lies_behind(gradients, before.gradients) && lies_behind(exp_avg, before.exp_avg);
}

AdamW::Part AdamW::Part::rows(int64_t begin, int64_t count) const {
    const auto cut = [&](const at::Tensor& flat) { return flat.narrow(0, begin, count); };
    return {cut(master), cut(gradients), cut(exp_avg), cut(exp_avg_sq), group};
}

void AdamW::Part::join(const Part& next) {
    for (at::Tensor* flat : {&master, &gradients, &exp_avg, &exp_avg_sq})
        *flat = longer(*flat, next.master.size(0));
}

void AdamW::step(double learning_rate) {
    steps_.add_(1);
    for (const Part& part : parts_) {
        const bool here = part.exp_avg.device() == part.master.device();
        const int64_t elements = part.master.size(0), chunk = here ? elements : pieces::kStatesOnTheirWay;
        for (int64_t begin = 0; begin < elements; begin += chunk) {
            update(part.rows(begin, std::min(chunk, elements - begin)), learning_rate);
        }
    }
    parameters_.share_update();
}

/// Copies moments that are kept in host memory to the device for the update, and back afterwards.
void AdamW::update(const Part& part, double learning_rate) {
    at::Tensor exp_avg = part.exp_avg.to(part.master.device());
    at::Tensor exp_avg_sq = part.exp_avg_sq.to(part.master.device());
    at::_fused_adamw_({part.master}, {part.gradients}, {exp_avg}, {exp_avg_sq}, {}, {steps_},
                      learning_rate * part.group.rate, config_.adam_beta1, config_.adam_beta2,
                      part.group.decay, config_.adam_epsilon, false, false);
    if (exp_avg.is_same(part.exp_avg)) return;
    part.exp_avg.copy_(exp_avg);
    part.exp_avg_sq.copy_(exp_avg_sq);
}

std::optional<WrittenFile> AdamW::save(const std::filesystem::path& file, bool writes) const {
    std::unique_ptr<SafetensorsWriter> writer;
    if (writes) {
        std::vector<TensorInfo> infos;
        for (const char* state : {"exp_avg.", "exp_avg_sq."}) {
            for (const ParameterShape& shape : parameters_.shapes())
                infos.push_back({state + shape.name, safetensors_dtype(exp_avg_.values), shape.shape});
        }
        writer = std::make_unique<SafetensorsWriter>(file, infos);
    }
    for (const Flat* state : {&exp_avg_, &exp_avg_sq_}) {
        WholeValues whole(parameters_, *state);
        for (size_t i = 0; i < parameters_.shapes().size(); ++i) {
            const at::Tensor values = whole.of(i);
            if (!writer) continue;
            const at::Tensor here = values.cpu();
            writer->write(here.data_ptr(), here.nbytes());
        }
    }
    if (!writer) return std::nullopt;
    return writer->finish();
}

void AdamW::load(const std::filesystem::path& path, int64_t completed_steps) {
    SafetensorsFile file(path);
    auto read = [&](const std::string& state, const Flat& into) {
        for (size_t i = 0; i < parameters_.shapes().size(); ++i) {
            const ParameterShape& shape = parameters_.shapes()[i];
            const auto bytes = file.elements<std::byte>(state + shape.name, safetensors_dtype(into.values));
            at::Tensor stored = at::from_blob(const_cast<std::byte*>(bytes.data()), {shape.size()},
                                              at::TensorOptions().dtype(into.values.scalar_type()));
            const FlatRange own = parameters_.own_elements(i);
            parameters_.own_values(into, i).copy_(stored.narrow(0, own.begin, own.size()));
        }
    };
    read("exp_avg.", exp_avg_);
    read("exp_avg_sq.", exp_avg_sq_);
    steps_.fill_(static_cast<double>(completed_steps));
}

std::vector<at::Tensor> AdamW::states_at(const std::vector<Place>& places) const {
    return {values_at(parameters_, exp_avg_, places), values_at(parameters_, exp_avg_sq_, places)};
}

std::vector<double> AdamW::states_after(const Element& element) const {
    if (!groups_[element.parameter].trained) return {};
    return adamw_moments(config_, element);
}

std::optional<double> AdamW::change_of(const Element& element, int64_t step, double learning_rate) const {
    return adamw_change(config_, element, groups_[element.parameter], step, learning_rate);
}

}  // namespace ringmaster
