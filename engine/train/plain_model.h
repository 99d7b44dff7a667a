/// The model once more, by the plainest operations: what preflight compares the mesh with. One document at a
/// time attends, in float64, to its keys by matrix products; everything else is float32. LibTorch's autograd
/// makes the gradients, except attention's, which follow the textbook. Nothing here is shared with the
/// decoder but the table of rotary angles and the masks of dropout: no kernel, no chunk, no tile, no layout.
///
/// Letters: N tokens of all documents, C hidden, H heads, K key/value heads, D head_dim.
/// Source of attention's backward: Dao et al. 2022, "FlashAttention", appendix B.4.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/data/tokens.h"
#include "engine/model/lora.h"

namespace ringmaster {

struct PlainDocument {
    Row row;
    int64_t longest = 0;  ///< of its micro-batch: what the `dynamic` rotary embedding depends on
};

struct PlainGradients {
    double loss_sum = 0;  ///< of these documents' labels
    Flat gradients;       ///< float32, of all ranks' documents; right in the own slices
};

/// Told, for each layer, of the gradients of rotated queries, of keys and of values: float32
/// [N, (H + 2K)·D].
using PlainProbe = std::function<void(int layer, const at::Tensor& dqkv_nw)>;

/// Gradients of scale · Σ cross-entropy over the documents of all ranks; each rank computes those that it is
/// given, none included. All ranks together. Weights come from the ranks that hold them, a unit at a time.
PlainGradients plain_gradients(const ModelConfig& model, TrainedModel& trained, Groups& groups,
                               const std::vector<PlainDocument>& documents, double scale,
                               const PlainProbe& probe);

/// A unit's weights in the dtype of computation, put together from the slices that ranks hold by a plain sum:
/// not by the way that a pass goes. All ranks of the shard group together.
at::Tensor weights_from_their_holders(Parameters& parameters, int unit);

}  // namespace ringmaster
