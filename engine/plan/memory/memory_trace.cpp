#include "engine/plan/memory/memory_trace.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <set>

#include "engine/blocks/layer.h"
#include "engine/config/lora_targets.h"
#include "engine/families/layer_groups.h"
#include "engine/piece_sizes.h"
#include "engine/plan/memory/trace_machine.h"

namespace ringmaster {

namespace {

constexpr double kLossChunkTokens = pieces::kLossTokens;

Traced hidden_states(const MemoryInputs& in, TraceMachine& machine, std::string_view name,
                     MemoryPart part = MemoryPart::Workspace) {
    return machine.take(in.tokens(), double(in.model.hidden_size), name, part);
}

constexpr std::string_view kLayerInput = "input of one layer", kChunks = "hidden states of other chunks",
                           kGradient = "gradient of the hidden states",
                           kUnits = "gathered weights and gradients of layers",
                           kOfLoss = "hidden states for the loss";

/// Traces the forward of a layer and returns what it keeps for its backward.
Layer<TraceMachine> kept_layer(const MemoryInputs& in, TraceMachine& machine, int64_t layer, Traced& y_nc) {
    Layer<TraceMachine> computed(in.model, layer);
    y_nc = computed.forward(machine, hidden_states(in, machine, kLayerInput, kActivations));
    return computed;
}

void forget(const MemoryInputs& in, TraceMachine& machine, Layer<TraceMachine>& layer) {
    if (!in.gradient_checkpointing) return;
    layer.forget(machine);
    if (in.offloads_activations) layer.x_nc.reset();
}

/// Returns the bytes that `layers` layers like this layer keep; with several chunks, the bytes of one chunk
/// of each.
double kept_bytes(const MemoryInputs& all, Heap& heap, int64_t layer, double layers) {
    const MemoryInputs in = all.of_layer(layer);
    TraceMachine machine(in, heap);
    const double before = heap.in_use();
    Traced y_nc;
    Layer<TraceMachine> computed = kept_layer(in, machine, layer, y_nc);
    y_nc.reset();
    forget(in, machine, computed);
    const bool copies = in.gradient_checkpointing && in.offloads_activations;
    // One checkpoint comes back from the host a layer ahead, and on a GPU another is still being copied. If
    // there are several chunks, other_chunks counts their checkpoints.
    const double here =
        copies && in.chunks == 1 ? std::min(layers, in.device == Device::Cuda ? 2.0 : 1.0) : 0;
    return layers * (heap.in_use() - before) + here * layer_input_bytes(in);
}

/// Returns the bytes that the layers before this one keep.
double kept_before(const MemoryInputs& in, Heap& heap, int64_t layer) {
    const std::vector<LayerGroup> groups = layer_groups(in.model);
    const LayerGroup& own = groups[group_of(groups, in.model.layer_kind(layer))];
    double kept = 0;
    for (const LayerGroup& group : groups) {
        const auto before =
            std::lower_bound(group.layers.begin(), group.layers.end(), layer) - group.layers.begin();
        if (before > 0)
            kept += kept_bytes(in, heap, &group == &own ? layer : group.layers.front(),
                               double(in.chunks) * double(before));
    }
    return kept;
}

/// Returns the inputs of one chunk of a rank's tokens.
MemoryInputs of_chunk(MemoryInputs in) {
    in.shard_tokens = (in.shard_tokens + in.chunks - 1) / in.chunks;
    return in;
}

bool stashes_all(const MemoryInputs& in) {
    return in.chunks > 1 && in.gradient_checkpointing && in.offloads_activations;
}

/// Holds the hidden states of the chunks that are not being computed, `tensors` tensors per chunk, as far as
/// they are on the device between layers: all of them, or only those being copied from or to host memory
/// (engine/model/hidden_states.h).
Heap::Block other_chunks(const MemoryInputs& of_one, Heap& heap, double tensors) {
    const double others = double(of_one.chunks - 1), under_way = of_one.device == Device::Cuda ? 3 : 1;
    const double count = stashes_all(of_one) ? std::min(others, under_way) * tensors : others;
    return heap.take(count * layer_input_bytes(of_one), kActivations, kChunks);
}

/// Returns the keys and values of other chunks of a layer that stay on the device.
Heap::Block other_keys(const MemoryInputs& of_one, Heap& heap) {
    const bool copies = of_one.chunks > 1 && of_one.gradient_checkpointing && !of_one.offloads_activations;
    return heap.take(copies ? double(of_one.chunks - 1) * keys_bytes(of_one) : 0, kActivations,
                     "keys and values of other chunks");
}

/// Traces the head and the loss of one chunk, up to the gradient of the head's input.
void head(const MemoryInputs& in, TraceMachine& machine, Heap& heap) {
    const double chunk = std::min(kLossChunkTokens, in.tokens());
    const double hidden = double(in.model.hidden_size), vocabulary = double(in.model.head_rows());
    const Traced normed = hidden_states(in, machine, kOfLoss);
    const Traced with_label = hidden_states(in, machine, kOfLoss);  // all but a sequence's last token
    const Traced logits = machine.take(chunk, vocabulary, "logits", MemoryPart::Logits);
    const bool summed = in.precision == Precision::Bf16Full && !freezes_head(in.lora) &&
                        double(in.chunks) * in.tokens() >
                            double(pieces::kMostRoundedChunks) * std::min(kLossChunkTokens, in.tokens());
    const Heap::Block sum = heap.take(summed ? 4 * vocabulary * hidden : 0);
    machine.widen(chunk, hidden, vocabulary);
    if (in.model.logit_softcap != 0)
        machine.take(chunk, vocabulary, "logits", MemoryPart::Logits);  // derivative of the softcap
    if (!freezes_head(in.lora)) machine.gradient_product(vocabulary, hidden, chunk);
    machine.widen(chunk, vocabulary, hidden);
    const Traced dx = hidden_states(in, machine, kGradient);
    machine.norm_backward(NormSite::Input, normed, normed, {}, dx, false, 0);
}

/// Returns the number of rotated elements of a head, summed over all rotary tables.
double rotary_widths(const ModelConfig& model) {
    double sum = 0;
    for (const RopeConfig& rope : model.ropes)
        sum +=
            double(model.global_heads.head_dim > 0 && rope.rotary_dim > 0 ? rope.rotary_dim : model.head_dim);
    return sum;
}

/// Returns the bytes of token ids and labels, of tokens' indices (for experts and dropout), of dropout's keys
/// and of rotary tables. Keys and tables are those of one chunk.
double input_bytes(const MemoryInputs& in, const MemoryInputs& of_one) {
    const bool drops = in.lora.dropout > 0;
    const double places = drops || in.model.num_experts > 0 ? 8 : 0;
    const double tables = 4 * rotary_widths(in.model);
    return (16 + places) * in.tokens() + (drops ? 16 : 0) * of_one.tokens() +
           tables * double(of_one.shard_tokens);
}

/// Traces the backward of a chunk before the last one, if the sums of the gradients of all earlier keys are
/// on the device. These sums exist before the backward pass begins.
void earlier_chunk(const MemoryInputs& of_one, TraceMachine& machine, Heap& heap, int64_t layer,
                   const Traced& dx_nc) {
    machine.leave_layer();
    if (of_one.chunks == 1 || stashes_all(of_one)) return;
    const double sums = double(of_one.chunks - 1) * 4 / of_one.element_bytes() * keys_bytes(of_one);
    const Heap::Block held = heap.take(sums, MemoryPart::Workspace, "gradients of keys and values");
    machine.have_sums();
    Traced y_nc;
    Layer<TraceMachine> computed = kept_layer(of_one, machine, layer, y_nc);
    y_nc.reset();
    forget(of_one, machine, computed);
    computed.backward(machine, dx_nc, 0);
    machine.leave_layer();
}

/// Returns the layers up to `layer` that make keys for layers from `from` on.
std::vector<int64_t> lenders(const ModelConfig& model, int64_t layer, int64_t from) {
    std::set<int64_t> found;
    for (size_t i = static_cast<size_t>(from); i < model.layers.size(); ++i)
        if (const int64_t lender = model.layers[i].keys_of; lender >= 0 && lender <= layer)
            found.insert(lender);
    return {found.begin(), found.end()};
}

/// Returns the bytes of these layers' keys and values, with elements of this many bytes.
double keys_of_layers(const MemoryInputs& in, const std::vector<int64_t>& layers, double element_bytes) {
    double bytes = 0;
    for (const int64_t layer : layers)
        bytes += keys_bytes(in.of_layer(layer)) * element_bytes / in.element_bytes();
    return bytes;
}

/// Holds the tensors that all layers share: the layers' inputs, the embedding's output that they are made
/// from if nothing else keeps it, and the keys and values that later layers read
/// (engine/model/layer_inputs.h, shared_keys.h).
class Shared {
  public:
    Shared(const MemoryInputs& in, Heap& heap, int64_t layer)
        : in_(in),
          heap_(heap),
          learns_(!freezes_embedding(in.lora)),
          inputs_(heap.take(layer_inputs_bytes(in), kActivations, kInputs)),
          embedded_(heap.take(in.offloads_activations ? of_embedding() : 0, kActivations, kInputs)),
          keys_(heap.take(keys_of_layers(in, lenders(in.model, layer, 0), in.element_bytes()), kActivations,
                          kKeys)) {}

