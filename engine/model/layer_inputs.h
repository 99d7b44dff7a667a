/// Makes the inputs that the layers of a model read besides the hidden states, and the gradients of the
/// parameters that make them: (norm(projection(x) / √C) + second embedding · √P) / √2, of which each layer
/// reads P columns. Source: Gemma4TextModel.project_per_layer_inputs of transformers 5.23.
///
/// Letters: N tokens, C hidden, P width of one layer's input, W of all layers' together, V rows of the second
/// embedding.
#pragma once

#include <ATen/core/Tensor.h>

#include "engine/families/model_config.h"
#include "engine/model/parameters.h"

namespace ringmaster {

class LayerInputs {
  public:
    LayerInputs(const ModelConfig& model, const Parameters& parameters)
        : model_(model), parameters_(parameters) {}

    /// Makes the inputs of all layers from the tokens and the embedding's output. With `learns` it keeps what
    /// `backward` needs. The embedding's unit must be on this rank, as in `backward`.
    void begin(const at::Tensor& ids_n, const at::Tensor& x_nc, bool learns);
    /// Returns a layer's input [N, P], a view.
    at::Tensor of(int layer) const { return columns_of(inputs_nw_, layer); }
    /// Keeps the gradient of a layer's input. Does nothing if begin() was called without `learns`.
    void put_gradient(int layer, const at::Tensor& gradient_np);
    /// Adds the gradient of the embedding's output to dx_nc. Sets the gradients of the embedding's unit to
    /// beta · gradient + new gradient, unless they are frozen. Call put_gradient for every layer first.
    void backward(const at::Tensor& dx_nc, double beta);
    void clear();

  private:
    at::Tensor columns_of(const at::Tensor& all_nw, int64_t layer) const {
        return all_nw.narrow(1, layer * model_.layer_input_width, model_.layer_input_width);
    }
    at::Tensor projected(const at::Tensor& x_nc) const;
    double table_multiplier(const at::Tensor& rows) const;
    void table_backward(double beta) const;
    void projection_backward(const at::Tensor& dx_nc, double beta) const;

    const ModelConfig& model_;
    const Parameters& parameters_;
    bool learns_ = false;
    at::Tensor ids_n_, x_nc_, inputs_nw_, gradients_nw_;
};

}  // namespace ringmaster
