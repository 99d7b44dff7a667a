#include "engine/model/lora.h"

#include <ATen/ATen.h>

#include "engine/config/precision.h"
#include "engine/model/decode_ops.h"
#include "engine/model/dropout.h"
#include "engine/model/dtypes.h"
#include "engine/model/ops.h"

namespace ringmaster {

namespace {

/// Returns the number of outputs that each module has as a separate matrix; 0 for some of the modules that
/// this model lacks.
std::array<int64_t, kModulePaths.size()> columns_of(const ModelConfig& model) {
    const int64_t q = model.num_heads * model.head_dim, kv = model.num_kv_heads * model.head_dim;
    const DeltaSizes& d = model.delta;
    const LatentSizes& latent = model.latent;
    const auto apart = [&](int64_t columns) { return d.joined() > 0 ? 0 : columns; };
    return {latent.on() ? model.num_heads * latent.key_width() : (model.gates_attention ? 2 : 1) * q,
            kv,
            kv,
            model.hidden_size,
            model.gate.gated ? model.intermediate_size : 0,
            model.intermediate_size,
            model.hidden_size,
            apart(d.channels()),
            apart(d.values()),
            apart(d.value_heads),
            apart(d.value_heads),
            d.joined(),
            d.joined_numbers(),
            model.hidden_size,
            model.gate.gated ? model.shared_expert_intermediate_size : 0,
            model.shared_expert_intermediate_size,
            model.hidden_size,
            1,
            latent.query_rank,
            latent.rank + latent.rotary_width,
            model.num_heads * latent.key_width(),
            model.num_heads * (latent.plain_width + latent.value_width),
            model.num_experts,
            model.expert_latent_size,
            model.hidden_size,
            model.layer_input_width,
            model.hidden_size,
            d.selected(),
            d.scans() ? d.values() : 0};
}

}  // namespace

Adapter::Adapter(const ModelConfig& model, const Lora& lora, Precision precision, at::Device device,
                 Sharding sharding)
    : lora_(lora),
      scale_(lora.scale()),
      dtype_(compute_dtype_of(precision)),
      parameters_(model, lora, lora.dora && is_mixed(precision) ? Precision::Float32 : precision, device,
                  std::move(sharding)) {
    for (int64_t layer = 0; layer < model.num_layers; ++layer)
        columns_.push_back(columns_of(model.of_layer(layer)));
}

void Adapter::begin_step(int64_t seed, int64_t step) {
    stream_ = mixed(mixed(static_cast<uint64_t>(seed)) ^ static_cast<uint64_t>(step));
}

void Adapter::begin_tokens(const at::Tensor& places_n) {
    keys_2n_ = places_n.defined() ? dropout_keys(places_n, stream_) : at::Tensor();
}

std::vector<Adapter::Module> Adapter::modules_of(LoraSite site) const {
    const auto [first, count] = targets_of(site);
    const LayerTensors& weights = parameters_.weights().layers[static_cast<size_t>(layer_)];
    const LayerTensors& gradients = parameters_.weight_gradients().layers[static_cast<size_t>(layer_)];
    std::vector<Module> modules;
    int64_t column = 0;
    for (size_t target = first; target < first + count; ++target) {
        if (const LowRank& own = weights.lora[target]; own.a_rc.defined())
            modules.push_back({target,
                               column,
                               own.b_or.size(0),
                               {own.a_rc.to(dtype_), own.b_or.to(dtype_), own.magnitude_o},
                               gradients.lora[target]});
        column += columns_[static_cast<size_t>(layer_)][target];
    }
    return modules;
}

ExpertAdapter Adapter::of_experts(size_t parameter) const {
    const auto layer = static_cast<size_t>(layer_);
    const LowRank& own = parameters_.weights().layers[layer].expert_lora[parameter];
    if (!own.a_rc.defined()) return {};
    return {{own.a_rc.to(dtype_), own.b_or.to(dtype_), {}},
            parameters_.weight_gradients().layers[layer].expert_lora[parameter],
            scale_,
            lora_.r};
}

namespace {

/// Numbers the modules of all layers. The first seven modules of a layer keep their numbers when modules are
/// added to the list, so that their dropout does not change.
uint64_t module_number(int layer, size_t target) {
    return static_cast<uint64_t>(layer) * 7 + target % 7 + (static_cast<uint64_t>(target / 7) << 40);
}

}  // namespace

at::Tensor Adapter::dropped(const at::Tensor& x_nc, size_t target, int64_t first) const {
    if (!keys_2n_.defined()) return x_nc;
    return dropout(x_nc, keys_2n_.narrow(1, first, x_nc.size(0)),
                   mixed(stream_ ^ mixed(module_number(layer_, target))), lora_.dropout);
}

at::Tensor Adapter::dropout_factors(int layer, size_t target, const at::Tensor& places_n,
                                    int64_t width) const {
    if (!drops()) return {};
    const at::Tensor ones = at::ones({places_n.size(0), width}, places_n.options().dtype(at::kFloat));
    return dropout(ones, dropout_keys(places_n, stream_),
                   mixed(stream_ ^ mixed(module_number(layer, target))), lora_.dropout);
}

void Adapter::add_low_rank(const at::Tensor& y_no, const at::Tensor& u_nr, const at::Tensor& b_or,
                           bool decodes) {
    if (decodes)
        y_no.add_(decode_linear(u_nr, b_or, {}));
    else
        add_product(y_no, u_nr, b_or.t());
}

void Adapter::add_forward(LoraSite site, const at::Tensor& x_nc, const at::Tensor& y_no, int64_t first,
                          const FrozenLinear& frozen, bool decodes) const {
    for (const Module& module : modules_of(site)) {
        const at::Tensor x = dropped(x_nc, module.target, first);
        at::Tensor u_nr =
            decodes ? decode_linear(x, module.weights.a_rc, {}) : product(x, module.weights.a_rc.t());
        scale_in_place(u_nr, scale_);
        const at::Tensor y = y_no.narrow(1, module.first_column, module.columns);
        if (lora_.dora)
            add_dora(module, x, u_nr, y, frozen, decodes);
        else
            add_low_rank(y, u_nr, module.weights.b_or, decodes);
    }
}

AdapterBackward::AdapterBackward(const Adapter* adapter, LoraSite site, const at::Tensor& dy_no,
                                 int64_t first, at::Tensor weight_oc)
    : adapter_(adapter), dy_no_(dy_no), weight_oc_(std::move(weight_oc)), first_(first) {
    if (adapter == nullptr) return;
    for (Adapter::Module& module : adapter->modules_of(site)) {
        Pull pull{std::move(module), {}, {}, {}};
        at::Tensor b_or = pull.module.weights.b_or;
        if (weight_oc_.defined()) {
            pull.lengths_o = adapter->row_lengths(pull.module, weight_of(pull.module));
            pull.factors_o = pull.module.weights.magnitude_o / pull.lengths_o;
            b_or = b_or.clone().mul_(pull.factors_o.unsqueeze(1));
        }
        pull.du_nr = scale_in_place(product(dy_of(pull.module), b_or), adapter->scale_);
        pulls_.push_back(std::move(pull));
    }
}

void AdapterBackward::add_input_gradient(const at::Tensor& dx_nc) const {
    for (const Pull& pull : pulls_) {
        const bool drops = adapter_->keys_2n_.defined();
        if (!drops && !pull.factors_o.defined()) {
            add_product(dx_nc, pull.du_nr, pull.module.weights.a_rc);
            continue;
        }
        at::Tensor d_nc = product(pull.du_nr, pull.module.weights.a_rc);
        if (pull.factors_o.defined())
            add_product(d_nc, dy_of(pull.module).clone().mul_(pull.factors_o - 1), weight_of(pull.module));
        dx_nc.add_(adapter_->dropped(d_nc, pull.module.target, first_));
    }
}

void AdapterBackward::accumulate(const at::Tensor& x_nc, double beta) const {
    for (const Pull& pull : pulls_) {
        const Adapter::Module& module = pull.module;
        const at::Tensor x = adapter_->dropped(x_nc, module.target, first_);
        const at::Tensor u_nr = scale_in_place(product(x, module.weights.a_rc.t()), adapter_->scale_);
        accumulate_b(pull, u_nr, beta);
        accumulate_weight_gradient(module.gradients.a_rc, pull.du_nr, x, beta);
        if (pull.factors_o.defined()) accumulate_magnitude(pull, x, u_nr, beta);
    }
}

TrainedModel::TrainedModel(const ModelConfig& model, const Lora& lora, Precision precision, at::Device device,
                           const Sharding& sharding, const Quantization& quantization)
    : weights(model, precision, device, sharding,
              lora.on() ? Parameters::Use::Frozen : Parameters::Use::Trained, quantization) {
    if (quantization.on()) quantized.emplace(model, quantization, weights.compute_dtype(), device, sharding);
    if (lora.on()) adapter.emplace(model, lora, precision, device, sharding);
}

std::vector<Parameters*> TrainedModel::all() {
    std::vector<Parameters*> held = {&weights};
    if (quantized) held.push_back(&quantized->bytes());
    if (adapter) held.push_back(&adapter->parameters());
    return held;
}

void TrainedModel::initialize_weights(const ModelConfig& model, int64_t seed) {
    if (!quantized) return weights.initialize(model, seed);
    InitialValues initial(model, seed);
    size_t kept = 0, in_bytes = 0;
    for (const ParameterShape& shape : parameter_shapes(model)) {
        const at::Tensor values = initial.next(shape);
        if (is_quantized(shape, quantized->quantization()))
            quantized->put(in_bytes++, values);
        else
            weights.put(kept++, is_rounded(shape, quantized->quantization())
                                    ? rounded(values, quantized->quantization(), weights.compute_dtype())
                                    : values);
    }
    for (Parameters* held : {&weights, &quantized->bytes()}) held->share_update();
}

void TrainedModel::load_weights(const std::string& model_dir, const ModelConfig& model, int64_t seed) {
    InitialValues of_scores(model, seed);
    weights.load(model_dir, model.num_labels > 0 ? &of_scores : nullptr,
                 quantized ? quantized->quantization() : Quantization{});
    if (quantized) quantized->load(model_dir);
}

}  // namespace ringmaster