    /// Begins the backward of a layer.
    void begin_backward(int64_t layer) {
        gradients_ =
            heap_.take(learns_ ? layer_inputs_bytes(in_) : 0, MemoryPart::Workspace, kInputGradients);
        sums_ = heap_.take(keys_of_layers(in_, lenders(in_.model, layer, layer), 4), MemoryPart::Workspace,
                           kKeys);
    }

    /// Traces the backward of the parameters that make the layers' inputs, after the backward of all layers.
    void embedding_backward(TraceMachine& machine) {
        keys_.free();
        sums_.free();
        inputs_.free();
        if (in_.model.layer_input_width == 0 || !learns_) return;
        if (!in_.offloads_activations) embedded_ = heap_.take(of_embedding(), kActivations, kInputs);
        constexpr double kLeast = pieces::kLeastEmbedded, kMostParts = pieces::kMostEmbedded;
        const double count = std::min(in_.tokens(), std::max(kLeast, std::ceil(in_.tokens() / kMostParts)));
        const double width = double(in_.model.layer_inputs_width), hidden = double(in_.model.hidden_size);
        const Traced raw = machine.take(count, width), draw = machine.take(count, width);
        machine.widen(count, hidden, width);
        heap_.touch(raw.elements() * in_.element_bytes());  // the norm's output, computed for its statistics
        machine.norm_backward(NormSite::LayerInput, raw, raw, {}, draw, false, 0);
        if (!in_.lora.on()) machine.gradient_product(width, hidden, count);
        machine.widen(count, width, hidden);
    }

