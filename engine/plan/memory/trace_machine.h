/// Computes the operations of a layer's blocks (engine/blocks/block.h) on the sizes of tensors alone:
/// allocates and frees what engine/model/tensor_machine.cpp and engine/model/ops.cpp do.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <initializer_list>
#include <map>
#include <memory>
#include <vector>

#include "engine/blocks/block.h"
#include "engine/blocks/sites.h"
#include "engine/layout/int8_rows.h"
#include "engine/plan/memory/attention_trace.h"
#include "engine/plan/memory/heap.h"
#include "engine/plan/memory/memory.h"

namespace ringmaster {

/// Represents a matrix by its size alone. Copies share its memory, which is freed with the last copy. Has the
/// members of at::Tensor that blocks use.
class Traced {
  public:
    Traced() = default;
    Traced(Heap& heap, double rows, double columns, double element_bytes, MemoryPart part,
           std::string_view name = Heap::kTemporary)
        : rows_(rows),
          columns_(columns),
          element_bytes_(element_bytes),
          heap_(&heap),
          memory_(std::make_shared<Heap::Block>(heap, rows * columns * element_bytes, part, name)) {}

    double rows() const { return rows_; }
    double columns() const { return columns_; }
    double elements() const { return rows_ * columns_; }

    bool defined() const { return memory_ != nullptr; }
    void reset() { memory_.reset(); }
    int64_t size(int dim) const { return static_cast<int64_t>(dim == 0 ? rows_ : columns_); }
    Traced narrow(int dim, int64_t, int64_t count) const {
        Traced part = *this;
        (dim == 0 ? part.rows_ : part.columns_) = double(count);
        part.is_strided_ = dim == 1;
        return part;
    }
    Traced clone() const { return {*heap_, rows_, columns_, element_bytes_, MemoryPart::Activations}; }
    Traced view_as(const Traced&) const { return *this; }
    /// Returns a copy if this matrix is a range of columns of wider rows, otherwise the matrix itself.
    Traced reshape(std::initializer_list<int64_t>) const { return is_strided_ ? *this * 1 : *this; }
    Traced operator*(double) const {
        return {*heap_, rows_, columns_, element_bytes_, MemoryPart::Workspace};
    }
    const Traced& copy_(const Traced&) const { return *this; }
    const Traced& add_(const Traced&) const { return *this; }

  private:
    double rows_ = 0, columns_ = 0, element_bytes_ = 0;
    bool is_strided_ = false;
    Heap* heap_ = nullptr;
    std::shared_ptr<Heap::Block> memory_;
};

/// See TensorMachine for what each operation computes.
class TraceMachine {
  public:
    using Tensor = Traced;
    struct Attended {
        Traced out_bthd, by_heads;
        bool is_by_heads() const { return by_heads.defined(); }
    };

    /// `in` describes one kind of layer (MemoryInputs::of_layer).
    TraceMachine(const MemoryInputs& in, Heap& heap);

    const ModelConfig& model() const { return in_.model; }
    bool keeps_attention() const { return in_.keeps_attention; }
    Traced take(double rows, double columns, std::string_view name = Heap::kTemporary,
                MemoryPart part = MemoryPart::Workspace) const {
        return {heap_, rows, columns, in_.element_bytes(), part, name};
    }
    Traced empty_like(const Traced& x) const { return take(x.rows(), x.columns(), "output of a block"); }

    Traced zeros_like(const Traced& x) const { return empty_like(x); }

    Traced norm(NormSite site, const Traced& x_nw, Traced& rstd_n) {
        rstd_n = {heap_, x_nw.rows(), model().layer_norms ? 2.0 : 1.0, 4, MemoryPart::Activations};
        const bool is_output = site == NormSite::AttentionOutput || site == NormSite::MlpOutput ||
                               site == NormSite::MlpPart || site == NormSite::ExpertsPart ||
                               site == NormSite::LayerInput;
        return take(x_nw.rows(), x_nw.columns(), "normed hidden states",
                    is_output ? MemoryPart::Activations : MemoryPart::Workspace);
    }
    Traced scale(const Traced& x, double) const { return x; }
    Traced norm_again(NormSite site, const Traced& x_nw, const Traced& rstd_n);
    void norm_backward(NormSite site, const Traced& dy_nw, const Traced& x_nw, const Traced& rstd_n,
                       const Traced& dx_nw, bool accumulate, double beta);

