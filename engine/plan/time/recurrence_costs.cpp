#include "engine/plan/time/recurrence_costs.h"

#include "engine/piece_sizes.h"

namespace ringmaster {

int64_t attending_layers_of(const ModelConfig& model) {
    int64_t count = 0;
    for (int64_t layer = 0; layer < model.num_layers; ++layer)
        count += model.layer_kind(layer).attends() ? 1 : 0;
    return count;
}

int64_t recurring_layers_of(const ModelConfig& model) {
    if (model.has_attention_and_recurrence()) return model.num_layers;
    int64_t count = 0;
    for (int64_t layer = 0; layer < model.num_layers; ++layer)
        count += model.layer_kind(layer).is_recurrent ? 1 : 0;
    return count;
}

double recurrence_flops(const ModelConfig& model) {
    constexpr double kChunk = pieces::kChunkTokens;
    constexpr double kOperationsPerNumber =
        20;  // operations per number of Mamba-1's state, for an exponential and six other operations
    const DeltaSizes& d = model.delta;
    if (d.convolved > 0) return double(d.convolved) * (2 * double(d.taps) + 2);
    const auto K = double(d.key_width), V = double(d.value_width);
    if (d.scans()) return double(d.values()) * (kOperationsPerNumber * K + 2 * double(d.taps));
    if (d.state_space.on)
        return 2 * double(d.value_heads) * (kChunk * (K / double(d.heads_per_key()) + V) / 2 + 2 * K * V);
    const double in_chunk = kChunk * (2 * K / double(d.heads_per_key()) + (K + V) / 2 + V);
    return 2 * double(d.value_heads) * (in_chunk + 3 * K * V);
}

double scan_bytes(const ModelConfig& model) {
    constexpr double kBytesPerNumber = 76;  // bytes per number of a state: decays, states twice, and outputs
    return model.delta.scans() ? kBytesPerNumber * double(model.delta.values() * model.delta.keys()) : 0;
}

double stretch_bytes(const ModelConfig& model, double element_bytes) {
    const DeltaSizes& d = model.delta;
    const int64_t transition = d.state_space.on ? 1 : d.key_width;
    return 4 * double(d.value_heads * d.key_width * (transition + d.value_width)) +
           element_bytes * double((d.taps - 1) * d.channels());
}

}  // namespace ringmaster