  private:
    static constexpr std::string_view kInputs = "inputs of all layers",
                                      kKeys = "keys and values of other layers",
                                      kInputGradients = "gradients of all layers' inputs";
    double of_embedding() const {
        return learns_ && in_.model.layer_input_width > 0 ? layer_input_bytes(in_) : 0;
    }

    const MemoryInputs& in_;
    Heap& heap_;
    bool learns_;
    Heap::Block inputs_, embedded_, keys_, gradients_, sums_;
};

/// Holds the memory of the states for the duration of a trace.
struct States {
    States(const MemoryInputs& in, Heap& heap)
        : weights(heap.take(weight_bytes(in), MemoryPart::Weights, "weights")),
          gradients(heap.take(gradient_bytes(in), MemoryPart::Gradients, "gradients")),
          optimizer(heap.take(optimizer_bytes(in), MemoryPart::Optimizer, "optimizer states")) {}

    Heap::Block weights, gradients, optimizer;
};

/// Traces a layer, the head and the loss in an evaluation (Decoder::forward).
Heap trace_evaluated_layer(const MemoryInputs& in, int64_t layer) {
    Heap heap;
    const MemoryInputs of_one = of_chunk(in);
    const MemoryInputs own = of_one.of_layer(layer);
    TraceMachine machine(own, heap);
    const States states(in, heap);
    const Heap::Block inputs =
        heap.take(input_bytes(in, of_one), kActivations, "token ids, labels and rotary tables");
    const Shared shared(in, heap, layer);
    const Heap::Block chunks = other_chunks(of_one, heap, 1), keys = other_keys(own, heap);
    const Heap::Block units = heap.take(layer_forward_unit_bytes(in, layer), MemoryPart::Workspace, kUnits);
    Traced y_nc;
    kept_layer(of_one, machine, layer, y_nc);
    const Traced normed = hidden_states(of_one, machine, kOfLoss);
    y_nc.reset();
    const double chunk = std::min(kLossChunkTokens, of_one.tokens());
    const Traced with_label = machine.take(chunk, double(in.model.hidden_size), kOfLoss);
    const Traced logits = machine.take(chunk, double(in.model.head_rows()), "logits", MemoryPart::Logits);
    machine.widen(chunk, double(in.model.hidden_size), double(in.model.head_rows()));
    return heap;
}

/// Traces the last chunk of a layer, which sees the keys of all others, and one before it.
Heap trace_layer(const MemoryInputs& in, int64_t layer) {
    Heap heap;
    const MemoryInputs of_one = of_chunk(in);
    const MemoryInputs own = of_one.of_layer(layer);
    TraceMachine machine(own, heap);
    const double of_earlier = in.chunks > 1 ? kept_bytes(of_one, heap, layer, 1) : 0;
    const double kept = kept_before(of_one, heap, layer) + std::max(0.0, double(in.chunks - 2)) * of_earlier;
    const States states(in, heap);
    const Heap::Block inputs =
        heap.take(input_bytes(in, of_one), kActivations, "token ids, labels and rotary tables");
    Shared shared(in, heap, layer);
    {
        const Heap::Block others = heap.take(
            kept, kActivations,
            in.gradient_checkpointing ? "inputs of all other layers" : "what all other layers keep");
        Heap::Block earlier = heap.take(of_earlier, kActivations, kChunks);
        Traced y_nc;
        Layer<TraceMachine> last;
        {
            const Heap::Block units =
                heap.take(layer_forward_unit_bytes(in, layer), MemoryPart::Workspace, kUnits);
            const Heap::Block chunks = other_chunks(of_one, heap, 1), keys = other_keys(own, heap);
            last = kept_layer(of_one, machine, layer, y_nc);
        }
        forget(in, machine, last);
        {
            const Heap::Block units = heap.take(head_unit_bytes(in), MemoryPart::Workspace, kUnits);
            const Heap::Block chunks = other_chunks(of_one, heap, 1);
            head(of_one, machine, heap);
        }
        y_nc.reset();
        const Heap::Block chunks = other_chunks(of_one, heap, 2), keys = other_keys(own, heap);
        const Traced dx_nc = hidden_states(of_one, machine, kGradient);
        const Heap::Block units = heap.take(layer_unit_bytes(in, layer), MemoryPart::Workspace, kUnits);
        shared.begin_backward(layer);
        if (!last.x_nc.defined()) last.x_nc = hidden_states(of_one, machine, kLayerInput, kActivations);
        last.backward(machine, dx_nc, 0);
        last = {};
        earlier.free();
        earlier_chunk(own, machine, heap, layer, dx_nc);
    }
    const Heap::Block chunks = other_chunks(of_one, heap, 1);
    const Traced dx_nc = hidden_states(of_one, machine, kGradient);
    const Heap::Block units = heap.take(embedding_unit_bytes(in), MemoryPart::Workspace, kUnits);
    shared.embedding_backward(machine);
    if (in.precision == Precision::Bf16Full && !freezes_embedding(in.lora))
        heap.touch(4 * std::max(double(in.model.vocab_size) * double(in.model.hidden_size),
                                double(in.model.layer_inputs_vocabulary * in.model.layer_inputs_width)));
    return heap;
}

}  // namespace

void Heap::change(double bytes, MemoryPart part, std::string_view name) {
    const auto known =
        std::find_if(named_.begin(), named_.end(), [&](const Named& named) { return named.name == name; });
    (known == named_.end() ? named_.emplace_back(name) : *known).bytes += bytes;
    double& of_part = now_[static_cast<size_t>(part)];
    double& most = most_[static_cast<size_t>(part)];
    of_part += bytes;
    most = std::max(most, of_part);
    sum_ += bytes;
    if (sum_ <= peak_) return;
    peak_ = sum_;
    at_peak_ = now_;
    named_at_peak_ = named_;
}

Heap trace_step(const MemoryInputs& in) {
    const int64_t last = std::max<int64_t>(0, in.model.num_layers - 1);
    std::optional<Heap> most;
    const auto add = [&](const Heap& traced) {
        if (!most || traced.peak() > most->peak()) most = traced;
    };
    MemoryInputs evaluation = in;
    evaluation.micro = in.evaluated;
    const std::vector<LayerGroup> groups = layer_groups(in.model);
    // Units of neighbouring layers are on the device too.
    const bool has_units = in.zero_stage > 0 || in.states_in_host;
    const auto group_of_layer = [&](int64_t layer) {
        return static_cast<int64_t>(group_of(groups, in.model.layer_kind(layer)));
    };
    constexpr int64_t kHead = -1;  // the head, which comes before the last layer in the backward pass
    // Layers differ by their shapes, their window, and the shapes of their neighbours.
    std::set<std::array<int64_t, 4>> kinds;
    for (int64_t layer = last; layer >= 0; --layer) {
        const LayerKind kind = in.model.layer_kind(layer);
        const int64_t before = !has_units ? 0 : layer == last ? kHead : group_of_layer(layer + 1);
        const int64_t next = has_units ? group_of_layer(std::max<int64_t>(0, layer - 1)) : 0;
        const bool is_new =
            kinds.insert({group_of_layer(layer), kind.attends() ? in.window_of(kind) : 0, before, next})
                .second;
        if (!is_new) continue;
        add(trace_layer(in, layer));
        if (in.evaluated > in.micro) add(trace_evaluated_layer(evaluation, layer));
    }
    return *most;
}

}  // namespace ringmaster
