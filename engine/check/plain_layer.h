/// Computes one layer with autograd around its attention, for preflight's plain model (plain_model.h).
///
/// Letters: N tokens of all documents, C hidden.
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "engine/check/plain_experts.h"
#include "engine/model/lora.h"
#include "engine/model/rope.h"

namespace ringmaster {

/// Returns a unit's weights in the dtype of computation, joined from the ranks' slices by a plain sum. A
/// training step uses another method to join them. All ranks of the shard group take part.
at::Tensor weights_from_their_holders(Parameters& parameters, int unit);

/// Holds a unit's parameters by name, in float32.
class PlainWeights {
  public:
    PlainWeights(Parameters& parameters, int unit, bool trained);

    /// Returns the parameter; undefined if the model has none of this name.
    at::Tensor of(const std::string& name) const;
    at::Tensor router_correction(int layer) const { return parameters_.router_correction(layer); }
    double layer_scalar(int layer) const { return parameters_.layer_scalar(layer); }
    /// Returns all parameters of the unit as one tensor, with the unit's padding.
    const at::Tensor& values() const { return values_; }

  private:
    Parameters& parameters_;
    int unit_;
    at::Tensor values_;
};

/// Holds the tokens of all documents, one after the other.
struct PlainTokens {
    std::vector<FlatRange> documents;
    std::vector<int64_t> padded;  // padded length of each document's micro-batch
    at::Tensor ids_n, labels_n, places_n;
    at::Tensor segments_n;          // 2 · slot of the label, + 1 in a prompt; 0 without a label
    std::vector<RopeTables> ropes;  // in the order of ModelConfig::ropes, [N, pairs]

    int64_t count() const { return ids_n.size(0); }
};

/// Returns the normalised tensor; `bias` is undefined if the norm has none.
at::Tensor plain_norm(const ModelConfig& model, const at::Tensor& x, const at::Tensor& weight,
                      const at::Tensor& bias, double eps);

/// Holds one layer and the tensors that it reads.
struct PlainLayer {
    const ModelConfig& model;
    TrainedModel& trained;
    int index;
    const PlainWeights& weights;
    const PlainWeights* adapter;  ///< nullptr without an adapter
    const PlainTokens& tokens;
    at::Tensor bytes;             ///< bytes of the layer's quantised matrices
    at::Tensor borrowed_nw = {};  ///< keys and values read from another layer, or undefined
    at::Tensor input_np = {};     ///< the layer's input besides x_nc; undefined if the layer has none

    LayerKind kind() const { return model.layer_kind(index); }
    /// Returns the weights that attention or the recurrence reads besides before_attention: the logits of
    /// sinks, or A_log of a Mamba-1 state space; undefined if there are none.
    at::Tensor learned() const {
        const bool scans = kind().is_recurrent && model.delta.scans();
        return weights.of("model.layers." + std::to_string(index) +
                          (scans ? ".linear_attn.A_log" : ".self_attn.sinks"));
    }

    /// Returns queries, keys and values by heads, with queries and keys normalised and rotated; or the inputs
    /// of a recurrence.
    at::Tensor before_attention(const at::Tensor& x_nc) const;

    /// Returns the layer's output, and the other results of its mixture if it has experts; heads_nw is
    /// undefined if the layer lacks attention and a recurrence.
    PlainMixture after_attention(const at::Tensor& x_nc, const at::Tensor& heads_nw) const;
};

}  // namespace ringmaster
