/// Holds the layers' matrices of frozen weights in quantised form (engine/families/quantized_shapes.h): a
/// unit's bytes are kept, sharded and gathered like parameters, and a matrix is dequantised for each product.
/// Source: Dettmers et al. 2023, "QLoRA", section 3. Matrices of 8 bits may also be multiplied as they are,
/// by inputs of 8 bits (engine/model/int8_product.h).
#pragma once

#include <array>
#include <string>
#include <vector>

#include "engine/blocks/sites.h"
#include "engine/families/quantized_shapes.h"
#include "engine/model/int8_product.h"
#include "engine/model/parameters.h"

namespace ringmaster {

class WeightFiles;

class QuantizedBase {
  public:
    /// `dtype` is the dtype of computation: float32 or bfloat16.
    QuantizedBase(const ModelConfig& model, const Quantization& quantization, at::ScalarType dtype,
                  at::Device device, Sharding sharding = {});

    const Quantization& quantization() const { return quantization_; }
    Parameters& bytes() { return bytes_; }
    /// Rounds dequantised matrices to `dtype` before converting them to the dtype of computation, so that
    /// preflight's float32 proof of a bfloat16 run uses exactly that run's weights.
    void round_to(at::ScalarType dtype) { rounded_ = dtype; }
    /// Sets the current layer; its bytes must be on this rank.
    void enter_layer(int layer);
    /// Returns the matrix of a site in that layer: [outputs, inputs]. Dequantises it at each call, unless
    /// matrices are held.
    at::Tensor matrix(LoraSite site) const;
    /// Returns whether the parameters that hold experts are quantised.
    bool holds_experts() const { return experts_[0].layout.rows > 0; }
    /// Returns the matrices of all experts in that layer's parameter: [experts, outputs, inputs].
    at::Tensor expert_matrices(Role role) const;
    /// Makes each matrix only once, until `release` is called or another layer begins.
    void hold() { holds_ = true; }
    void release();

    /// Returns whether forward products take quantised inputs: on a GPU they do if weights have 8 bits. For
    /// tests, a CPU can do the same; preflight turns this off temporarily.
    bool quantizes_inputs() const { return quantizes_inputs_; }
    void quantize_inputs(bool on) { quantizes_inputs_ = on && quantization_.format == WeightFormat::Int8; }
    /// Returns the magnitude from which an input counts as an outlier.
    double outlier_threshold() const { return outlier_threshold_; }
    /// Returns the modules of a site in the current layer, in the order of `matrix`'s rows. Only for 8-bit
    /// weights.
    std::vector<Int8Matrix> int8_matrices(LoraSite site) const;

    /// Returns whether the module has a matrix: the parts of a fused matrix, except the first, have none.
    bool has(int layer, size_t target) const { return layouts_[static_cast<size_t>(layer)][target].rows > 0; }
    /// Returns the dequantized matrix of a layer's module, computed with the simplest operations and rounded
    /// to the dtype of computation. `unit_bytes` holds the whole unit's bytes.
    at::Tensor plain_matrix(const at::Tensor& unit_bytes, int layer, size_t target) const;
    at::Tensor plain_experts(const at::Tensor& unit_bytes, int layer, Role role) const;

    /// Quantises this rank's part of a parameter; `weight_oc` holds the whole parameter.
    void put(size_t index, const at::Tensor& weight_oc);
    /// Quantises the weights of a folder, or takes them unchanged if they are already quantised. Throws
    /// Error(Refused) with file and tensor.
    void load(const std::string& model_dir);

  private:
    /// A parameter with the matrices of all experts of a layer.
    struct OfExperts {
        QuantizedLayout layout;  ///< has no rows if experts are not quantised
        std::vector<int64_t> shape;
    };
    static size_t index_of(Role role) { return role == Role::ExpertDown ? 1 : 0; }
    at::Tensor plain_values(const at::Tensor& unit_bytes, const std::string& name,
                            const QuantizedLayout& layout) const;
    void put_bytes(size_t index, const at::Tensor& bytes);

    const Quantization quantization_;
    const at::ScalarType dtype_;
    at::ScalarType rounded_;                      ///< dtype to which dequantised matrices are rounded
    const std::vector<ParameterShape> matrices_;  ///< matrices of all layers, before quantisation
    /// Layouts by layer and module; a layout without rows means that the layer has no such module.
    std::vector<std::array<QuantizedLayout, kModulePaths.size()>> layouts_;
    std::array<OfExperts, 2> experts_;  ///< [0]: gate and up; [1]: down
    Parameters bytes_;
    int layer_ = 0;
    bool holds_ = false;
    bool quantizes_inputs_;
    double outlier_threshold_ = 6;  ///< default of transformers' BitsAndBytesConfig
    mutable std::array<at::Tensor, kLoraSites> held_;
    mutable std::array<at::Tensor, 2> held_experts_;
};

/// Returns a module's bytes from a bitsandbytes checkpoint; undefined if the folder holds the matrix
/// unquantised. Throws Error(Refused) if its quantisation differs from `quantization`.
at::Tensor read_quantized(WeightFiles& files, const ParameterShape& matrix, const Quantization& quantization);
/// Returns the values of a matrix after quantisation, in `dtype`.
at::Tensor rounded(const at::Tensor& weight_oc, const Quantization& quantization, at::ScalarType dtype);
/// Like `rounded`, for a matrix in files, where it may already be quantised.
at::Tensor read_rounded(WeightFiles& files, const ParameterShape& matrix, const Quantization& quantization,
                        at::ScalarType dtype);

}  // namespace ringmaster
