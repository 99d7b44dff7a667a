#include "engine/model/parameters.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "engine/error.h"
#include "engine/model/dtypes.h"
#include "engine/model/host_arena.h"
#include "engine/model/host_link.h"

namespace ringmaster {

Parameters::Parameters(const ModelConfig& model, Precision precision, at::Device device, Sharding sharding,
                       Use use, const Quantization& quantization)
    : Parameters(kept_shapes(model, quantization), "model", model, precision, device, std::move(sharding),
                 use) {
    buffers_ = buffer_shapes(model);
    for (const ParameterShape& shape : buffers_) {
        const bool is_number = shape.role == Role::LayerScalar;  // the host reads this number
        const auto options = at::TensorOptions().device(is_number ? at::kCPU : device).dtype(at::kFloat);
        buffer_values_.push_back(at::full(shape.shape, is_number ? 1 : 0, options));
    }
}

at::Tensor Parameters::buffer(Role role, int layer) const {
    for (size_t i = 0; i < buffers_.size(); ++i)
        if (buffers_[i].role == role && buffers_[i].layer == layer) return buffer_values_[i];
    return {};
}

Parameters::Parameters(const ModelConfig& model, const Quantization& quantization, at::Device device,
                       Sharding sharding)
    : Parameters(quantized_shapes(model, quantization), "model", model, Precision::Float32, device,
                 std::move(sharding), Use::Bytes) {}

Parameters::Parameters(const ModelConfig& model, const Lora& lora, Precision precision, at::Device device,
                       Sharding sharding)
    : Parameters(lora_shapes(model, lora), "adapter_model", model, precision, device, std::move(sharding),
                 Use::Trained) {}

Parameters::Parameters(std::vector<ParameterShape> shapes, std::string file_stem, const ModelConfig& model,
                       Precision precision, at::Device device, Sharding sharding, Use use)
    : shapes_(std::move(shapes)),
      file_stem_(std::move(file_stem)),
      sharding_(std::move(sharding)),
      num_layers_(static_cast<int>(model.num_layers)),
      experts_transposed_(model.experts_transposed),
      device_(device) {
    if (sharding_.groups && sharding_.stage > 0 && sharding_.groups->shard().size() > 1)
        stage_ = sharding_.stage;
    divide_experts();
    lay_out_units();
    const bool frozen = use != Use::Trained;
    const bool mixed = is_mixed(precision) && !frozen;
    const bool in_host = sharding_.states_in_host && !frozen, streams = sharding_.weights_in_host;
    const bool apart = mixed || (in_host && !streams);  // a pass reads a copy of the master
    const at::ScalarType computes = compute_dtype_of(precision);
    const at::ScalarType dtype = use == Use::Bytes ? at::kByte : mixed ? at::kFloat : computes;
    const auto flat = [this](bool host, bool sharded, at::ScalarType type) {
        return host ? host_flat(*this, sharded, type) : make_flat(sharded, type, device_);
    };
    TORCH_INTERNAL_ASSERT(frozen || in_host || !streams);
    master_ = flat(frozen ? streams : in_host, stage_ == 3 || (stage_ > 0 && apart), dtype);
    compute_ = apart ? flat(streams, stage_ == 3, computes) : master_;
    if (!frozen) gradients_ = flat(in_host, stage_ >= (in_host ? 1 : 2), dtype);
    if (streams) from_host_ = std::make_shared<HostLink>(device_);
    if (in_host) to_host_ = std::make_shared<HostLink>(device_);
    weights_.layers.resize(static_cast<size_t>(num_layers_));
    weight_gradients_.layers.resize(static_cast<size_t>(num_layers_));
    for (int unit = 0; unit < units(); ++unit) {
        if (!compute_.sharded && !sharding_.weights_in_host) bind(weights_, unit, whole_unit(compute_, unit));
        if (!gradients_are_taken() && !frozen) bind(weight_gradients_, unit, whole_unit(gradients_, unit));
    }
}

/// Assigns parameters to units. With expert parallelism, moves the experts' parameters after all others, so
/// that the parameters of each unit stay adjacent.
void Parameters::divide_experts() {
    const auto of_experts = [](const ParameterShape& shape) { return is_of_stacked_experts(shape.role); };
    const bool has_experts = std::any_of(shapes_.begin(), shapes_.end(), of_experts);
    if (stage_ == 3 && has_experts) expert_parts_ = sharding_.groups->mesh().expert;
    std::vector<size_t> order(shapes_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    if (expert_parts_ > 1)
        std::stable_partition(order.begin(), order.end(), [&](size_t i) { return !of_experts(shapes_[i]); });
    std::vector<ParameterShape> ordered;
    drawn_.resize(order.size());
    units_.resize(static_cast<size_t>(num_layers_) + 2);
    for (size_t i = 0; i < order.size(); ++i) {
        const ParameterShape& shape = ordered.emplace_back(std::move(shapes_[order[i]]));
        drawn_[order[i]] = i;
        int unit = shape.layer >= 0              ? unit_of_layer(shape.layer)
                   : is_of_embedding(shape.role) ? 0
                                                 : head_unit();
        if (expert_parts_ > 1 && of_experts(shape)) {
            units_[static_cast<size_t>(unit)].experts.push_back(units());
            unit = units();
            units_.emplace_back().parameter = i;
        }
        unit_of_.push_back(unit);
    }
    shapes_ = std::move(ordered);
}

void Parameters::lay_out_units() {
    const int ranks = stage_ > 0 ? sharding_.groups->shard().size() : 1;
    const int rank = stage_ > 0 ? sharding_.groups->shard().rank() : 0;
    for (size_t i = 0; i < shapes_.size(); ++i) {
        index_[shapes_[i].name] = i;
        units_[static_cast<size_t>(unit_of(i))].elements += shapes_[i].size();
    }
    FlatRange whole;
    int64_t shard_begin = 0;
    for (Unit& unit : units_) {
        const int64_t slice = slice_elements(unit.elements, ranks);
        const bool is_of_experts = &unit - units_.data() > head_unit();
        TORCH_INTERNAL_ASSERT(!is_of_experts || slice * ranks == unit.elements);  // experts divide evenly
        whole = {whole.end, whole.end + ranks * slice};
        unit.whole = whole;
        unit.own = {whole.begin + rank * slice, whole.begin + (rank + 1) * slice};
        unit.shard_begin = shard_begin;
        shard_begin += slice;
    }
    int64_t end = 0;
    for (size_t i = 0; i < shapes_.size(); ++i) {
        const bool first = i == 0 || unit_of(i) != unit_of(i - 1);
        offsets_.push_back(first ? units_[static_cast<size_t>(unit_of(i))].whole.begin : end);
        end = offsets_.back() + shapes_[i].size();
    }
}

int Parameters::unit_of(size_t index) const {
    return unit_of_[index];
}

std::optional<Group> Parameters::expert_group() const {
    if (expert_parts_ == 1) return std::nullopt;
    Groups groups = *sharding_.groups;
    return groups.experts();
}

Group& Parameters::group_of(int unit) {
    return holds_experts(unit) ? sharding_.groups->expert_part() : sharding_.groups->shard();
}

FlatRange Parameters::part_of(int unit) const {
    const Unit& at = units_[static_cast<size_t>(unit)];
    const int64_t size = at.whole.size() / (holds_experts(unit) ? expert_parts_ : 1);
    const int64_t begin = holds_experts(unit) ? (at.own.begin - at.whole.begin) / size * size : 0;
    return {begin, begin + size};
}

std::vector<int> Parameters::units_of_head() const {
    if (file_stem_ == "adapter_model" || index_.contains("lm_head.weight")) return {head_unit()};
    return {0, head_unit()};
}

std::string Parameters::name_of(int unit) const {
    if (!holds_experts(unit))
        return unit == 0 ? "embedding" : unit == head_unit() ? "head" : "layer " + std::to_string(unit - 1);
    const ParameterShape& shape = shapes_[units_[static_cast<size_t>(unit)].parameter];
    return "experts of layer " + std::to_string(shape.layer);
}

// ------------------------------------------------------------------------------------------ flat tensors

Flat Parameters::make_flat(bool sharded, at::ScalarType dtype, at::Device device) const {
    const Unit& last = units_.back();
    const int64_t elements = sharded ? last.shard_begin + last.own.size() : last.whole.end;
    return {at::zeros({elements}, at::TensorOptions().device(device).dtype(dtype)), sharded};
}

at::Tensor Parameters::whole_unit(const Flat& flat, int unit) const {
    TORCH_INTERNAL_ASSERT(!flat.sharded);
    const FlatRange& range = units_[static_cast<size_t>(unit)].whole;
    return flat.values.narrow(0, range.begin, range.size());
}

at::Tensor Parameters::own_slice(const Flat& flat, int unit) const {
    const Unit& at = units_[static_cast<size_t>(unit)];
    return flat.values.narrow(0, flat.sharded ? at.shard_begin : at.own.begin, at.own.size());
}

FlatRange Parameters::own_elements(size_t index) const {
    const FlatRange all = range_of(index), own = units_[static_cast<size_t>(unit_of(index))].own;
    const int64_t begin = std::max(all.begin, own.begin), end = std::min(all.end, own.end);
    return begin < end ? FlatRange{begin - all.begin, end - all.begin} : FlatRange{};
}

at::Tensor Parameters::own_values(const Flat& flat, size_t index) const {
    const FlatRange own = own_elements(index);
    if (own.size() == 0) return flat.values.narrow(0, 0, 0);
    const Unit& unit = units_[static_cast<size_t>(unit_of(index))];
    const int64_t begin = offsets_[index] + own.begin;
    return flat.values.narrow(0, flat.sharded ? begin - unit.own.begin + unit.shard_begin : begin,
                              own.size());
}

// ------------------------------------------------------------------------------------------ views

/// Joins those parameters that exist.
at::Tensor Parameters::all(std::vector<std::string> names, const at::Tensor& values) const {
    std::erase_if(names, [&](const std::string& name) { return !index_.contains(name); });
    return names.empty() ? at::Tensor() : joined(names, values);
}

at::Tensor Parameters::joined(const std::vector<std::string>& names, const at::Tensor& values) const {
    const auto first = index_.find(names.front());
    if (first == index_.end() || !values.defined()) return {};
    std::vector<int64_t> shape = shapes_[first->second].shape;
    shape[0] = 0;
    int64_t elements = 0;
    for (size_t i = 0; i < names.size(); ++i) {
        TORCH_INTERNAL_ASSERT(index_.at(names[i]) == first->second + i);
        shape[0] += shapes_[first->second + i].shape[0];
        elements += shapes_[first->second + i].size();
    }
    return values.narrow(0, begin_in_unit(first->second), elements).view(shape);
}

int64_t Parameters::begin_in_unit(size_t index) const {
    return offsets_[index] - units_[static_cast<size_t>(unit_of(index))].whole.begin;
}

at::Tensor Parameters::view(const at::Tensor& unit_values, size_t index) const {
    return unit_values.narrow(0, begin_in_unit(index), shapes_[index].size()).view(shapes_[index].shape);
}

namespace {

/// Names of the norms, by NormSite.
constexpr std::array<const char*, kNormSites> kNormNames = {"input_layernorm",
                                                            "self_attn.q_norm",
                                                            "self_attn.k_norm",
                                                            "attention_output_norm",
                                                            "post_attention_layernorm",
                                                            "mlp_output_norm",
                                                            "self_attn.q_a_layernorm",
                                                            "self_attn.kv_a_layernorm",
                                                            "self_attn.v_norm",
                                                            "mlp_part_norm",
                                                            "experts_norm",
                                                            "experts_part_norm",
                                                            "router_norm",
                                                            "post_per_layer_input_norm",
                                                            "linear_attn.dt_layernorm",
                                                            "linear_attn.b_layernorm",
                                                            "linear_attn.c_layernorm"};

}  // namespace

LayerTensors Parameters::layer_views(int layer, const at::Tensor& values) const {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    const auto of_modules = [&](TargetRange targets, const char* part) {
        std::vector<std::string> names;
        for (size_t i = 0; i < targets.count; ++i)
            names.push_back(prefix + module_path(targets.first + i) + part);
        return all(std::move(names), values);
    };
    LayerTensors views;
    for (size_t i = 0; i < kLoraSites; ++i) {
        const TargetRange targets = targets_of(static_cast<LoraSite>(i));
        views.matrices[i] = {of_modules(targets, ".weight"), of_modules(targets, ".bias")};
    }
    for (size_t i = 0; i < kNormSites; ++i)
        views.norms[i] = all({prefix + kNormNames[i] + ".weight", prefix + kNormNames[i] + ".bias"}, values);
    const std::string delta = prefix + "linear_attn.";
    // The recurrence adds the bias of Mamba-1's steps, in float32.
    views.matrices[static_cast<size_t>(LoraSite::Steps)].bias_o.reset();
    views.delta = {
        all({delta + "conv1d.weight"}, values), all({delta + "dt_bias", delta + "dt_proj.bias"}, values),
        all({delta + "A_log"}, values),         all({delta + "norm.weight"}, values),
        all({delta + "conv1d.bias"}, values),   all({delta + "D"}, values)};
    views.router_ec = all({prefix + "mlp.gate.weight"}, values);
    views.router_bias_e = all({prefix + "mlp.gate.bias"}, values);
    views.norms[static_cast<size_t>(NormSite::Router)] = all({prefix + "router.scale"}, values);
    views.expert_scales_e = all({prefix + "router.per_expert_scale"}, values);
    for (const char* name : {"gate_up_proj", "down_proj", "gate_up_proj_bias", "down_proj_bias"}) {
        const auto found = index_.find(prefix + "mlp.experts." + name);
        if (found == index_.end() || holds_experts(unit_of(found->second))) continue;
        bind_experts(views, found->second, all({found->first}, values));
    }
    views.sinks_h = all({prefix + "self_attn.sinks"}, values);
    for (size_t i = 0; i < kModulePaths.size(); ++i) {
        const std::string module = "base_model.model." + prefix + module_path(i);
        views.lora[i] = {all({module + ".lora_A.weight"}, values), all({module + ".lora_B.weight"}, values),
                         all({module + ".lora_magnitude_vector"}, values)};
    }
    for (size_t i = 0; i < kExpertParameters.size(); ++i) {
        const std::string module = "base_model.model." + prefix + kExpertParameters[i];
        views.expert_lora[i] = {
            all({module + ".lora_A.weight"}, values), all({module + ".lora_B.weight"}, values), {}};
    }
    return views;
}

/// Sets the view of an experts' parameter. `values` holds all experts, or those of this rank's part.
void Parameters::bind_experts(LayerTensors& views, size_t index, const at::Tensor& values) const {
    const ParameterShape& shape = shapes_[index];
    at::Tensor stored = values;
    if (stored.defined() && stored.dim() == 1) {
        std::vector<int64_t> sizes = shape.shape;
        sizes[0] = -1;
        stored = stored.view(sizes);
    }
    if (experts_transposed_ && stored.defined() && stored.dim() == 3) stored = stored.transpose(1, 2);
    if (shape.role == Role::ExpertGateUp) views.experts_gate_up_exc = stored;
    if (shape.role == Role::ExpertDown) views.experts_down_eci = stored;
    if (shape.role == Role::ExpertGateUpBias) views.experts_gate_up_bias_ex = stored;
    if (shape.role == Role::ExpertDownBias) views.experts_down_bias_ec = stored;
}

void Parameters::bind(ModelTensors& views, int unit, const at::Tensor& values) const {
    if (holds_experts(unit)) {
        const size_t index = units_[static_cast<size_t>(unit)].parameter;
        return bind_experts(views.layers[static_cast<size_t>(shapes_[index].layer)], index, values);
    }
    if (is_of_layer(unit)) {
        views.layers[static_cast<size_t>(unit - 1)] = layer_views(unit - 1, values);
        return;
    }
    const std::string prefix = file_stem_ == "adapter_model" ? "base_model.model." : "";
    const bool tied = prefix.empty() && !index_.contains("lm_head.weight");
    if (unit == 0) {
        views.embedding_vc = joined({prefix + "model.embed_tokens.weight"}, values);
        views.layer_inputs_vw = all({prefix + "model.embed_tokens_per_layer.weight"}, values);
        views.layer_projection_wc = all({prefix + "model.per_layer_model_projection.weight"}, values);
        views.layer_projection_norm_p = all({prefix + "model.per_layer_projection_norm.weight"}, values);
        if (tied) views.head_vc = views.embedding_vc;
    } else {
        views.norm_w = all({prefix + "model.norm.weight", prefix + "model.norm.bias"}, values);
        views.head_bias_v = all({prefix + "lm_head.bias"}, values);
        if (!tied) views.head_vc = joined({prefix + "lm_head.weight"}, values);
    }
}

InitialValues::InitialValues(const ModelConfig& model, int64_t seed)
    : range_(model.initializer_range),
      norm_(model.norm_adds_one ? 0 : 1),
      generator_(at::detail::createCPUGenerator(static_cast<uint64_t>(seed))) {}

at::Tensor InitialValues::next(const ParameterShape& shape) {
    at::Tensor values = at::empty(shape.shape, at::kFloat);
    const std::string& name = shape.name;
    // Mamba-1's A_log has the same values for every channel.
    if (name.ends_with("A_log") && shape.shape.size() == 2)
        return values.copy_(at::arange(1, shape.shape[1] + 1, at::kFloat).log_().expand_as(values));
    if (shape.role == Role::Recurrence && shape.shape.size() == 1 && !name.ends_with(".bias"))
        return name.ends_with("A_log") ? values.uniform_(0.01, 16, generator_).log_() : values.fill_(1);
    if (shape.role == Role::RouterNorm || shape.role == Role::ExpertScales) return values.fill_(1);
    const bool is_bias = name.ends_with("bias") && shape.role != Role::RouterBias;
    if (is_bias || name.ends_with("lora_B.weight")) return values.zero_();
    if (name.ends_with("norm.weight")) return values.fill_(norm_);
    if (!name.ends_with("lora_A.weight")) return values.normal_(0, range_, generator_);
    const double bound = 1 / std::sqrt(static_cast<double>(shape.shape[1]));
    return values.uniform_(-bound, bound, generator_);
}

void Parameters::put(size_t index, const at::Tensor& values) {
    const FlatRange own = own_elements(index);
    own_values(master_, index).copy_(values.reshape({-1}).narrow(0, own.begin, own.size()));
}

void Parameters::initialize(const ModelConfig& model, int64_t seed) {
    InitialValues initial(model, seed);
    for (const size_t i : drawn_) put(i, initial.next(shapes_[i]));
    share_update();
}

}  // namespace ringmaster
