/// Recomputes the model with the simplest operations, as preflight's reference for the mesh. Each document
/// attends to its own keys by matrix products in float64; everything else is float32. LibTorch's autograd
/// makes the gradients, except attention's, which follow the textbook. Only the table of rotary angles, the
/// dropout masks and the embeddings' noise are shared with the decoder; kernels, chunks, tiles and layouts
/// are not.
///
/// Letters: N tokens of all documents, C hidden, H heads, K key/value heads, D head_dim. Source of
/// attention's backward: Dao et al. 2022, "FlashAttention", appendix B.4.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <vector>

#include "engine/check/plain_experts.h"
#include "engine/comm/groups.h"
#include "engine/data/tokens.h"
#include "engine/model/embedding_noise.h"
#include "engine/model/lora.h"

namespace ringmaster {

struct PlainDocument {
    Row row;
    int64_t longest = 0;  ///< length of the micro-batch's longest document, for the `dynamic` rope
    int64_t padded = 0;   ///< length to which the micro-batch's rows are padded, for noise
    int64_t slot = 0;     ///< the document's first slot in the sums (StepRows)
    bool learns_prompt = false;
    bool by_label = false;  ///< each of the document's labels has a slot
};

/// Returns the loss of preferences or rollouts from Σ log p of all slots' completions and prompts: float64
/// [slots, 2]. LibTorch's autograd differentiates it.
using PlainPreferenceLoss = std::function<at::Tensor(const at::Tensor& sums_d2)>;

/// Defines a loss that is computed from the sums of all slots instead of as a mean over all labels.
struct PlainComparison {
    int64_t slots = 0;
    PlainPreferenceLoss loss;
    bool in_absolute = false;  ///< weights labels' gradients by the absolute values of their weights
};

struct PlainGradients {
    double loss_sum = 0;  ///< sum over these documents' labels, or the loss of preferences
    Flat gradients;       ///< float32, over all ranks' documents; correct in this rank's slices
    std::vector<PlainMixture> mixtures;  ///< one per layer; empty without experts
};

/// Called for each layer with the gradients of rotated queries, of keys and of values: float32 [N, (H +
/// 2K)·D].
using PlainProbe = std::function<void(int layer, const at::Tensor& dqkv_nw)>;

/// Returns gradients of scale · Σ cross-entropy over all ranks' documents, or of the comparison's loss. Each
/// rank computes its own `documents`, possibly none. All ranks take part. Weights come from the ranks that
/// hold them, unit by unit. The embeddings get `noise`, if any.
PlainGradients plain_gradients(const ModelConfig& model, TrainedModel& trained, Groups& groups,
                               const std::vector<PlainDocument>& documents, double scale,
                               const PlainProbe& probe, const EmbeddingNoise* noise = nullptr,
                               const PlainComparison* comparison = nullptr);

}  // namespace ringmaster
