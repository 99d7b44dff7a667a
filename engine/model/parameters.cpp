#include "engine/model/parameters.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>

#include <map>

#include "engine/error.h"

namespace ringmaster {

namespace {

bool ends_with(const std::string& name, const char* ending) {
    return name.ends_with(ending);
}

/// Builds one view over parameters that lie side by side: [Σ rows, …].
class ViewBuilder {
  public:
    ViewBuilder(const std::vector<ParameterShape>& shapes, const std::vector<int64_t>& offsets,
                const at::Tensor& flat)
        : offsets_(offsets), flat_(flat), shapes_(shapes) {
        for (size_t i = 0; i < shapes.size(); ++i) index_[shapes[i].name] = i;
    }

    at::Tensor joined(const std::vector<std::string>& names) const {
        auto first = index_.find(names.front());
        if (first == index_.end()) return {};
        std::vector<int64_t> shape = shapes_[first->second].shape;
        shape[0] = 0;
        for (size_t i = 0; i < names.size(); ++i) {
            TORCH_INTERNAL_ASSERT(index_.at(names[i]) == first->second + i);
            shape[0] += shapes_[first->second + i].shape[0];
        }
        int64_t begin = offsets_[first->second];
        return flat_.narrow(0, begin, offsets_[first->second + names.size()] - begin).view(shape);
    }

    at::Tensor one(const std::string& name) const { return joined({name}); }

  private:
    const std::vector<int64_t>& offsets_;
    const at::Tensor& flat_;
    const std::vector<ParameterShape>& shapes_;
    std::map<std::string, size_t> index_;
};

LayerTensors layer_views(const ViewBuilder& build, int layer) {
    const std::string prefix = "model.layers." + std::to_string(layer) + ".";
    const std::string attention = prefix + "self_attn.";
    const std::string mlp = prefix + "mlp.";
    LayerTensors views;
    views.input_norm_w = build.one(prefix + "input_layernorm.weight");
    views.qkv_oc =
        build.joined({attention + "q_proj.weight", attention + "k_proj.weight", attention + "v_proj.weight"});
    views.qkv_bias_o =
        build.joined({attention + "q_proj.bias", attention + "k_proj.bias", attention + "v_proj.bias"});
    views.q_norm_d = build.one(attention + "q_norm.weight");
    views.k_norm_d = build.one(attention + "k_norm.weight");
    views.output_oc = build.one(attention + "o_proj.weight");
    views.output_bias_o = build.one(attention + "o_proj.bias");
    views.post_norm_w = build.one(prefix + "post_attention_layernorm.weight");
    views.gate_up_oc = build.joined({mlp + "gate_proj.weight", mlp + "up_proj.weight"});
    views.gate_up_bias_o = build.joined({mlp + "gate_proj.bias", mlp + "up_proj.bias"});
    views.down_oc = build.one(mlp + "down_proj.weight");
    views.down_bias_o = build.one(mlp + "down_proj.bias");
    return views;
}

}  // namespace

Parameters::Parameters(const ModelConfig& model, Precision precision, at::Device device)
    : shapes_(parameter_shapes(model)), num_layers_(static_cast<int>(model.num_layers)) {
    offsets_.push_back(0);
    for (const ParameterShape& shape : shapes_) offsets_.push_back(offsets_.back() + shape.size());
    const at::ScalarType dtype = precision == Precision::Bf16Full ? at::kBFloat16 : at::kFloat;
    const auto options = at::TensorOptions().device(device);
    master_ = at::empty({count()}, options.dtype(dtype));
    compute_ =
        precision == Precision::Bf16Mixed ? at::empty({count()}, options.dtype(at::kBFloat16)) : master_;
    gradients_ = at::empty({count()}, options.dtype(dtype));
    weights_ = views_of(compute_);
    weight_gradients_ = views_of(gradients_);
}

ModelTensors Parameters::views_of(const at::Tensor& flat) const {
    ViewBuilder build(shapes_, offsets_, flat);
    ModelTensors views;
    views.embedding_vc = build.one("model.embed_tokens.weight");
    for (int layer = 0; layer < num_layers_; ++layer) views.layers.push_back(layer_views(build, layer));
    views.norm_w = build.one("model.norm.weight");
    views.head_vc = build.one("lm_head.weight");
    if (!views.head_vc.defined()) views.head_vc = views.embedding_vc;
    return views;
}

FlatRange Parameters::range_of_layer(int layer) const {
    FlatRange range{count(), 0};
    for (size_t i = 0; i < shapes_.size(); ++i) {
        if (shapes_[i].layer != layer) continue;
        range.begin = std::min(range.begin, offsets_[i]);
        range.end = offsets_[i + 1];
    }
    return range;
}

FlatRange Parameters::range_of_embedding() const {
    return {0, range_of_layer(0).begin};
}

FlatRange Parameters::range_of_head() const {
    return {range_of_layer(num_layers_ - 1).end, count()};
}

at::Tensor Parameters::view(const at::Tensor& flat, size_t index) const {
    FlatRange range = range_of(index);
    return flat.narrow(0, range.begin, range.size()).view(shapes_[index].shape);
}

void Parameters::refresh_compute() {
    if (!compute_.is_same(master_)) compute_.copy_(master_);
}

void Parameters::initialize(const ModelConfig& model, int64_t seed) {
    at::Generator generator = at::detail::createCPUGenerator(static_cast<uint64_t>(seed));
    for (size_t i = 0; i < shapes_.size(); ++i) {
        at::Tensor values = at::empty(shapes_[i].shape, at::kFloat);
        if (ends_with(shapes_[i].name, "bias")) {
            values.zero_();
        } else if (ends_with(shapes_[i].name, "norm.weight")) {
            values.fill_(1);
        } else {
            values.normal_(0, model.initializer_range, generator);
        }
        view(master_, i).copy_(values);
    }
    refresh_compute();
}

}  // namespace ringmaster
