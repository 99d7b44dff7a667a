/// A low-rank adapter (engine/config/lora.h) beside a decoder's frozen weights: its parameters, and its part
/// of the forward and backward of each matrix.
///
/// Its states follow the ZeRO stage of the weights: one rule for both, and all ranks gather the same units in
/// the same order. Nothing is kept for the backward: x·Aᵀ is computed again, and so is dropout's mask.
///
/// Letters: N tokens, C inputs and O outputs of a module, R its rank.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/model/layer_sites.h"
#include "engine/model/parameters.h"
#include "engine/model/quantized_base.h"

namespace ringmaster {

class Adapter {
  public:
    Adapter(const ModelConfig& model, const Lora& lora, Precision precision, at::Device device,
            Sharding sharding = {});

    Parameters& parameters() { return parameters_; }
    bool drops() const { return lora_.dropout > 0; }

    /// What dropout is drawn from, beside the tokens.
    void begin_step(int64_t seed, int64_t step);
    /// A forward and backward over tokens at these places in the data (int64 [N]; -1: padding). Undefined:
    /// nothing is dropped.
    void begin_tokens(const at::Tensor& places_n);
    /// The factors of a module's inputs in this step; 0 if dropout drops the input.
    /// float32 [N, width], or undefined without dropout. `places_n` as begin_tokens.
    at::Tensor dropout_factors(int layer, size_t target, const at::Tensor& places_n, int64_t width) const;
    double scale() const { return scale_; }
    /// The layer that is computed from now on; its weights are here.
    void enter_layer(int layer) { layer_ = layer; }

    /// y_no += its part of the site's output. x_nc are the tokens from `first` on.
    void add_forward(LoraSite site, const at::Tensor& x_nc, const at::Tensor& y_no, int64_t first = 0) const;

  private:
    friend class AdapterBackward;

    /// A module that is adapted, and its columns of the site's output.
    struct Module {
        size_t target;
        int64_t first_column, columns;
        LowRank weights, gradients;
    };
    std::vector<Module> modules_of(LoraSite site) const;
    at::Tensor dropped(const at::Tensor& x_nc, size_t target, int64_t first) const;

    const Lora lora_;
    const double scale_;
    std::array<int64_t, kLoraTargets.size()> columns_;  ///< outputs of each module
    Parameters parameters_;
    int layer_ = 0;
    uint64_t stream_ = 0;  ///< of dropout, in this step
    at::Tensor keys_2n_;   ///< of its tokens; undefined: nothing is dropped
};

/// The backward of `add_forward` at the layer that the adapter is in; of no adapter (nullptr) nothing. What
/// it needs of dy_no is taken at once, so that either gradient may come first.
class AdapterBackward {
  public:
    AdapterBackward(const Adapter* adapter, LoraSite site, const at::Tensor& dy_no, int64_t first = 0);
    void add_input_gradient(const at::Tensor& dx_nc) const;
    /// Of A and B: ← beta · themselves + their gradient.
    void accumulate(const at::Tensor& x_nc, double beta) const;

  private:
    struct Pull {
        Adapter::Module module;
        at::Tensor du_nr;  ///< gradient of x·Aᵀ
    };
    const Adapter* adapter_;
    at::Tensor dy_no_;
    int64_t first_;
    std::vector<Pull> pulls_;
};

/// What a run computes with, and what of it is trained: the weights, or an adapter beside frozen ones, whose
/// layers' matrices may be quantised.
struct TrainedModel {
    TrainedModel(const ModelConfig& model, const Lora& lora, Precision precision, at::Device device,
                 const Sharding& sharding = {}, const Quantization& quantization = {});

    Parameters weights;
    std::optional<QuantizedBase> quantized;  ///< the matrices that `weights` lacks
    std::optional<Adapter> adapter;

    Parameters& trained() { return adapter ? adapter->parameters() : weights; }
    Adapter* adapter_or_null() { return adapter ? &*adapter : nullptr; }
    QuantizedBase* quantized_or_null() { return quantized ? &*quantized : nullptr; }
    /// All that ranks hold, the frozen weights first.
    std::vector<Parameters*> all();

    /// The model's weights, not the adapter: random ones, or those of a folder.
    void initialize_weights(const ModelConfig& model, int64_t seed);
    void load_weights(const std::string& model_dir);
};

}  // namespace ringmaster
