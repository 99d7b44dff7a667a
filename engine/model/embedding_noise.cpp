#include "engine/model/embedding_noise.h"

#include "engine/model/dropout.h"

namespace ringmaster {

namespace {

constexpr uint64_t kOwnStream = 0x6e656674756e65;  // stream that no module's dropout uses

}  // namespace

EmbeddingNoise::EmbeddingNoise(const Config& config) : rule_(noise_rule(config)) {}

void EmbeddingNoise::begin_step(int64_t seed, int64_t step) {
    stream_ = mixed(mixed(static_cast<uint64_t>(seed) ^ kOwnStream) ^ static_cast<uint64_t>(step));
}

void EmbeddingNoise::add(const at::Tensor& x_nc, const at::Tensor& places_n, int64_t length) const {
    add_noise(x_nc, dropout_keys(places_n, stream_), stream_, noise_limit(rule_, length, x_nc.size(1)));
}

}  // namespace ringmaster
