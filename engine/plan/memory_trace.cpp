#include "engine/plan/memory_trace.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "engine/config/lora_targets.h"
#include "engine/config/precision.h"
#include "engine/plan/attention_schedule.h"
#include "engine/plan/deterministic.h"
#include "engine/plan/flash_blocks.h"
#include "engine/plan/int8_rows.h"
#include "engine/plan/layout.h"

namespace ringmaster {

namespace {

using Block = Heap::Block;
constexpr auto kActivations = MemoryPart::Activations;
constexpr auto kCommunication = MemoryPart::Communication;

constexpr double kLossChunkTokens = 1024;               // engine/model/decoder.cpp
constexpr double kMostRounded = 16;                     // chunks added in bfloat16, engine/model/decoder.cpp
constexpr double kElementsAtOnce = 4 << 20;             // engine/model/quantized_matrix.cpp
constexpr double kWideRows = 256, kWideColumns = 4096;  // engine/model/ops.cpp
constexpr double kScoreRows = 256, kScoreKeys = 512;    // engine/attention/blocks.h
constexpr double kPanel = 64;                           // engine/kernels/key_softmax.h

/// The longest ring that is traced: in longer rings a rank holds the same amount at a time.
constexpr int kTracedRing = 8;

/// The tensors that a rank attends with: all tokens of a Ulysses group, and the heads that it owns.
struct AttentionShape {
    double rows, tokens, heads, kv_heads, head_dim;

    double queries() const { return rows * tokens * heads * head_dim; }  ///< elements
    double keys() const { return rows * tokens * kv_heads * head_dim; }  ///< elements of the keys alone
    double of_keys(double count) const { return 2 * rows * count * kv_heads * head_dim; }  ///< both kinds
};

struct Layer {
    Block x, rstd_attention, qkv, qk_raw, rstd_qk, attention, attention_end, mid, mlp, mlp_end;
};

class Tracer {
  public:
    /// Prepares to trace this layer's forward and backward, with the activations of earlier layers kept.
    Tracer(const MemoryInputs& in, int64_t layer);
    Heap run();

  private:
    double element() const { return in_.element_bytes(); }
    bool is_bfloat16() const { return element() == 2; }
    /// Returns whether one call of a GPU's flash attention computes everything.
    bool is_plain() const { return on_gpu() && in_.ring == 1 && (is_bfloat16() || !in_.packed); }
    /// Returns whether a GPU's flash attention backward runs in several blocks of queries.
    bool is_in_blocks() const { return is_bfloat16() && shape_.tokens > double(blocks().queries_at_once); }
    /// Returns one copy of dq for all queries at once, or more if sums must be in order.
    FlashBlocks blocks() const {
        if (!cuda_is_deterministic()) return {1, std::numeric_limits<int64_t>::max()};
        return flash_blocks(std::max<int64_t>(1, std::llround(shape_.rows * shape_.heads)),
                            std::llround(shape_.head_dim));
    }
    double flash_backward_bytes() const;
    /// Returns the fraction of key/value heads that travel together.
    double heads_at_once(const AttentionShape& shape) const {
        if (in_.gathered_heads == 0) return 1;
        return std::min(1.0, double(in_.gathered_heads) / std::max(1.0, shape.kv_heads));
    }
    bool on_gpu() const { return in_.device == Device::Cuda; }
    bool quantizes_inputs() const { return on_gpu() && in_.quantization.format == WeightFormat::Int8; }
    double hidden_states(double tokens) const { return tokens * C_ * element(); }
    double mlp_tokens() const {
        return in_.mlp_tile_tokens > 0 ? std::min(N_, double(in_.mlp_tile_tokens)) : N_;
    }

    void product(double rows, double depth, double columns);
    void matrix_product(double rows, double depth, double columns);
    Block matrix(double inputs, double outputs);
    /// Traces a forward product with a matrix of the layer, whose widest module has `widest` outputs.
    void forward_product(double rows, double depth, double columns, double widest);
    Block hold_mlp_matrices();
    void weight_gradient(double outputs, double inputs, double rows);
    void gradient_product(double outputs, double inputs, double rows);
    Block norm(double rows, double width);
    void norm_again(double rows, double width);
    void norm_backward(double rows, double width);
    Block branch_input(double tokens);
    Block branch_input_again(double tokens);
    void branch_input_backward(double tokens);
    Block branch_end(double tokens);
    Block branch_gradient(double tokens, Block& end);

