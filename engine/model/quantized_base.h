/// The layers' matrices of frozen weights in few bits (engine/families/quantized_shapes.h): a unit's bytes are
/// kept, sharded and gathered as parameters are, and a matrix is dequantised for each product. Source:
/// Dettmers et al. 2023, "QLoRA", section 3.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/model/layer_sites.h"
#include "engine/model/parameters.h"
#include "engine/families/quantized_shapes.h"

namespace ringmaster {

class WeightFiles;

class QuantizedBase {
  public:
    /// `dtype` is that of computation: float32 or bfloat16.
    QuantizedBase(const ModelConfig& model, const Quantization& quantization, at::ScalarType dtype,
                  at::Device device, Sharding sharding = {});

    const Quantization& quantization() const { return quantization_; }
    Parameters& bytes() { return bytes_; }
    /// Rounds dequantised matrices to `dtype` before they take the dtype of computation: a run in bfloat16 is
    /// proved in float32 with the weights that it computes with.
    void round_to(at::ScalarType dtype) { rounded_ = dtype; }
    /// The layer that is computed from now on; its bytes are here.
    void enter_layer(int layer);
    /// The matrix of a site, of that layer: [outputs, inputs]. Made anew at each call, unless matrices are
    /// held.
    at::Tensor matrix(LoraSite site) const;
    /// From now on, until `release` or another layer, a matrix is made once.
    void hold() { holds_ = true; }
    void release();

    /// A module of a layer from its bytes, by the plainest operations, rounded to the dtype of computation.
    /// `unit_bytes`: the whole unit's.
    at::Tensor plain_matrix(const at::Tensor& unit_bytes, int layer, size_t target) const;

    /// Quantises what this rank keeps of a parameter; `weight_oc` is whole.
    void put(size_t index, const at::Tensor& weight_oc);
    /// Quantises the weights of a folder, or takes them as they lie if they are quantised. Throws
    /// Error(Refused) naming the file and tensor.
    void load(const std::string& model_dir);

  private:
    void put_bytes(size_t index, const at::Tensor& bytes);

    const Quantization quantization_;
    const at::ScalarType dtype_;
    at::ScalarType rounded_;  ///< what dequantised matrices are rounded to
    const std::vector<ParameterShape> matrices_;                ///< of all layers, before they are quantised
    size_t layer_matrices_ = 0;                                 ///< of one layer
    std::array<QuantizedLayout, kLoraTargets.size()> layouts_;  ///< of a layer's modules; no rows: it has none
    std::array<size_t, kLoraTargets.size()> places_{};          ///< of these among the layer's matrices
    Parameters bytes_;
    int layer_ = 0;
    bool holds_ = false;
    mutable std::array<at::Tensor, kLoraSites> held_;
};

/// A module's bytes out of a bitsandbytes checkpoint, undefined if the folder holds it unquantised. Throws
/// Error(Refused) if it is quantised in another way than `quantization` says.
at::Tensor read_quantized(WeightFiles& files, const ParameterShape& matrix, const Quantization& quantization);

}  // namespace ringmaster
