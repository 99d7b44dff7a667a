// Traces the gates of attention's output, the gated delta rule, a state space, and a short convolution:
// allocates and frees what engine/model/recurrence_machine.cpp and engine/recurrence do.
#include <algorithm>
#include <cmath>

#include "engine/plan/trace_machine.h"

namespace ringmaster {

namespace {

constexpr auto kActivations = MemoryPart::Activations;
constexpr double kChunk = 64;                          // same as in engine/recurrence/own_stretches.h
constexpr int64_t kElementsAtOnce = int64_t{4} << 20;  // same as in engine/recurrence/delta_layer.cpp

}  // namespace

Traced TraceMachine::take_gates(Traced& qkv_nw) const {
    const double q = double(model().num_heads * model().head_dim);
    const Traced taken = take(qkv_nw.rows(), qkv_nw.columns() - q, "queries, keys and values", kActivations);
    const Traced gates = take(qkv_nw.rows(), q, "gates of attention", kActivations);
    qkv_nw = taken;
    return gates;
}

Traced TraceMachine::put_gates(const Traced& qkv_nw, const Traced& gates_nw) const {
    return take(qkv_nw.rows(), qkv_nw.columns() + gates_nw.columns());
}

Traced TraceMachine::gate_heads(const Traced&, const Traced& gates_nw) const {
    return take(gates_nw.rows(), gates_nw.columns());
}

void TraceMachine::gate_heads_backward(const Traced&, const Traced&, const Traced& gates_nw) const {
    heap_.touch(3 * gates_nw.elements() * in_.element_bytes());
}

namespace {

/// Sizes of a few key heads that are computed together, in float32 elements.
struct AtOnce {
    double positions, sources, channels, heads;  ///< heads: rows × value heads
    double of_keys, of_values, of_chunks, of_states;
    double shared_keys;  ///< keys before each value head has its own

    AtOnce(const MemoryInputs& in, double stretches) {
        const DeltaSizes& d = in.model.delta;
        const double rows = double(in.micro), G = double(d.heads_per_key());
        const double chunks = stretches * std::ceil(double(in.shard_tokens) / stretches / kChunk);
        positions = chunks * kChunk;
        const int64_t of_head = std::llround(rows * positions * G) * std::max(d.key_width, d.value_width);
        const double keys =
            double(std::clamp<int64_t>(kElementsAtOnce / std::max<int64_t>(1, of_head), 1, d.key_heads));
        sources = rows * (double(in.shard_tokens) + 1);
        channels = keys * (2 * double(d.key_width) + G * double(d.value_width));
        heads = rows * keys * G;
        of_keys = heads * positions * double(d.key_width);
        shared_keys = of_keys / G;
        of_values = heads * positions * double(d.value_width);
        of_chunks = heads * positions * kChunk;
        of_states = heads * chunks * double(d.key_width * d.value_width);
    }
};

/// Returns the elements of what a few heads of a state space read, in chunks: values before and after they
/// are multiplied by steps, keys and queries with and without decay, and the chunk's scores and decays.
double of_space(const MemoryInputs& in, const AtOnce& at) {
    const double inputs = at.sources * at.channels + 2 * at.heads * at.positions;
    const double mixed = double(in.micro) * at.positions * at.channels;
    return inputs + mixed + 2 * at.shared_keys + 2 * at.of_values + 2 * at.of_keys + 2 * at.of_chunks;
}

double stretches_of_rank(const MemoryInputs& in) {
    const bool halves = in.layout == RingAttnFunc::BatchZigzag || in.layout == RingAttnFunc::VarlenZigzag;
    return halves && in.ring > 1 ? 2 : 1;
}

}  // namespace

TraceMachine::Recurred TraceMachine::recur(const Traced& projected_nw) {
    const DeltaSizes& d = model().delta;
    const double ranks = double(in_.ring * in_.ulysses), stretches = stretches_of_rank(in_);
    const double of_head = double(in_.micro) * 4 * double(d.value_heads) * double(d.key_width);
    const double states = stretches * of_head * double(d.value_width);
    const double maps = stretches * of_head * double((d.state_space.on ? 1 : d.key_width) + d.value_width);
    Recurred recurred;
    recurred.heads_nw = take(projected_nw.rows(), double(d.values()), "output of a recurrence", kActivations);
    if (ranks > 1) recurred.states = {heap_, 1, 1, maps, kActivations, "states of a recurrence"};
    const AtOnce at(in_, stretches);
    {
        const Heap::Block gathered = heap_.take(ranks > 1 ? (ranks + 1) * maps + states : 0);
        const double inputs = at.sources * at.channels + at.heads * at.positions * 2;
        const double mixed = double(in_.micro) * at.positions * at.channels;
        const double rule = 3 * at.of_chunks + 4 * at.of_keys + at.of_values;
        heap_.touch(4 * (d.state_space.on
                             ? of_space(in_, at) + 2 * at.of_values
                             : inputs + 2 * mixed + rule + 2 * std::max(at.of_keys, at.of_values)));
    }
    return recurred;
}

Traced TraceMachine::gated(const Traced&, const Recurred& recurred) {
    const double elements = recurred.heads_nw.elements();
    heap_.touch(elements * (4 * 3 + (in_.element_bytes() == 4 ? 0 : 4 + in_.element_bytes())));
    return take(recurred.heads_nw.rows(), recurred.heads_nw.columns());
}

void TraceMachine::recur_backward(Traced dgated_nw, const Traced&, Recurred recurred, double) {
    const AtOnce at(in_, stretches_of_rank(in_));
    const Heap::Block dheads = heap_.take(4 * recurred.heads_nw.elements());
    if (!model().delta.state_space.on) dgated_nw.reset();
    const double inputs = at.sources * at.channels + at.heads * at.positions * 2;
    const double mixed = double(in_.micro) * at.positions * at.channels;
    const double rule = 3 * at.of_chunks + 4 * at.of_keys + at.of_values;
    if (const DeltaSizes& d = model().delta; d.state_space.on)
        return heap_.touch(4 * (of_space(in_, at) + 2 * at.of_states + 2 * at.of_values + 2 * at.of_keys +
                                2 * at.shared_keys + (2 + 1 / double(d.heads_per_key())) * at.of_chunks));
    const double kept = 2 * at.of_states + 2 * at.of_values;
    heap_.touch(4 * (inputs + 2 * mixed + rule + kept + 3 * at.of_keys + 2 * at.of_chunks));
}

namespace {

/// Float32 bytes of a short convolution's channels, for the tokens of a rank and for their places in chunks.
struct Convolved {
    double tokens, positions;

    explicit Convolved(const MemoryInputs& in) {
        const double channels = 4 * double(in.micro) * double(in.model.delta.convolved);
        const double stretches = stretches_of_rank(in);
        tokens = channels * double(in.shard_tokens);
        positions = channels * stretches * std::ceil(double(in.shard_tokens) / stretches / kChunk) * kChunk;
    }
};

}  // namespace

Traced TraceMachine::convolve(const Traced& projected_nw) {
    const Convolved size(in_);
    heap_.touch(size.tokens + 2 * size.positions);
    return take(projected_nw.rows(), double(model().delta.convolved));
}

void TraceMachine::convolve_backward(const Traced&, const Traced&, double) {
    const Convolved size(in_);
    heap_.touch(4 * size.tokens + 2 * size.positions);
}

}  // namespace ringmaster
