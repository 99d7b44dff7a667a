#include "engine/train/optimizer.h"

#include <ATen/ATen.h>

#include <cmath>

#include "engine/files/safetensors.h"

namespace ringmaster {

namespace {

const char* safetensors_dtype(const at::Tensor& tensor) {
    return tensor.scalar_type() == at::kFloat ? "F32" : "BF16";
}

}  // namespace

AdamW::AdamW(Parameters& parameters, const Config& config)
    : parameters_(parameters),
      config_(config),
      exp_avg_(at::zeros_like(parameters.master())),
      exp_avg_sq_(at::zeros_like(parameters.master())),
      steps_(at::zeros({}, parameters.master().options().dtype(at::kFloat))) {
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        const bool decays = parameters.shapes()[i].decays;
        if (parts_.empty() || parts_.back().decays != decays)
            parts_.push_back({parameters.range_of(i), decays});
        parts_.back().range.end = parameters.range_of(i).end;
    }
}

void AdamW::step(double learning_rate) {
    steps_.add_(1);
    for (const Part& part : parts_) {
        auto piece = [&](const at::Tensor& flat) {
            return std::vector{flat.narrow(0, part.range.begin, part.range.size())};
        };
        at::_fused_adamw_(piece(parameters_.master()), piece(parameters_.gradients()), piece(exp_avg_),
                          piece(exp_avg_sq_), {}, {steps_}, learning_rate, config_.adam_beta1,
                          config_.adam_beta2, part.decays ? config_.weight_decay : 0, config_.adam_epsilon,
                          false, false);
    }
    parameters_.refresh_compute();
}

void AdamW::save(const std::filesystem::path& file) const {
    std::vector<TensorInfo> infos;
    for (const char* state : {"exp_avg.", "exp_avg_sq."}) {
        for (const ParameterShape& shape : parameters_.shapes()) {
            infos.push_back({state + shape.name, safetensors_dtype(exp_avg_), shape.shape});
        }
    }
    SafetensorsWriter writer(file, infos);
    for (const at::Tensor& state : {exp_avg_, exp_avg_sq_}) {
        at::Tensor values = state.cpu();
        writer.write(values.data_ptr(), values.nbytes());
    }
    writer.finish();
}

void AdamW::load(const std::filesystem::path& path, int64_t completed_steps) {
    SafetensorsFile file(path);
    auto read = [&](const std::string& state, at::Tensor& into) {
        for (size_t i = 0; i < parameters_.shapes().size(); ++i) {
            const ParameterShape& shape = parameters_.shapes()[i];
            const auto bytes = file.elements<std::byte>(state + shape.name, safetensors_dtype(into));
            at::Tensor stored = at::from_blob(const_cast<std::byte*>(bytes.data()), shape.shape,
                                              at::TensorOptions().dtype(into.scalar_type()));
            parameters_.view(into, i).copy_(stored);
        }
    };
    read("exp_avg.", exp_avg_);
    read("exp_avg_sq.", exp_avg_sq_);
    steps_.fill_(static_cast<double>(completed_steps));
}

double gradient_norm(Parameters& parameters) {
    at::Tensor& gradients = parameters.gradients();
    std::vector<at::Tensor> norms;
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        norms.push_back(at::linalg_vector_norm(parameters.view(gradients, i), 2, {}, false, at::kFloat));
    }
    return std::sqrt(at::stack(norms).to(at::kDouble).square().sum().item<double>());
}

}  // namespace ringmaster
