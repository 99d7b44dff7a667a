#include "engine/plan/memory/trace_machine.h"

#include <algorithm>
#include <cmath>

#include "engine/config/precision.h"
#include "engine/families/layer_groups.h"
#include "engine/layout/int8_rows.h"
#include "engine/piece_sizes.h"

namespace ringmaster {

namespace {

constexpr double kWideRows = pieces::kWideRows, kWideColumns = pieces::kWideColumns;

/// Returns a layer's matrices of a site that have this part of a name: ".weight", ".lora_A.weight".
std::vector<ParameterShape> of_site(const std::vector<ParameterShape>& shapes, LoraSite site,
                                    const std::string& part) {
    const auto [first, count] = targets_of(site);
    std::vector<ParameterShape> found;
    for (size_t target = first; target < first + count; ++target)
        for (const ParameterShape& shape : shapes)
            if (shape.layer == 0 && shape.name.ends_with(module_path(target) + part)) found.push_back(shape);
    return found;
}

}  // namespace

TraceMachine::TraceMachine(const MemoryInputs& in, Heap& heap) : in_(in), heap_(heap) {
    const ModelConfig& m = in.model;
    const double hidden = double(m.hidden_size), intermediate = double(m.intermediate_size),
                 q = double(m.num_heads * m.head_dim), kv = double(m.num_kv_heads * m.head_dim),
                 shared = double(m.shared_expert_intermediate_size);
    const DeltaSizes& delta = m.delta;
    const LatentSizes& latent = m.latent;
    const double heads = double(m.num_heads), keys = heads * double(latent.key_width());
    const double queries_keys_values = latent.on()
                                           ? keys
                                           : (m.gates_attention ? 2 : 1) * q + (m.borrows_keys      ? 0
                                                                                : m.values_are_keys ? 1
                                                                                                    : 2) *
                                                                                   kv;
    const Matrix all[] = {
        {queries_keys_values, hidden, 0, 0},
        {hidden, heads * double(m.value_width()), 0, 0},
        {m.gate.columns() * intermediate, hidden, 0, 0},
        {hidden, intermediate, 0, 0},
        {double(delta.projected()), hidden, 0, 0},
        {hidden, double(delta.values()), 0, 0},
        {m.gate.columns() * shared, hidden, 0, 0},
        {hidden, shared, 0, 0},
        {1, hidden, 0, 0},
        {double(latent.query_rank + latent.rank + latent.rotary_width), hidden, 0, 0},
        {keys, double(latent.query_rank), 0, 0},
        {heads * double(latent.plain_width + latent.value_width), double(latent.rank), 0, 0},
        {double(m.num_experts), hidden, 0, 0},
        {double(m.expert_latent_size), hidden, 0, 0},
        {hidden, double(m.expert_latent_size), 0, 0},
        {double(m.layer_input_width), hidden, 0, 0},
        {hidden, double(m.layer_input_width), 0, 0},
        {double(delta.selected()), double(delta.values()), 0, 0},
        {double(delta.values()), double(delta.state_space.step_rank), 0, 0}};
    Lora alike = in.lora;
    alike.layers.clear();
    std::vector<ParameterShape> weights, adapters;
    for (const LayerGroup& group : layer_groups(m)) {
        double tiled = 0;
        for (const ParameterShape& shape : parameter_shapes(group.one)) {
            weights.push_back(shape);
            if (shape.name.find(".mlp.") != std::string::npos) tiled += double(shape.size());
        }
        tiled_parameters_ = std::max(tiled_parameters_, tiled / in.expert_parts);
        for (const ParameterShape& shape : lora_shapes(group.one, alike)) adapters.push_back(shape);
    }
    for (size_t i = 0; i < kLoraSites; ++i) {
        const auto site = static_cast<LoraSite>(i);
        matrices_[i] = all[i];
        for (const ParameterShape& matrix : of_site(weights, site, ".weight"))
            matrices_[i].widest = std::max(matrices_[i].widest, double(matrix.shape[0]));
        matrices_[i].adapted = static_cast<int>(of_site(adapters, site, ".lora_A.weight").size());
    }
}

void TraceMachine::begin_tile_sums(const Traced& x_nc) {
    const bool rounds = in_.precision == Precision::Bf16Full && !in_.lora.on();
    if (rounds && x_nc.rows() > double(pieces::kMostRoundedChunks) * double(in_.mlp_tile_tokens))
        tile_sums_ = sized(1, tiled_parameters_, 4);
}

// ------------------------------------------------------------------------------------------------ norms

/// Traces a repeated norm. In bfloat16 the CPU's RMSNorm uses two float32 tensors.
Traced TraceMachine::norm_again(NormSite, const Traced& x_nw, const Traced&) {
    const double bytes = in_.element_bytes(), rms_norm = on_gpu() ? bytes : bytes == 2 ? 8 + bytes : 4;
    heap_.touch(x_nw.elements() * (model().layer_norms ? 0 : rms_norm));
    return take(x_nw.rows(), x_nw.columns(), "normed hidden states");
}

void TraceMachine::norm_backward(NormSite, const Traced&, const Traced& x_nw, const Traced&, const Traced&,
                                 bool, double) {
    if (!on_gpu()) return;
    const double parameters = x_nw.columns() * (model().norm_biases ? 2 : 1);
    heap_.touch(std::ceil(x_nw.rows() / double(pieces::kNormTokens)) * parameters * 4);
}

// --------------------------------------------------------------------------------------------- matrices

namespace {

std::string_view output_name(LoraSite site) {
    constexpr std::string_view kNames[] = {
        "queries, keys and values",  "output of a block", "gate and up",       "output of a block",
        "inputs of a recurrence",    "output of a block", "gate and up",       "output of a block",
        "gate of the shared expert", "latents",           "queries",           "keys and values",
        "scores of experts",         "latents",           "output of a block", "gate of a layer's input",
        "output of a block",         "inputs of a scan",  "steps of a scan"};
    return kNames[static_cast<size_t>(site)];
}

}  // namespace

std::string_view TraceMachine::gradient_name(LoraSite site) {
    constexpr std::string_view kNames[] = {
        "gradient of the hidden states", "gradient of attention's output",
        "gradient of the hidden states", "gradient of the product of gate and up",
        "gradient of the hidden states", "gradient of a recurrence's output",
        "gradient of the hidden states", "gradient of the product of gate and up",
        "gradient of the hidden states", "gradient of the hidden states",
        "gradient of a latent",          "gradient of a latent",
        "gradient of the hidden states", "gradient of the hidden states",
        "gradient of a latent",          "gradient of the hidden states",
        "gradient of a layer's input",   "gradient of a recurrence's channels",
        "gradient of a latent"};
    return kNames[static_cast<size_t>(site)];
}

void TraceMachine::widen(double rows, double depth, double columns) {
    if (!in_.widens()) return;
    const double n = std::min(rows, kWideRows), k = std::min(depth, kWideColumns),
                 m = std::min(columns, kWideColumns);
    heap_.touch(4 * (k * m + n * m + n * k));
}

Traced TraceMachine::dequantize(LoraSite site) {
    Traced& held = held_[static_cast<size_t>(site)];
    if (!in_.quantization.on() || held.defined()) return held;
    const Traced made = take(at(site).outputs, at(site).inputs, "a matrix from quantised weights");
    touch_dequantizing(made.elements());
    if (holds_) held = made;
    return made;
}

void TraceMachine::put_keys(const LayerKind&, const Traced&) const {
    const double held = keys_bytes(in_);
    const bool exchanges = in_.ulysses > 1;
    if (exchanges) {  // joined keys and values, this rank's part, and the parts sent and received
        const double joined =
            2 * in_.tokens() * double(in_.model.num_kv_heads * in_.model.head_dim) * in_.element_bytes();
        heap_.touch(joined + 3 * held, MemoryPart::Communication, "heads exchanged by Ulysses");
    }
    heap_.touch((exchanges ? held : 0) + (stashes_keys() ? held : 0));
}

void TraceMachine::touch_dequantizing(double elements) {
    if (in_.quantization.is_4bit() && in_.quantization.nested)
        heap_.touch(4 * elements / double(in_.quantization.block));  // scales
    if (!in_.quantization.is_4bit()) heap_.touch(4 * std::min(elements, double(pieces::kQuantizedElements)));
}

/// With quantised inputs, traces the two operations that take the most memory: quantising some rows, and
/// converting their sums (engine/model/int8_product.cpp).
Traced TraceMachine::linear(LoraSite site, const Traced& x_nc, int64_t) {
    const auto [outputs, inputs, widest, adapted] = at(site);
    if (quantizes_inputs()) look(x_nc, 0);
    const Traced matrix = quantizes_inputs() ? Traced() : dequantize(site);
    Traced y_no = take(x_nc.rows(), outputs, output_name(site), kActivations);
    if (quantizes_inputs()) {
        const double most = double(int8_rows_at_once(std::llround(std::max(inputs, widest))));
        const double some = std::min(x_nc.rows(), most);
        heap_.touch(some * inputs * 7);
        heap_.touch(some * (inputs + 8 * widest));
    }
    widen(x_nc.rows(), inputs, outputs);
    adapter_forward(site, x_nc.rows());
    return y_no;
}

/// Frozen weights have no gradient. The adapter's forward is computed again.
void TraceMachine::Pull::accumulate(const Traced& x_nc, double) const {
    const Matrix& matrix = machine.at(site);
    if (!machine.in_.lora.on()) machine.gradient_product(matrix.outputs, matrix.inputs, dy_no.rows());
    machine.adapter_forward(site, x_nc.rows());
    if (machine.in_.lora.dora && matrix.adapted > 0)
        machine.heap_.touch(machine.dropout_bytes(x_nc.rows(), matrix.inputs) +
                            x_nc.rows() * matrix.widest * machine.in_.element_bytes());
}

/// Traces the gradient of the input: the dequantized weight, then the adapter's contribution before and after
/// dropout.
Traced TraceMachine::Pull::input_into(const Traced& out_nc) const {
    const Matrix& matrix = machine.at(site);
    {
        const Traced dequantized = machine.dequantize(site);
        machine.widen(dy_no.rows(), matrix.outputs, matrix.inputs);
    }
    if (matrix.adapted > 0) machine.heap_.touch(2 * machine.dropout_bytes(out_nc.rows(), matrix.inputs));
    if (matrix.adapted > 0 && machine.in_.lora.dora)
        machine.heap_.touch(out_nc.rows() * (matrix.inputs + matrix.widest) * machine.in_.element_bytes());
    return out_nc;
}

void TraceMachine::gradient_product(double outputs, double inputs, double rows) {
    if (in_.widens()) {
        const double n = std::min(rows, kWideRows), o = std::min(outputs, kWideColumns);
        const double sum = in_.precision == Precision::Bf16Full ? o * inputs : 0;
        heap_.touch(4 * (sum + n * o + n * inputs));
    } else if (is_mixed(in_.precision)) {
        // A GPU adds in float32 in place; a CPU's bfloat16 product is widened in parts.
        if (!on_gpu()) heap_.touch(inputs * (2 * outputs + 4 * std::min(outputs, kWideRows)));
    }
}

/// Traces the input after dropout, and x·Aᵀ (engine/model/lora.cpp).
void TraceMachine::adapter_forward(LoraSite site, double rows) {
    if (at(site).adapted == 0) return;
    const double u = rows * double(in_.lora.r) * in_.element_bytes();
    const bool multiplies = in_.lora.dora && in_.lora.dropout > 0;
    const double change = multiplies ? rows * at(site).widest * in_.element_bytes() : 0;
    heap_.touch(dropout_bytes(rows, at(site).inputs) + u + change);
    if (in_.lora.dora) row_lengths(site);
}

/// Traces the lengths of the rows of an adapted matrix (engine/model/dora.cpp).
void TraceMachine::row_lengths(LoraSite site) {
    const Traced matrix = dequantize(site);
    heap_.touch(4 * 2 * std::min(at(site).widest, double(pieces::kDoraRows)) * at(site).inputs);
}

// -------------------------------------------------------------------------------------------- attention

/// Counts the temporary memory of the sinks for some queries at a time (engine/attention/sinks.cpp): two
/// statistics, and outputs that are widened to float32.
void TraceMachine::touch_sinks(double widened) {
    if (!model().attention_sinks) return;
    const double rows =
        std::min(double(pieces::kSinkQueries * in_.micro), in_.tokens()) * double(model().num_heads);
    heap_.touch(rows * 4 * (2 + widened * double(model().head_dim)));
}

TraceMachine::Attended TraceMachine::attend(const LayerKind& kind, const Traced&, SentLatents) {
    attention(kind).forward();
    const auto kept = [&](double bytes, std::string_view name) {
        return Traced(heap_, in_.tokens(), 1, bytes / in_.tokens(), kActivations, name);
    };
    Attended attended;
    attended.out_bthd = kept(attention_output_bytes(in_), "output of attention");
    touch_sinks(in_.element_bytes() == 4 ? 0 : 1);
    if (in_.ulysses > 1)
        attended.by_heads = kept(heads_bytes(in_), "queries, keys, values and output by heads");
    return attended;
}

Traced TraceMachine::attend_backward(const LayerKind& kind, Traced dheads_nw, Traced qkv_nw,
                                     Attended attended, SentLatents& sent, double) {
    if (!in_.lora.on()) touch_sinks(in_.element_bytes() == 4 ? 1 : 3);
    attention(kind).backward([&] { dheads_nw.reset(); }, [&] { attended = {}; });
    if (sent.sent_nw.defined())
        sent.dlatents_nr = {heap_, in_.tokens(), double(model().latent.rank), 4, MemoryPart::Workspace};
    if (qkv_nw.defined()) return qkv_nw;
    const ModelConfig& m = model();
    return take(in_.tokens(), double((m.num_heads + 2 * m.num_kv_heads) * m.head_dim),
                output_name(LoraSite::Qkv), kActivations);
}

}  // namespace ringmaster