    Traced linear(LoraSite site, const Traced& x_nc, int64_t first = 0);
    struct Pull {
        TraceMachine& machine;
        LoraSite site;
        Traced dy_no, adapters_nr;

        void accumulate(const Traced& x_nc, double beta) const;
        Traced input() const {
            return input_into(machine.take(dy_no.rows(), machine.at(site).inputs, gradient_name(site)));
        }
        Traced input_into(const Traced& out_nc) const;
    };
    Pull pull(LoraSite site, const Traced& dy_no, int64_t = 0) {
        return {*this, site, dy_no, take(dy_no.rows(), at(site).adapted * double(in_.lora.r))};
    }
    void hold_matrices() { holds_ = true; }
    void release_matrices() {
        holds_ = false;
        held_ = {};
        held_experts_ = {};
    }

    void begin_tile_sums(const Traced& x_nc);
    void end_tile_sums(double) { tile_sums_ = {}; }

    Traced gate(const Traced& gate_up_n2i) const {
        return take(gate_up_n2i.rows(), gate_up_n2i.columns() / model().gate.columns(),
                    "product of gate and up");
    }
    Traced gate_backward(const Traced& gate_up_n2i, const Traced&, const Traced& act_ni) const {
        return act_ni.defined() ? act_ni : gate(gate_up_n2i);
    }

    Traced swap_groups(const Traced& x_nw, int64_t, int64_t) const {
        return take(x_nw.rows(), x_nw.columns(), "queries, keys and values by kind", MemoryPart::Activations);
    }
    void rotate(const LayerKind&, const Traced&, bool) const {}
    struct SentLatents {
        Traced sent_nw, dlatents_nr;
        bool accumulated = false;
    };
    bool sends_latents() const;
    SentLatents sent_latents(const Traced& latents_nr, const Traced& qkv_nw) const;
    Attended attend(const LayerKind& kind, const Traced& qkv_nw, SentLatents sent);
    /// Traces the copy of a chunk's keys and values that later chunks read.
    void put_keys(const LayerKind&, const Traced&) const;
    /// Frees the tensors that attention holds for all chunks of a layer.
    void leave_layer() { attentions_.clear(); }
    /// Stops counting the sums of keys' gradients, because the caller counts them
    /// (AttentionTrace::have_sums).
    void have_sums() { has_sums_ = true; }
    Traced attend_backward(const LayerKind& kind, Traced dheads_nw, Traced qkv_nw, Attended attended,
                           SentLatents& sent, double beta);

    // The heads of multi-head latent attention (engine/plan/memory/latent_trace.cpp).
    Traced join_heads(const Traced& q_nw, const Traced& kv_nw, const Traced& rotary_nr) const;
    struct SplitHeads {
        Traced q_nw, kv_nw, rotary_nr;
    };
    SplitHeads split_heads(const Traced& dqkv_nw) const;
    Traced latents_like(const Traced& rotary_nr) const;
    Traced without_padding(const Traced& heads_nw) const;
    Traced with_padding(Traced values_nw) const;

    Traced with_keys_as_values(const Traced& qk_nw) const {
        return take(qk_nw.rows(), qk_nw.columns() + double(model().num_kv_heads * model().head_dim),
                    "queries, keys and values", MemoryPart::Activations);
    }
    Traced values_added_to_keys(const Traced& dqkv_nw) const {
        return take(dqkv_nw.rows(), dqkv_nw.columns() - double(model().num_kv_heads * model().head_dim),
                    "queries, keys and values", MemoryPart::Activations);
    }
    void scale_layer(const Traced&) const {}

