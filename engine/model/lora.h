/// Implements a low-rank adapter (engine/config/lora.h) on a decoder's frozen weights: its parameters, and
/// its part in the forward and backward of each matrix.
///
/// Its states are sharded by the same ZeRO stage as the weights, and all ranks gather the same units in the
/// same order. Nothing is kept for the backward pass, which recomputes x·Aᵀ and dropout's mask.
///
/// With DoRA (Liu et al. 2024, equation 5) a module's output is x·Wᵀ + (g − 1)∘(x̃·Wᵀ) + g∘s·x̃·Aᵀ·Bᵀ, with
/// x̃ = dropout(x) and g = magnitude ÷ the length of each row of W + s·B·A. No gradient flows through these
/// lengths.
///
/// Letters: N tokens, C inputs and O outputs of a module, R its rank.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "engine/blocks/sites.h"
#include "engine/model/expert_adapter.h"
#include "engine/model/parameters.h"
#include "engine/model/quantized_base.h"

namespace ringmaster {

/// The frozen matrix and bias of a site, which only DoRA reads.
struct FrozenLinear {
    at::Tensor weight_oc, bias_o;
};

class Adapter {
  public:
    Adapter(const ModelConfig& model, const Lora& lora, Precision precision, at::Device device,
            Sharding sharding = {});

    Parameters& parameters() { return parameters_; }
    bool drops() const { return lora_.dropout > 0; }
    bool reads_weights() const { return lora_.dora; }

    /// Sets the seed and the step, which together with the tokens' places determine dropout.
    void begin_step(int64_t seed, int64_t step);
    /// Begins a forward and backward over tokens at these places in the data (int64 [N]; -1: padding). If
    /// `places_n` is undefined, nothing is dropped.
    void begin_tokens(const at::Tensor& places_n);
    /// Returns the factors of a module's inputs in this step: float32 [N, width], 0 for dropped inputs;
    /// undefined without dropout. `places_n` is as in begin_tokens.
    at::Tensor dropout_factors(int layer, size_t target, const at::Tensor& places_n, int64_t width) const;
    double scale() const { return scale_; }
    /// Sets the current layer; its weights must be on this rank.
    void enter_layer(int layer) { layer_ = layer; }

    /// Adds the adapter's part to y_no, the site's output. x_nc holds the tokens from `first` on. `decodes`
    /// selects the products of engine/model/decode_ops.h.
    void add_forward(LoraSite site, const at::Tensor& x_nc, const at::Tensor& y_no, int64_t first = 0,
                     const FrozenLinear& frozen = {}, bool decodes = false) const;

    /// Returns the current layer's adapter on one of kExpertParameters.
    ExpertAdapter of_experts(size_t parameter) const;

  private:
    friend class AdapterBackward;

    /// An adapted module, and its columns in the site's output.
    struct Module {
        size_t target;
        int64_t first_column, columns;
        LowRank weights, gradients;
    };
    std::vector<Module> modules_of(LoraSite site) const;
    static void add_low_rank(const at::Tensor& y_no, const at::Tensor& u_nr, const at::Tensor& b_or,
                             bool decodes);
    void add_dora(const Module& module, const at::Tensor& x_nc, const at::Tensor& u_nr,
                  const at::Tensor& y_no, const FrozenLinear& frozen, bool decodes) const;
    /// Returns the lengths of the rows of the adapted matrix, float32.
    at::Tensor row_lengths(const Module& module, const at::Tensor& weight_oc) const;
    at::Tensor dropped(const at::Tensor& x_nc, size_t target, int64_t first) const;

    const Lora lora_;
    const double scale_;
    const at::ScalarType dtype_;  ///< dtype of computation; with DoRA the adapter's weights stay float32
    /// Each module's number of outputs, by layer, counted without the modules fused with it.
    std::vector<std::array<int64_t, kModulePaths.size()>> columns_;
    Parameters parameters_;
    int layer_ = 0;
    uint64_t stream_ = 0;  ///< stream of dropout in this step
    at::Tensor keys_2n_;   ///< dropout keys of the tokens; if undefined, nothing is dropped
};

/// Computes the backward of `add_forward` at the adapter's current layer; does nothing without an adapter
/// (nullptr). The constructor computes the gradients of x·Aᵀ from dy_no, so that the other two functions may
/// be called in either order.
class AdapterBackward {
  public:
    AdapterBackward(const Adapter* adapter, LoraSite site, const at::Tensor& dy_no, int64_t first = 0,
                    at::Tensor weight_oc = {});
    void add_input_gradient(const at::Tensor& dx_nc) const;
    /// Sets the gradients of A, B and the magnitude to beta · gradient + new gradient.
    void accumulate(const at::Tensor& x_nc, double beta) const;

  private:
    struct Pull {
        Adapter::Module module;
        at::Tensor du_nr;      ///< gradient of x·Aᵀ
        at::Tensor lengths_o;  ///< lengths of the adapted matrix's rows; set for DoRA only
        at::Tensor factors_o;  ///< magnitude ÷ length, float32
    };
    at::Tensor dy_of(const Adapter::Module& module) const {
        return dy_no_.narrow(1, module.first_column, module.columns);
    }
    at::Tensor weight_of(const Adapter::Module& module) const {
        return weight_oc_.narrow(0, module.first_column, module.columns);
    }
    void accumulate_b(const Pull& pull, const at::Tensor& u_nr, double beta) const;
    void accumulate_magnitude(const Pull& pull, const at::Tensor& x_nc, const at::Tensor& u_nr,
                              double beta) const;
    const Adapter* adapter_;
    at::Tensor dy_no_;
    at::Tensor weight_oc_;  ///< the site's frozen matrix, with DoRA
    int64_t first_;
    std::vector<Pull> pulls_;
};

/// Holds the weights that a run computes with, and the parameters that it trains: the weights themselves, or
/// an adapter on frozen, possibly quantised weights.
struct TrainedModel {
    TrainedModel(const ModelConfig& model, const Lora& lora, Precision precision, at::Device device,
                 const Sharding& sharding = {}, const Quantization& quantization = {});

    Parameters weights;
    std::optional<QuantizedBase> quantized;  ///< matrices missing from `weights`
    std::optional<Adapter> adapter;

    Parameters& trained() { return adapter ? adapter->parameters() : weights; }
    Adapter* adapter_or_null() { return adapter ? &*adapter : nullptr; }
    QuantizedBase* quantized_or_null() { return quantized ? &*quantized : nullptr; }
    /// Returns all parameters that ranks hold, the frozen weights first.
    std::vector<Parameters*> all();

    /// Sets the model's weights, but not the adapter's, to random values.
    void initialize_weights(const ModelConfig& model, int64_t seed);
    /// Reads the model's weights, but not the adapter's, from a folder. If the folder lacks a head of scores,
    /// initialises one as transformers does.
    void load_weights(const std::string& model_dir, const ModelConfig& model, int64_t seed);
};

}  // namespace ringmaster
