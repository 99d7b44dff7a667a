/// A model's parameters, gradients and their names. Each lives in one flat tensor in the order of
/// parameter_shapes (plan), so that a layer is one contiguous range (one reduction), q, k and v are one
/// matrix, and so are gate and up.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "engine/config/config.h"
#include "engine/plan/model_config.h"

namespace ringmaster {

/// Views into a flat tensor (weights or gradients); undefined where the model has no such parameter.
struct LayerTensors {
    at::Tensor input_norm_w;    ///< [hidden]
    at::Tensor qkv_oc;          ///< [(H + 2K)·D, hidden]
    at::Tensor qkv_bias_o;      ///< [(H + 2K)·D]
    at::Tensor q_norm_d;        ///< [D]
    at::Tensor k_norm_d;        ///< [D]
    at::Tensor output_oc;       ///< [hidden, H·D]
    at::Tensor output_bias_o;   ///< [hidden]
    at::Tensor post_norm_w;     ///< [hidden]
    at::Tensor gate_up_oc;      ///< [2I, hidden]
    at::Tensor gate_up_bias_o;  ///< [2I]
    at::Tensor down_oc;         ///< [hidden, I]
    at::Tensor down_bias_o;     ///< [hidden]
};

struct ModelTensors {
    at::Tensor embedding_vc;  ///< [vocab, hidden]
    std::vector<LayerTensors> layers;
    at::Tensor norm_w;   ///< [hidden]
    at::Tensor head_vc;  ///< [vocab, hidden]; the embedding itself where they are tied
};

/// Elements [begin, end) of the flat tensors.
struct FlatRange {
    int64_t begin = 0;
    int64_t end = 0;
    int64_t size() const { return end - begin; }
};

class Parameters {
  public:
    Parameters(const ModelConfig& model, Precision precision, at::Device device);

    const std::vector<ParameterShape>& shapes() const { return shapes_; }
    FlatRange range_of(size_t index) const { return {offsets_[index], offsets_[index + 1]}; }
    FlatRange range_of_layer(int layer) const;  ///< contiguous
    /// Everything before the first layer (the embedding), and everything behind the last (final norm, head).
    FlatRange range_of_embedding() const;
    FlatRange range_of_head() const;
    int64_t count() const { return offsets_.back(); }

    /// What the optimizer updates: float32, or bfloat16 under `bf16: full`.
    at::Tensor& master() { return master_; }
    at::Tensor& gradients() { return gradients_; }
    at::Tensor view(const at::Tensor& flat, size_t index) const;

    /// In the dtype of computation: the master itself, or its bfloat16 copy under `bf16: true`.
    const ModelTensors& weights() const { return weights_; }
    const ModelTensors& weight_gradients() const { return weight_gradients_; }
    at::ScalarType compute_dtype() const { return compute_.scalar_type(); }
    /// Brings the bfloat16 copy up to the master; nothing where they are one.
    void refresh_compute();

    /// transformers' initialisation (normal with initializer_range, biases 0, norms 1), the same on every
    /// rank.
    void initialize(const ModelConfig& model, int64_t seed);
    /// Reads a Hugging Face folder (model.safetensors, or shards by their index). Throws Error naming the
    /// file and tensor.
    void load(const std::string& model_dir);

  private:
    ModelTensors views_of(const at::Tensor& flat) const;

    std::vector<ParameterShape> shapes_;
    std::vector<int64_t> offsets_;  ///< one more than shapes_
    int num_layers_ = 0;
    at::Tensor master_;
    at::Tensor compute_;
    at::Tensor gradients_;
    ModelTensors weights_;
    ModelTensors weight_gradients_;
};

/// Writes the master as a Hugging Face folder's weights: one model.safetensors, or shards of at most
/// `shard_bytes` with an index. `dtype` is kFloat or kBFloat16. Durable when it returns; throws
/// Error(Refused) on a full disk.
void save_weights(Parameters& parameters, const std::string& dir, at::ScalarType dtype,
                  int64_t shard_bytes = 5'000'000'000);

}  // namespace ringmaster
