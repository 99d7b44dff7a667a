/// Holds the sizes of multi-head latent attention, which computes queries from one short vector (latent), and
/// keys and values from another. Source: DeepSeek-AI 2024, "DeepSeek-V2", arXiv 2405.04434, section 2.1.
#pragma once

#include <cstdint>

namespace ringmaster {

struct LatentSizes {
    int64_t query_rank = 0;    ///< width of the queries' latent; 0 if queries come from the hidden states
    int64_t rank = 0;          ///< width of the latents of keys and values; 0 if attention has no latents
    int64_t rotary_width = 0;  ///< number of rotated elements of a key, which all heads share
    int64_t plain_width = 0;   ///< number of elements of a key that are separate for each head
    int64_t value_width = 0;
    double norm_eps = 1e-6;  ///< epsilon of the latents' norms

    bool on() const { return rank > 0; }
    int64_t key_width() const { return rotary_width + plain_width; }
};

}  // namespace ringmaster