    void attention_forward(Layer& layer, bool attends);
    void normalize_queries_and_keys(Layer& layer);
    Block attend();
    Block attend_over_heads();
    void scheduled_forward(const AttentionShape& shape);
    void attention_backward(Layer& layer);
    void pull_back();
    void pull_back_over_heads();
    void scheduled_backward(const AttentionShape& shape, Block& dq, Block& home);
    bool is_of_panels(const AttentionShape& shape) const;
    double of_panel_task(double keys, double rows, double head_dim, bool backward) const;
    double of_tasks(const AttentionShape& shape, const Stage& stage, bool backward) const;
    Block tokens_to_heads(double bytes);

    int adapted(size_t first, size_t count) const;
    double of_adapter(double tokens) const { return tokens * double(in_.lora.r) * element(); }
    double of_dropout(double tokens, double width) const {
        return in_.lora.dropout > 0 ? tokens * width * element() : 0;
    }
    void adapter_forward(int modules, double tokens, double inputs);
    Block adapter_pulls(int modules, double tokens);
    void adapter_gradients(int modules, double tokens, double inputs);
    void adapter_input_gradient(int modules, double tokens, double inputs);

    Block mlp_forward(double tokens);
    Block down_forward(double tokens);
    void mlp_backward(Layer& layer);
    void head();
    void embedding_backward();

