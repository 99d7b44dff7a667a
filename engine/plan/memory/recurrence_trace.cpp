// Traces the gates of attention's output, the gated delta rule, state spaces, and a short convolution:
// allocates and frees the same memory as engine/model/recurrence_machine.cpp and engine/recurrence.
#include <algorithm>
#include <cmath>

#include "engine/piece_sizes.h"
#include "engine/plan/memory/trace_machine.h"

namespace ringmaster {

namespace {

constexpr double kChunk = pieces::kChunkTokens;
constexpr int64_t kLanes = pieces::kScanLanes;

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
    double positions, sources, channels, heads;  ///< `heads` is rows × value heads
    double of_keys, of_values, of_chunks, of_states;
    double shared_keys;  ///< keys before the repetition for each value head

    AtOnce(const MemoryInputs& in, double stretches) {
        const DeltaSizes& d = in.model.delta;
        const double rows = double(in.micro), G = double(d.heads_per_key());
        const double chunks = stretches * std::ceil(double(in.shard_tokens) / stretches / kChunk);
        positions = chunks * kChunk;
        const int64_t of_head = std::llround(rows * positions * G) * std::max(d.key_width, d.value_width);
        const double keys = double(
            std::clamp<int64_t>(pieces::kDeltaElements / std::max<int64_t>(1, of_head), 1, d.key_heads));
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

/// Returns the elements that a few heads of a state space read, in chunks: values before and after they
/// are multiplied by steps, keys and queries with and without decay, and the chunk's scores and decays.
double state_space_elements(const MemoryInputs& in, const AtOnce& at) {
    const double inputs = at.sources * at.channels + 2 * at.heads * at.positions;
    const double mixed = double(in.micro) * at.positions * at.channels;
    return inputs + mixed + 2 * at.shared_keys + 2 * at.of_values + 2 * at.of_keys + 2 * at.of_chunks;
}

double stretches_of_rank(const MemoryInputs& in) {
    const bool halves = in.layout == RingAttnFunc::BatchZigzag || in.layout == RingAttnFunc::VarlenZigzag;
    return halves && in.ring > 1 ? 2 : 1;
}

/// Sizes of the float32 tensors that a Mamba-1 layer computes at a time for a few channels, in bytes.
struct ScanAtOnce {
    double rows, tokens, positions, channels, states;
    bool converts;       ///< true: inputs are converted from 16 bits to float32
    bool by_operations;  ///< true: LibTorch's operations compute the scan
                         ///< (engine/recurrence/scan_by_operations.cpp)

    explicit ScanAtOnce(const MemoryInputs& in)
        : rows(double(in.micro)),
          tokens(double(in.shard_tokens)),
          positions(stretches_of_rank(in) *
                    std::ceil(double(in.shard_tokens) / stretches_of_rank(in) / kChunk) * kChunk),
          channels(double(in.model.delta.values())),
          states(double(in.model.delta.keys())),
          converts(in.element_bytes() != 4),
          by_operations(in.device == Device::Cuda) {}

    /// Returns how many channels are computed at a time: a multiple of `together`, but at most all channels.
    double at_once(double tokens_of_row, int64_t together) const {
        const bool scans = together > 1 && by_operations;
        const int64_t of_token = scans ? std::max<int64_t>(1, std::llround(states) / 8) : 1;
        const int64_t fitting =
            pieces::kScanElements / std::max<int64_t>(1, std::llround(rows * tokens_of_row) * of_token);
        return std::min(channels, double(std::max(together, fitting / together * together)));
    }
    /// Returns the bytes of one tensor of the channels computed at a time, over the tokens.
    double channels_bytes(int64_t together) const {
        const double lanes = std::ceil(at_once(tokens, together) / double(together)) * double(together);
        return 4 * rows * tokens * lanes;
    }
    /// Returns how many copies of x there are. There is none if all channels fit, fill whole groups and are
    /// in float32.
    double copies() const {
        const bool whole = at_once(tokens, kLanes) == channels && std::fmod(channels, double(kLanes)) == 0;
        return whole && !converts ? 0 : 1;
    }
    /// Returns the bytes of the gradients of keys or queries, separate for each group of channels.
    double of_groups() const {
        return 4 * rows * tokens * states * std::ceil(at_once(tokens, kLanes) / kLanes);
    }
    /// Returns the bytes of the states of the channels computed at a time. LibTorch's operations compute one
    /// position of every chunk at a time.
    double of_states() const { return channels_bytes(kLanes) * states / kChunk; }
    double of_keys() const { return 4 * rows * tokens * states; }
    /// Returns the bytes of one tensor of a convolution's channels over the positions.
    double convolved_bytes() const { return 4 * rows * positions * at_once(positions, 1); }
};

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
                             ? state_space_elements(in_, at) + 2 * at.of_values
                             : inputs + 2 * mixed + rule + 2 * std::max(at.of_keys, at.of_values)));
    }
    return recurred;
}