    // Keys that several layers read. engine/plan/memory/memory_trace.cpp counts the kept keys and the sums of
    // their gradients, for all layers together.
    void lend_keys(const Traced&) const {}
    Traced with_borrowed_keys(const LayerKind&, const Traced& q_nw) const {
        return take(q_nw.rows(), q_nw.columns() + 2 * double(model().num_kv_heads * model().head_dim),
                    "queries, keys and values", MemoryPart::Activations);
    }
    Traced return_keys(const LayerKind&, const Traced& dqkv_nw) const {
        return take(dqkv_nw.rows(), double(model().num_heads * model().head_dim), "gradients of queries",
                    MemoryPart::Activations);
    }
    void take_keys_back(const Traced&) const {}
    // The inputs of layers, whose kept tensors memory_trace.cpp counts too.
    Traced with_layer_input(const Traced& gate_np) const {
        return take(gate_np.rows(), 2 * gate_np.columns(), "gate of a layer's input",
                    MemoryPart::Activations);
    }
    void keep_input_gradient(const Traced&) const {}

    // Gates of attention's output, and a recurrence (engine/plan/memory/recurrence_trace.cpp).
    Traced take_gates(Traced& qkv_nw) const;
    Traced put_gates(const Traced& qkv_nw, const Traced& gates_nw) const;
    Traced gate_heads(const Traced& heads_nw, const Traced& gates_nw) const;
    void gate_heads_backward(const Traced& dout_nw, const Traced& heads_nw, const Traced& gates_nw) const;
    struct Recurred {
        Traced heads_nw, states;
    };
    Recurred recur(const Traced& projected_nw);
    Traced gated(const Traced& projected_nw, const Recurred& recurred);
    void recur_backward(Traced dgated_nw, const Traced& projected_nw, Recurred recurred, double beta);
    Traced convolve_channels(const Traced& projected_nw);
    void convolve_channels_backward(Traced dchannels_ne, const Traced& projected_nw, double beta);
    struct Scanned {
        Traced channels, steps, keys, queries;
    };
    Recurred scan(const Scanned& in);
    Scanned scan_backward(Traced dgated_ne, const Traced& projected_nw, const Scanned& in, Recurred recurred,
                          double beta);
    Traced selected_like(const Traced& steps_nr) const {
        return take(steps_nr.rows(), double(model().delta.selected()));
    }
    Traced convolve(const Traced& projected_nw);
    void convolve_backward(const Traced& dconvolved_nc, const Traced& projected_nw, double beta);

    // A mixture of experts (engine/plan/memory/expert_trace.cpp).
    struct Routing {
        Traced probabilities_ne, chosen_nk, weights_nk, slots_m, rows_nk;
        Traced arrivals_r = {};  ///< order of the received rows; only if experts are divided among ranks
        double rows() const { return chosen_nk.elements(); }
    };
    Routing route(const Traced& x_nc, int64_t first, const Traced& chosen_nk);
    Traced experts_gate_up(const Traced& x_nc, const Routing& routing);
    Traced experts_output(const Traced& gate_up_m2i, const Routing& routing);
    Traced experts_down_backward(Traced dout_nc, const Traced& gate_up_m2i, const Routing& routing, double);
    struct ExpertPull {
        TraceMachine& machine;
        Traced dgate_up_m2i, dlogits_ne;
        const Routing& routing;

        void accumulate(const Traced& x_nc, const Traced& read_nw, double beta) const;
        Traced experts_input() const;
        void add_router_input(const Traced&) const {}
        Traced router_input(const Traced& read_nc, int64_t first, double beta) const;
    };
    void add_share(const Traced& out_nc, const Traced& y_nc, const Traced& shares_n1);
    Traced share_backward(const Traced& shares_n1, const Traced& dact_ni, const Traced& gate_up_n2i);
    ExpertPull pull_experts(const Traced& dgate_up_m2i, const Traced& dweights_m, const Routing& routing,
                            int64_t first);