    const MemoryInputs& in_;
    const ModelConfig& model_;
    const double N_, C_, I_, G_, V_, L_;  ///< G: gate and up together
    const double q_, kv_, W_;             ///< widths of a token's queries, keys, and all three
    const int qkv_modules_, output_modules_, gate_up_modules_, down_modules_;  ///< modules with an adapter
    AttentionShape shape_;
    AttentionSchedule schedule_;
    const int64_t layer_;
    double gathered_ = 1;  ///< ranks represented by one stage of the schedule
    bool holds_ = false;   ///< matrices from quantised weights are shared by tiles
    Heap heap_;
};

int64_t window_of(const MemoryInputs& in, int64_t layer) {
    return in.model.layers.empty() ? in.window : in.model.layer_kind(layer).window.value_or(0);
}

AttentionSchedule schedule_of(const MemoryInputs& in, int64_t window, int ring, int rank) {
    const int64_t tokens = in.shard_tokens * ring * in.ulysses;
    const auto mask_of = [&](int64_t wide) {
        AttentionMask mask;
        if (wide < tokens) mask.window = wide;
        return mask;
    };
    const Layout layout = make_layout(in.layout, tokens, ring, in.ulysses, mask_of(in.window));
    const AttentionMask mask = mask_of(window);
    std::vector<Spans> spans;
    for (int r = 0; r < ring; ++r) spans.push_back(ring_spans(layout, r, in.ulysses));
    return in.gathered_heads > 0 ? make_gather_schedule(spans, rank, mask, in.gathered_heads)
                                 : make_ring_schedule(spans, rank, mask);
}

Tracer::Tracer(const MemoryInputs& in, int64_t layer)
    : in_(in),
      model_(in.model),
      N_(in.tokens()),
      C_(double(in.model.hidden_size)),
      I_(intermediate_width(in.model)),
      G_(gate_up_width(in.model)),
      V_(double(in.model.vocab_size)),
      L_(double(in.model.num_layers)),
      q_(double(in.model.num_heads * in.model.head_dim)),
      kv_(double(in.model.num_kv_heads * in.model.head_dim)),
      W_(q_ + 2 * kv_),
      qkv_modules_(adapted(0, 3)),
      output_modules_(adapted(3, 1)),
      gate_up_modules_(adapted(4, 2)),
      down_modules_(adapted(6, 1)),
      layer_(layer) {
    const double ulysses = in.ulysses, kv_heads = double(in.model.num_kv_heads);
    shape_ = {double(in.micro), double(in.shard_tokens) * ulysses, double(in.model.num_heads) / ulysses,
              std::max(1.0, kv_heads / ulysses), double(in.model.head_dim)};
    const int ring = std::min(in.ring, kTracedRing);
    const int rank = ring == in.ring ? in.ring_rank : in.ring_rank * ring / in.ring;
    schedule_ = schedule_of(in, window_of(in, layer), ring, rank);
    if (in.gathered_heads > 0) gathered_ = double(in.ring) / ring;
}

// ------------------------------------------------------------------------------------------- operations

/// Traces a product's buffers if bfloat16 is widened to float32 in parts.
void Tracer::product(double rows, double depth, double columns) {
    if (!in_.widens()) return;
    const double n = std::min(rows, kWideRows), k = std::min(depth, kWideColumns),
                 m = std::min(columns, kWideColumns);
    heap_.touch(4 * (k * m + n * m + n * k));
}

/// Allocates a matrix of the layer if it is made from quantised weights, and for 4 bits also the scales while
/// it is made.
Block Tracer::matrix(double inputs, double outputs) {
    if (!in_.quantization.on() || holds_) return {};
    Block made = heap_.take(inputs * outputs * element());
    const double elements = inputs * outputs;
    if (in_.quantization.is_4bit() && in_.quantization.nested)
        heap_.touch(4 * elements / double(in_.quantization.block));
    if (!in_.quantization.is_4bit()) heap_.touch(4 * std::min(elements, kElementsAtOnce));
    return made;
}

/// Allocates the MLP's matrices, which all of its tiles share.
Block Tracer::hold_mlp_matrices() {
    if (!in_.quantization.on() || in_.mlp_tile_tokens == 0) return {};
    holds_ = true;
    return heap_.take((G_ + I_) * C_ * element());
}

/// Traces a product with a matrix of the layer.
void Tracer::matrix_product(double rows, double depth, double columns) {
    const Block made = matrix(depth, columns);
    product(rows, depth, columns);
}

/// Traces a product with quantised inputs by its two largest moments: quantising some rows, and converting
/// their sums (engine/model/int8_product.cpp).
void Tracer::forward_product(double rows, double depth, double columns, double widest) {
    if (!quantizes_inputs()) return matrix_product(rows, depth, columns);
    const auto at_once = [rows](double width) {
        return std::min(rows, double(int8_rows_at_once(std::llround(width))));
    };
    const double some = at_once(std::max(depth, widest));
    heap_.touch(at_once(depth) * depth * 3);  // magnitudes in float16 and a mask: looks for outliers
    heap_.touch(some * depth * 7);
    heap_.touch(some * (depth + 8 * widest));
}

/// Traces a weight's gradient; frozen weights have none.
void Tracer::weight_gradient(double outputs, double inputs, double rows) {
    if (!in_.lora.on()) gradient_product(outputs, inputs, rows);
}

void Tracer::gradient_product(double outputs, double inputs, double rows) {
    if (in_.widens()) {
        const double n = std::min(rows, kWideRows), o = std::min(outputs, kWideColumns);
        const double sum = in_.precision == Precision::Bf16Full ? o * inputs : 0;
        heap_.touch(4 * (sum + n * o + n * inputs));
    } else if (is_mixed(in_.precision)) {
        // A GPU adds in float32 in place; a CPU's bfloat16 product is widened in parts.
        if (!on_gpu()) heap_.touch(inputs * (2 * outputs + 4 * std::min(outputs, kWideRows)));
    }
}

Block Tracer::norm(double rows, double width) {
    return heap_.take(rows * width * element());
}

/// Traces a repeated norm. In bfloat16 the CPU uses two float32 tensors.
void Tracer::norm_again(double rows, double width) {
    if (on_gpu()) return heap_.touch(rows * width * element());
    heap_.touch(rows * width * (is_bfloat16() ? 8 + element() : 4));
}

void Tracer::norm_backward(double rows, double width) {
    constexpr double kTokensPerChunk = 128;  // for the weight's gradient: engine/model/own_ops.cpp
    if (on_gpu()) heap_.touch(std::ceil(rows / kTokensPerChunk) * width * 4);
}

// ------------------------------------------------------------------------------- the ends of a branch

Block Tracer::branch_input(double tokens) {
    return model_.norms_inputs ? norm(tokens, C_) : Block();
}

Block Tracer::branch_input_again(double tokens) {
    if (!model_.norms_inputs) return {};
    norm_again(tokens, C_);
    return heap_.take(hidden_states(tokens));
}

/// Traces the input's gradient, which overwrites the normed input; without a norm it needs its own memory.
void Tracer::branch_input_backward(double tokens) {
    if (model_.norms_inputs) return norm_backward(tokens, C_);
    heap_.touch(hidden_states(tokens));
}

/// Allocates a branch's output before its norm, and the norm's rstd. The sum with the residual is extra.
Block Tracer::branch_end(double tokens) {
    return model_.norms_outputs ? heap_.take(hidden_states(tokens) + 4 * tokens, kActivations) : Block();
}

Block Tracer::branch_gradient(double tokens, Block& end) {
    const bool scales = model_.residual_multiplier != 1;
    if (!model_.norms_outputs) return scales ? heap_.take(hidden_states(tokens)) : Block();
    const Block scaled = scales ? heap_.take(hidden_states(tokens)) : Block();
    Block gradient = heap_.take(hidden_states(tokens));
    norm_backward(tokens, C_);
    end.free();
    return gradient;
}

// ------------------------------------------------------------------------ an adapter (engine/model/lora.cpp)

int Tracer::adapted(size_t first, size_t count) const {
    const auto is_target = [&](const char* module) {
        return std::find(in_.lora.targets.begin(), in_.lora.targets.end(), module) != in_.lora.targets.end();
    };
    const auto begin = kLoraTargets.begin() + static_cast<std::ptrdiff_t>(first);
    return static_cast<int>(std::count_if(begin, begin + static_cast<std::ptrdiff_t>(count), is_target));
}

/// Traces the input after dropout, and x·Aᵀ.
void Tracer::adapter_forward(int modules, double tokens, double inputs) {
    if (modules > 0) heap_.touch(of_dropout(tokens, inputs) + of_adapter(tokens));
}

/// Allocates the gradients of x·Aᵀ.
Block Tracer::adapter_pulls(int modules, double tokens) {
    return heap_.take(modules * of_adapter(tokens));
}

void Tracer::adapter_gradients(int modules, double tokens, double inputs) {
    adapter_forward(modules, tokens, inputs);  // computes it again
}

/// Traces the input's gradient before and after dropout.
void Tracer::adapter_input_gradient(int modules, double tokens, double inputs) {
    if (modules > 0) heap_.touch(2 * of_dropout(tokens, inputs));
}

// -------------------------------------------------------------------------------------------- attention

/// Returns the buffers of the threads that run at once: a head's keys and values in float32 (in the backward
/// also their gradients), blocks of scores and of queries.
double Tracer::of_tasks(const AttentionShape& shape, const Stage& stage, bool backward) const {
    if (on_gpu() || stage.slices.empty()) return 0;
    int64_t begin = stage.slices[0].key_begin, end = 0;
    for (const Slice& slice : stage.slices) {
        begin = std::min(begin, slice.key_begin);
        end = std::max(end, slice.key_end);
    }
    const double pairs = shape.rows * std::max(1.0, shape.kv_heads);
    const double parts = std::max(1.0, std::floor(double(in_.threads) / pairs));
    const double at_once = std::min(double(in_.threads), pairs * parts);
    const double group = shape.heads / shape.kv_heads, D = shape.head_dim;
    const double rows = group * std::max(16.0, std::floor(kScoreRows / group));
    const double keys = double(end - begin) * gathered_ * D;
    const double waiting =  // gradients of parts of one head, summed in order at the end
        backward && parts > 1 ? std::max(0.0, pairs * parts - at_once) * keys * 8 : 0;
    if (is_of_panels(shape)) return at_once * of_panel_task(keys, rows, D, backward) + waiting;
    const double widened = keys * 4 * (backward ? 4 : 2);
    const double blocks = !backward ? 1 : model_.score_softcap == 0 ? 2 : 3;
    return at_once * (widened + rows * 4 * (blocks * kScoreKeys + (backward ? 3 : 2) * D)) + waiting;
}

/// Returns whether the CPU's own bfloat16 products are used (engine/attention/key_block_attention.h).
bool Tracer::is_of_panels(const AttentionShape& shape) const {
    return is_bfloat16() && !in_.widens() && std::fmod(shape.head_dim, 2) == 0 && model_.score_softcap == 0;
}

/// Returns a task's bytes: keys and values by rows and columns, scores, queries by rows and twice in panels.
double Tracer::of_panel_task(double keys, double rows, double head_dim, bool backward) const {
    const auto of_panels = [](double width) { return std::ceil(width / kPanel) * kPanel; };
    const double columns = of_panels(rows), cells = kScoreKeys * columns;
    const double block = 2 * (rows * (head_dim + of_panels(head_dim)) + columns * head_dim);
    const double sums = 4 * head_dim * columns;
    if (backward) return keys * (8 + 6) + 14 * cells + 2 * block + sums;
    return std::max(keys * 6, keys * 4 + 6 * cells + block + sums);
}

void Tracer::scheduled_forward(const AttentionShape& shape) {
    const double e = element(), statistics = 4 * shape.rows * shape.tokens * shape.heads;
    const double share = heads_at_once(shape);
    if (is_plain()) return heap_.touch(shape.queries() * e + statistics);
    Block sums = heap_.take(4 * shape.queries() + 2 * statistics);
    Block held, coming, sent;
    const int rounds = share < 1 ? 2 : 1;  // groups of heads: the second travels while the first is used
    for (int round = 0; round < rounds; ++round) {
        for (size_t u = 0; u <= schedule_.stages.size(); ++u) {
            held = std::move(coming);
            if (u < schedule_.stages.size()) {
                const Stage& stage = schedule_.stages[u];
                if (!stage.is_own && stage.keys > 0)
                    coming =
                        heap_.take(share * e * shape.of_keys(double(stage.keys) * gathered_), kCommunication);
                int64_t going = 0;
                for (const KeyExchange& exchange : stage.exchanges)
                    going = std::max(going, count_keys(exchange.sent));
                Block next = heap_.take(share * e * shape.of_keys(double(going)), kCommunication);
                sent = std::move(next);
            }
            if (u > 0) heap_.touch(of_tasks(shape, schedule_.stages[u - 1], false));
        }
    }
    held.free();
    coming.free();
    sent.free();
    heap_.touch(1.25 * statistics);  // the divisor, and a mask of its zeros
    heap_.touch((is_bfloat16() ? shape.queries() * e : 0) + statistics);
}

/// Traces attention of one rank or of a ring; returns the block that is kept.
Block Tracer::attend() {
    scheduled_forward(shape_);
    return heap_.take(attention_output_bytes(in_), kActivations);
}

/// Traces an all-to-all: each rank's parts, the joined parts sent, those received; keeps only the last.
Block Tracer::tokens_to_heads(double bytes) {
    Block owned = heap_.take(bytes, kCommunication);
    heap_.touch(2 * bytes, kCommunication);
    return owned;
}

Block Tracer::attend_over_heads() {
    const double e = element(), q = shape_.queries() * e, keys_values = 2 * shape_.keys() * e;
    {
        Block queries = tokens_to_heads(q);
        Block under_way = heap_.take(q, kCommunication);
        Block both = heap_.take(2 * N_ * kv_ * e, kCommunication);
        Block keys = tokens_to_heads(keys_values);
        both.free();
        under_way.free();
        scheduled_forward(shape_);
        Block out = heap_.take(q);
        heap_.touch(q * (in_.micro > 1 ? 3 : 2), kCommunication);  // received and joined tensors
    }
    return heap_.take(attention_output_bytes(in_), kActivations);
}

void Tracer::normalize_queries_and_keys(Layer& layer) {
    const bool per_head = model_.qk_norm == QkNorm::PerHead;
    const double norms = per_head ? double(model_.num_heads + model_.num_kv_heads) : 2;
    layer.qk_raw = heap_.take(N_ * (q_ + kv_) * element(), kActivations);
    heap_.touch((per_head ? 2 : 1) * N_ * q_ * element());
    layer.rstd_qk = heap_.take(4 * N_ * norms, kActivations);
}

void Tracer::attention_forward(Layer& layer, bool attends) {
    if (model_.norms_inputs) layer.rstd_attention = heap_.take(4 * N_, kActivations);
    Block read = branch_input(N_);
    layer.qkv = heap_.take(N_ * W_ * element(), kActivations);
    forward_product(N_, C_, W_, std::max(q_, kv_));
    adapter_forward(qkv_modules_, N_, C_);
    read.free();
    if (model_.qk_norm != QkNorm::None) normalize_queries_and_keys(layer);
    if (attends) layer.attention = in_.ulysses > 1 ? attend_over_heads() : attend();
    layer.attention_end = branch_end(N_);
    if (!model_.norms_outputs) layer.mid = heap_.take(hidden_states(N_), kActivations);
    forward_product(N_, q_, C_, C_);
    adapter_forward(output_modules_, N_, q_);
    if (model_.norms_outputs) layer.mid = heap_.take(hidden_states(N_), kActivations);
}

/// Returns the bytes that a GPU's backward kernel takes: dq, dk and dv of every query head; in bfloat16 also
/// their sums over groups of heads, and as many float32 copies of dq as its order of sums needs.
double Tracer::flash_backward_bytes() const {
    const double heads = 2 * element() * shape_.queries();
    if (!is_bfloat16()) return 4 * shape_.queries() + heads;
    const double sums = shape_.heads > shape_.kv_heads ? 2 * element() * shape_.keys() : 0;
    if (!cuda_is_deterministic()) {
        const double group = std::max(1.0, shape_.heads / shape_.kv_heads);
        const auto key_heads = std::max<int64_t>(1, std::llround(shape_.kv_heads));
        const int64_t at_once =
            key_heads_at_once(std::llround(shape_.rows * shape_.tokens), key_heads, std::llround(group));
        const double share = double(at_once) / double(key_heads);
        const double joined =
            share < 1 && is_plain() ? element() * (shape_.queries() + 2 * shape_.keys()) : 0;
        return share * ((4 + element()) * shape_.queries() + heads + sums) + joined;
    }
    const double at_once = std::min(shape_.tokens, double(blocks().queries_at_once)) / shape_.tokens;
    return (4 * double(blocks().copies) + element()) * shape_.queries() * at_once + heads + sums;
}

void Tracer::scheduled_backward(const AttentionShape& shape, Block& dq, Block& home) {
    const double e = element(), statistics = 4 * shape.rows * shape.tokens * shape.heads;
    if (is_plain() && !is_in_blocks()) {
        heap_.touch(flash_backward_bytes());
        dq = heap_.take(shape.queries() * e);
        home = heap_.take(2 * shape.keys() * e);
        return;
    }
    home = heap_.take(4 * 2 * shape.keys());
    dq = heap_.take(4 * shape.queries());
    Block delta;
    if (!on_gpu()) {
        const double at_once = std::min(double(in_.threads), shape.rows * shape.heads);
        delta = heap_.take(statistics);
        heap_.touch(at_once * shape.tokens * shape.head_dim * 4 * (is_bfloat16() ? 3 : 1));
    }
    const double share = heads_at_once(shape);
    std::vector<const Stage*> units;
    const int rounds = share < 1 ? std::min(3, static_cast<int>(std::ceil(1 / share))) : 1;
    for (int round = 0; round < rounds; ++round) {
        for (const Stage& stage : schedule_.stages) units.push_back(&stage);
    }
    Block held, coming, sent, gradients, going_home, arriving;
    for (size_t u = 0; u <= units.size(); ++u) {
        held = std::move(coming);
        if (u < units.size() && !units[u]->is_own) {
            const Stage& stage = *units[u];
            int64_t going = 0;
            for (const KeyExchange& exchange : stage.exchanges)
                going = std::max(going, count_keys(exchange.sent));
            coming = heap_.take(share * e * shape.of_keys(double(stage.keys) * gathered_), kCommunication);
            Block next = heap_.take(share * e * shape.of_keys(double(going)), kCommunication);
            sent = std::move(next);
        }
        if (u == 0) continue;
        const Stage& stage = *units[u - 1];
        if (!stage.is_own)
            gradients = heap_.take(4 * share * shape.of_keys(double(stage.keys) * gathered_), kCommunication);
        heap_.touch(on_gpu() ? flash_backward_bytes() : of_tasks(shape, stage, true));
        if (stage.is_own) continue;
        going_home = std::move(gradients);
        double arrives = 0;
        int64_t leaves = 0;
        for (const KeyExchange& exchange : stage.exchanges) {
            arrives += double(count_keys(exchange.sent));
            leaves += exchange.received;
        }
        arriving.free();
        arriving = heap_.take(4 * share * shape.of_keys(arrives * gathered_), kCommunication);
        if (leaves == 0) going_home.free();  // all gradients were this rank's own
    }
    held.free();
    if (in_.gathered_heads > 0 || shape.kv_heads <= 1) return;
    for (const Stage& stage :
         schedule_.stages) {  // half of the rank's own heads come last, while gradients travel
        if (stage.is_own) heap_.touch(of_tasks(shape, stage, true));
    }
}

void Tracer::pull_back() {
    Block dq, home, narrow;
    scheduled_backward(shape_, dq, home);
    if (is_bfloat16()) narrow = heap_.take((shape_.queries() + 2 * shape_.keys()) * element());
}

void Tracer::pull_back_over_heads() {
    const double e = element(), q = shape_.queries() * e;
    const bool shared = model_.num_kv_heads < in_.ulysses;  // summed over ranks in float32
    const double keys_values = 2 * shape_.keys() * (shared ? 4 : e);
    Block dout = tokens_to_heads(q), dq, home;
    scheduled_backward(shape_, dq, home);
    Block narrow = heap_.take(is_bfloat16() || in_.micro > 1 ? q : 0);
    Block received_q = heap_.take(q, kCommunication);
    Block both = heap_.take(4 * 2 * shape_.keys(), kCommunication);
    Block sent_keys = heap_.take(shared || !is_bfloat16() ? 0 : keys_values, kCommunication);
    Block received_keys = heap_.take(keys_values, kCommunication);
    if (is_bfloat16() && !shared) both.free();  // rounded into another tensor, which is sent
    narrow.free();                              // dq has been sent
    Block joined_q = heap_.take(q);
    both.free();
    sent_keys.free();
    Block joined_keys = heap_.take(2 * N_ * kv_ * e);
    heap_.touch(shared ? keys_values : 0);
}

void Tracer::attention_backward(Layer& layer) {
    const double e = element();
    Block branch = branch_gradient(N_, layer.attention_end);
    weight_gradient(C_, q_, N_);
    {
        Block dout = heap_.take(N_ * q_ * e);
        matrix_product(N_, C_, q_);
        {
            const Block pulls = adapter_pulls(output_modules_, N_);
            adapter_gradients(output_modules_, N_, q_);
            adapter_input_gradient(output_modules_, N_, q_);
        }
        branch.free();
        in_.ulysses > 1 ? pull_back_over_heads() : pull_back();
    }
    layer.attention.free();
    if (model_.qk_norm != QkNorm::None)
        heap_.touch((model_.qk_norm == QkNorm::PerHead ? 3 : 1) * N_ * q_ * e);
    const Block read = branch_input_again(N_);
    weight_gradient(W_, C_, N_);
    const Block pulls_of_qkv = adapter_pulls(qkv_modules_, N_);
    adapter_gradients(qkv_modules_, N_, C_);
    matrix_product(N_, W_, C_);
    adapter_input_gradient(qkv_modules_, N_, C_);
    branch_input_backward(N_);
}

// ---------------------------------------------------------------------------------------- MLP and the ends

/// Traces the first product for a tile; returns gate and up.
Block Tracer::mlp_forward(double tokens) {
    Block read = branch_input(tokens);
    Block gate_up = heap_.take(tokens * (G_ * element() + (model_.norms_inputs ? 4 : 0)), kActivations);
    forward_product(tokens, C_, G_, I_);
    adapter_forward(gate_up_modules_, tokens, C_);
    return gate_up;
}

/// Traces the product with the last matrix; returns what the branch's end keeps of it.
Block Tracer::down_forward(double tokens) {
    const Block act = heap_.take(tokens * I_ * element());
    Block end = branch_end(tokens);
    const bool is_held =
        quantizes_inputs() && !model_.norms_outputs;  // the product, while its parts are made
    const Block out = heap_.take(is_held ? hidden_states(tokens) : 0);
    forward_product(tokens, I_, C_, C_);
    adapter_forward(down_modules_, tokens, I_);
    return end;
}

void Tracer::mlp_backward(Layer& layer) {
    const double tokens = mlp_tokens(), e = element();
    Block matrices = hold_mlp_matrices();
    if (!layer.mlp.is_held()) layer.mlp = mlp_forward(tokens);
    if (model_.norms_outputs && !layer.mlp_end.is_held()) {
        layer.mlp_end = down_forward(tokens);
        heap_.touch(hidden_states(tokens));
    }
    Block branch = branch_gradient(tokens, layer.mlp_end);
    {
        Block dact = heap_.take(tokens * I_ * e);
        matrix_product(tokens, C_, I_);
        const Block pulls_of_down = adapter_pulls(down_modules_, tokens);
        adapter_input_gradient(down_modules_, tokens, I_);
        Block act = heap_.take(tokens * I_ * e);
        dact.free();
        weight_gradient(C_, I_, tokens);
        adapter_gradients(down_modules_, tokens, I_);
    }
    branch.free();
    Block read = branch_input_again(tokens);
    weight_gradient(G_, C_, tokens);
    const Block pulls_of_gate_up = adapter_pulls(gate_up_modules_, tokens);
    adapter_gradients(gate_up_modules_, tokens, C_);
    matrix_product(tokens, G_, C_);
    adapter_input_gradient(gate_up_modules_, tokens, C_);
    branch_input_backward(tokens);
    read.free();
    layer.mlp.free();
    holds_ = false;
}

/// Traces the head and the loss; leaves the gradient of the head's input.
void Tracer::head() {
    const double chunk = std::min(kLossChunkTokens, N_);
    Block normed = norm(N_, C_);
    Block with_label = heap_.take(hidden_states(N_));  // all but a sequence's last token
    Block logits = heap_.take(chunk * V_ * element(), MemoryPart::Logits);
    const bool summed =
        in_.precision == Precision::Bf16Full && !freezes_head(in_.lora) && N_ > kMostRounded * chunk;
    Block sum = heap_.take(summed ? 4 * V_ * C_ : 0);
    product(chunk, C_, V_);
    if (model_.logit_softcap != 0) heap_.touch(chunk * V_ * element(), MemoryPart::Logits);  // its slopes
    if (!freezes_head(in_.lora)) gradient_product(V_, C_, chunk);
    product(chunk, V_, C_);
    heap_.touch(hidden_states(N_));
    norm_backward(N_, C_);
}

void Tracer::embedding_backward() {
    if (in_.precision == Precision::Bf16Full && !freezes_embedding(in_.lora)) heap_.touch(4 * V_ * C_);
}

Heap Tracer::run() {
    const Block weights = heap_.take(weight_bytes(in_), MemoryPart::Weights);
    const Block gradients = heap_.take(gradient_bytes(in_), MemoryPart::Gradients);
    const Block optimizer = heap_.take(optimizer_bytes(in_), MemoryPart::Optimizer);
    // token ids and labels; places and keys for dropout; places, positions and rotary tables of a sequence
    const Block inputs = heap_.take(
        (in_.lora.dropout > 0 ? 40 : 16) * N_ +
            double(in_.shard_tokens) * (4 * double(model_.head_dim) * double(model_.ropes.size()) + 16),
        kActivations);
    {
        Block others = heap_.take(kept_bytes(in_, double(layer_)), kActivations);
        Layer last;
        last.x = heap_.take(hidden_states(N_), kActivations);
        Block y;
        {
            const Block units = heap_.take(layer_forward_unit_bytes(in_));
            attention_forward(last, true);
            const double tile = mlp_tokens();
            const Block matrices = quantizes_inputs() ? Block() : hold_mlp_matrices();
            Block gate_up = mlp_forward(tile);
            if (in_.mlp_tile_tokens > 0) y = heap_.take(hidden_states(N_));
            Block end = down_forward(tile);
            const double act = model_.norms_outputs ? 0 : tile * I_ * element();  // a norm follows it
            if (in_.mlp_tile_tokens > 0) {
                heap_.touch(act + hidden_states(tile));
            } else {
                y = heap_.take(hidden_states(N_));
                heap_.touch(act);
                last.mlp = std::move(gate_up);
                last.mlp_end = std::move(end);
            }
            holds_ = false;
        }
        if (in_.gradient_checkpointing) {  // only the input, and maybe attention's output, is kept
            Block x = std::move(last.x), attention = std::move(last.attention);
            last = Layer();
            last.x = std::move(x);
            if (in_.keeps_attention) last.attention = std::move(attention);
            if (in_.offloads_activations && on_gpu()) last.x.free();
        }
        {
            const Block units = heap_.take(head_unit_bytes(in_));
            head();
        }
        y.free();
        const Block dx = heap_.take(hidden_states(N_));
        const Block units = heap_.take(layer_unit_bytes(in_, layer_ + 1 == in_.model.num_layers));
        if (!last.x.is_held()) last.x = heap_.take(hidden_states(N_), kActivations);
        if (in_.gradient_checkpointing) attention_forward(last, !in_.keeps_attention);
        mlp_backward(last);
        last.mid.free();
        attention_backward(last);
    }
    const Block dx = heap_.take(hidden_states(N_));
    const Block units = heap_.take(embedding_unit_bytes(in_));
    embedding_backward();
    return heap_;
}

}  // namespace

void Heap::change(double bytes, MemoryPart part) {
    double& of_part = now_[static_cast<size_t>(part)];
    double& most = most_[static_cast<size_t>(part)];
    of_part += bytes;
    most = std::max(most, of_part);
    sum_ += bytes;
    if (sum_ <= peak_) return;
    peak_ = sum_;
    at_peak_ = now_;
}

Heap trace_step(const MemoryInputs& in) {
    const int64_t last = in.model.num_layers - 1;
    Heap most = Tracer(in, last).run();
    std::vector<int64_t> windows = {window_of(in, last)};
    for (int64_t layer = last - 1; layer >= 0; --layer) {
        const bool is_new = std::find(windows.begin(), windows.end(), window_of(in, layer)) == windows.end();
        const bool before_head = layer == last - 1 && in.zero_stage > 0;
        if (!is_new && !before_head) continue;
        if (is_new) windows.push_back(window_of(in, layer));
        Heap traced = Tracer(in, layer).run();
        if (traced.peak() > most.peak()) most = traced;
    }
    return most;
}

}  // namespace ringmaster