Traced TraceMachine::gated(const Traced&, const Recurred& recurred) {
    const double elements = recurred.heads_nw.elements();
    if (model().delta.scans()) {
        const Traced made = take(recurred.heads_nw.rows(), recurred.heads_nw.columns());
        const ScanAtOnce size(in_);
        heap_.touch(size.channels_bytes(1) * (size.converts ? 3 : 1));
        return made;
    }
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
        return heap_.touch(4 * (state_space_elements(in_, at) + 2 * at.of_states + 2 * at.of_values +
                                2 * at.of_keys + 2 * at.shared_keys +
                                (2 + 1 / double(d.heads_per_key())) * at.of_chunks));
    const double kept = 2 * at.of_states + 2 * at.of_values;
    heap_.touch(4 * (inputs + 2 * mixed + rule + kept + 3 * at.of_keys + 2 * at.of_chunks));
}

Traced TraceMachine::convolve_channels(const Traced& projected_nw) {
    const ScanAtOnce size(in_);
    const Traced made = take(projected_nw.rows(), size.channels, "channels of a recurrence", kActivations);
    // Holds the sources, the convolution's outputs, and silu of the outputs: by positions, with a row of
    // zeros, and by tokens.
    heap_.touch(5 * size.convolved_bytes());
    return made;
}

void TraceMachine::convolve_channels_backward(Traced, const Traced&, double) {
    const ScanAtOnce size(in_);
    // Holds the sources, the convolution's outputs, gradients before and after silu, gradients of the
    // sources, and the input or result of one tap.
    heap_.touch(6 * size.convolved_bytes());
}

TraceMachine::Recurred TraceMachine::scan(const Scanned& in) {
    const ScanAtOnce size(in_);
    const double ranks = double(in_.ring * in_.ulysses);
    const double maps = stretches_of_rank(in_) * 8 * size.rows * size.channels * size.states;
    const Heap::Block keys = heap_.take(in_.element_bytes() == 4 ? 0 : 2 * size.of_keys());
    Recurred recurred;
    if (ranks > 1) recurred.states = {heap_, 1, 1, maps, kActivations, "states of a recurrence"};
    recurred.heads_nw = take(in.channels.rows(), size.channels, "output of a recurrence", kActivations);
    const Heap::Block gathered = heap_.take(ranks > 1 ? (ranks + 1.5) * maps : 0);
    // Holds the steps before and after softplus, the outputs, and x.
    heap_.touch((3 + size.copies()) * size.channels_bytes(kLanes) +
                (size.by_operations ? 8 * size.of_states() : 0));
    return recurred;
}

TraceMachine::Scanned TraceMachine::scan_backward(Traced, const Traced&, const Scanned& in, Recurred,
                                                  double) {
    const ScanAtOnce size(in_);
    const Heap::Block keys =
        heap_.take(2 * size.of_keys() + (in_.element_bytes() == 4 ? 0 : 2 * size.of_keys()));
    const Traced dchannels = take(in.channels.rows(), size.channels, "gradient of a recurrence's channels");
    // Holds the steps before and after softplus, the gradients of outputs, x and steps, and x; then the
    // scan's own memory, or the gradient of the gate before and after silu.
    const double one = size.channels_bytes(kLanes);
    const double scan = size.by_operations ? (kChunk + 8) * size.of_states() : 2 * size.of_groups();
    heap_.touch((5 + size.copies()) * one + std::max(scan, (size.converts ? 4 : 2) * one));
    return {dchannels, in.steps, take(in.keys.rows(), in.keys.columns()),
            take(in.queries.rows(), in.queries.columns())};
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
