/// Runs a decoder layer as a list of blocks. The engine and the plan's memory trace use the same list.
#pragma once

#include <memory>
#include <vector>

#include "engine/blocks/attention.h"
#include "engine/blocks/convolution.h"
#include "engine/blocks/experts.h"
#include "engine/blocks/gated_mlp.h"
#include "engine/blocks/layer_input.h"
#include "engine/blocks/mlp_beside_experts.h"
#include "engine/blocks/recurrence.h"
#include "engine/blocks/recurrence_beside_attention.h"
#include "engine/blocks/selective_scan.h"

namespace ringmaster {

/// Returns true if attention and the MLP share one norm. The backward pass starts with the last block, which
/// sets the norm's gradient; the first block adds to it.
inline bool shares_norm(const ModelConfig& model) {
    return model.parallel_blocks && !model.parallel_norms;
}

/// Returns the block of a layer's attention, or of its recurrence.
template <class Machine>
std::unique_ptr<Block<Machine>> mixer_of(const ModelConfig& model, const LayerKind& kind) {
    if (kind.is_recurrent && model.delta.convolved > 0) return std::make_unique<Convolution<Machine>>();
    if (kind.is_recurrent && model.delta.scans()) return std::make_unique<SelectiveScanBlock<Machine>>();
    if (kind.is_recurrent) return std::make_unique<Recurrence<Machine>>(model.delta.state_space.output);
    if (model.has_attention_and_recurrence())
        return std::make_unique<RecurrenceBesideAttention<Machine>>(kind, model);
    return std::make_unique<Attention<Machine>>(kind, shares_norm(model), model.attention_multiplier);
}

template <class Machine>
std::unique_ptr<Block<Machine>> mlp_of(const ModelConfig& model, const LayerKind& kind) {
    const NormSite norm = shares_norm(model) ? NormSite::Input : NormSite::Mlp;
    if (!model.has_experts(kind)) return std::make_unique<GatedMlp<Machine>>(norm, model.mlp_multiplier);
    if (model.experts_beside_mlp) return std::make_unique<MlpBesideExperts<Machine>>();
    return std::make_unique<Experts<Machine>>(norm);
}

/// Returns a layer's blocks in order.
template <class Machine>
std::vector<std::unique_ptr<Block<Machine>>> blocks_of(const ModelConfig& model, int64_t layer) {
    std::vector<std::unique_ptr<Block<Machine>>> blocks;
    const LayerKind kind = model.layer_kind(layer);
    if (!kind.lacks_mixer) blocks.push_back(mixer_of<Machine>(model, kind));
    if (!kind.lacks_mlp) blocks.push_back(mlp_of<Machine>(model, kind));
    if (model.layer_input_width > 0) blocks.push_back(std::make_unique<LayerInput<Machine>>());
    return blocks;
}

template <class Machine>
class Layer {
  public:
    using Tensor = typename Machine::Tensor;
    Layer() = default;
    Layer(const ModelConfig& model, int64_t layer)
        : blocks_(blocks_of<Machine>(model, layer)), is_parallel_(model.parallel_blocks) {}

    Tensor x_nc = {};  ///< the layer's input, the only tensor that gradient checkpointing must keep

    Tensor forward(Machine& machine, const Tensor& x) {
        x_nc = x;
        // Sums the parallel blocks' outputs first and adds the larger input last, so that 16-bit sums round
        // only once at the input's magnitude.
        Tensor y_nc = is_parallel_ ? Tensor() : x;
        for (size_t i = 0; i < blocks_.size(); ++i) {
            y_nc = blocks_[i]->forward(machine, is_parallel_ ? x : y_nc, y_nc);
            if (is_parallel_ && i + 1 == blocks_.size()) y_nc.add_(x);
            if (i + 1 == blocks_.size() && machine.model().layer_scalars) machine.scale_layer(y_nc);
            machine.probe(i + 1 == blocks_.size() ? "layer output"
                          : i == 0                ? "attention output"
                                                  : "MLP output",
                          y_nc);
        }
        return y_nc;
    }

    /// Frees everything that `backward` can recompute from x_nc.
    void forget(Machine& machine) {
        for (const auto& block : blocks_) block->forget(machine);
        is_forgotten_ = true;
    }

    /// After `forget`, recomputes the keys and values that other chunks of the sequence read, and passes them
    /// to the machine.
    void recall(Machine& machine, const Tensor& x) {
        for (const auto& block : blocks_) block->recall(machine, x);
    }

    /// Replaces dx_nc, the gradient of the layer's output, by that of its input; frees the blocks.
    void backward(Machine& machine, const Tensor& dx_nc, double beta) {
        if (is_forgotten_) restore(machine);
        if (machine.model().layer_scalars) machine.scale_layer(dx_nc);
        const Tensor dy_nc = is_parallel_ ? dx_nc.clone() : dx_nc;
        for (; !blocks_.empty(); blocks_.pop_back()) blocks_.back()->backward(machine, dy_nc, dx_nc, beta);
    }

  private:
    void restore(Machine& machine) {
        Tensor y_nc = x_nc;
        for (size_t i = 0; i < blocks_.size(); ++i) {
            const bool is_read = !is_parallel_ && i + 1 < blocks_.size();
            if (is_read)
                y_nc = blocks_[i]->forward(machine, y_nc, y_nc);
            else
                blocks_[i]->restore(machine, y_nc);
        }
    }

    std::vector<std::unique_ptr<Block<Machine>>> blocks_;
    bool is_parallel_ = false, is_forgotten_ = false;
};

}  // namespace ringmaster