    bool is_tiled() const { return in_.mlp_tile_tokens > 0; }
    /// Returns only one tile, because each tile takes the same memory.
    std::vector<TokenRange> tiles(const Traced& x_nc) const {
        return {{0, std::min(x_nc.size(0), in_.mlp_tile_tokens)}};
    }
    bool quantizes_inputs() const { return on_gpu() && in_.quantization.format == WeightFormat::Int8; }
    void look(const Traced& x_nc, int64_t) {
        const double some = std::min(x_nc.rows(), double(int8_rows_at_once(std::llround(x_nc.columns()))));
        heap_.touch(some * x_nc.columns() * 3);  // magnitudes in float16, and a mask
    }
    void settle(LoraSite, const Traced&) const {}
    void probe(const char*, const Traced&) const {}

    /// Traces a product's buffers if 16-bit products are widened to float32 in parts.
    void widen(double rows, double depth, double columns);
    void gradient_product(double outputs, double inputs, double rows);

  private:
    struct Matrix {
        double outputs, inputs;
        double widest;  ///< outputs of the site's widest module
        int adapted;    ///< modules with an adapter
    };

    static std::string_view gradient_name(LoraSite site);
    Traced sized(double rows, double columns, double element_bytes,
                 MemoryPart part = MemoryPart::Workspace) const {
        return {heap_, rows, columns, element_bytes, part};
    }
    void sum_row_products(double rows, double width);
    struct WeighedGate {
        Traced act_mi, dweights_m;
    };
    WeighedGate weighed_gate_backward(const Traced& gate_up_m2i, const Traced& dact_mi);
    Traced grouped_product(Role role, const Traced& x_mi, double outputs, std::string_view name,
                           MemoryPart part = MemoryPart::Workspace);
    /// Allocates the experts' matrices if the engine makes them from quantised weights.
    Traced dequantize_experts(Role role);
    /// Counts the temporary memory of making a matrix from quantised weights, without the matrix.
    void touch_dequantizing(double elements);
    Traced combine(const Traced& y_mc);
    bool divides_experts() const { return in_.expert_parts > 1; }
    double local_experts() const { return double(model().num_experts) / in_.expert_parts; }
    /// Traces one expert matrix's gradient. Assumes `rows` rows spread evenly over this rank's experts.
    void expert_gradient(double outputs, double inputs, double rows);
    Traced rows_for_experts(const Traced& x_nc, const Routing& routing, std::string_view name);
    /// Trace the transfer of rows to the ranks of their experts, and back; return the rows that arrive.
    Traced to_experts(Traced rows_mw, std::string_view name);
    Traced from_experts(Traced rows_rw, std::string_view name);
    bool on_gpu() const { return in_.device == Device::Cuda; }
    bool stashes_keys() const {
        return in_.chunks > 1 && in_.gradient_checkpointing && in_.offloads_activations;
    }
    const Matrix& at(LoraSite site) const { return matrices_[static_cast<size_t>(site)]; }
    AttentionTrace& attention(const LayerKind& kind) {
        const int64_t window = in_.window_of(kind);
        AttentionTrace& trace = attentions_.try_emplace(window, in_, window, heap_).first->second;
        if (has_sums_) trace.have_sums();
        return trace;
    }
    /// Allocates the site's matrix if the engine makes it from quantised weights.
    Traced dequantize(LoraSite site);
    double dropout_bytes(double rows, double width) const {
        return in_.lora.dropout > 0 ? rows * width * in_.element_bytes() : 0;
    }
    void adapter_forward(LoraSite site, double rows);
    void row_lengths(LoraSite site);
    void touch_sinks(double widened);

    const MemoryInputs& in_;
    Heap& heap_;
    std::array<Matrix, kLoraSites> matrices_;
    std::map<int64_t, AttentionTrace> attentions_;  ///< traces by window
    double tiled_parameters_ = 0;  ///< elements of the parameters of a layer's MLP and experts
    Traced tile_sums_;
    std::array<Traced, kLoraSites> held_;
    std::array<Traced, 2> held_experts_;  ///< the matrices of gate and up, then those of down
    bool has_sums_ = false;
    bool holds_ = false;  ///< tiles share the matrices made from quantised weights
};

}  // namespace ringmaster
