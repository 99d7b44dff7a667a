/// Describes a low-rank adapter on frozen weights, with PEFT's names: a module's output gets an additional
/// scale · dropout(x)·Aᵀ·Bᵀ, A [r, inputs], B [outputs, r]. Source: Hu et al. 2021, "LoRA", section 4.1; the
/// scale of `peft_use_rslora` is Kalajdzievski 2023, equation 7.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <string>
#include <vector>

namespace ringmaster {

struct Lora {
    int64_t r = 0;  ///< 0: no adapter, all weights are trained
    int64_t alpha = 0;
    double dropout = 0;
    bool rslora = false;
    std::vector<std::string> targets;  ///< targets in the form that lora_targets.h writes
    std::string model_dir;             ///< PEFT folder to resume from; empty: A random, B zero
    std::string base_model;            ///< model name stored in a saved adapter
    std::vector<int64_t> layers = {};  ///< adapted layers, ascending; empty: all
    /// DoRA: trains the length of each row of an adapted weight separately from its direction.
    bool dora = false;
    /// Parameters outside linear modules that get an adapter, by PEFT's names, such as
    /// "mlp.experts.gate_up_proj"; once the model is known, names within a layer.
    std::vector<std::string> parameters = {};

    bool on() const { return r > 0; }
    bool adapts(int64_t layer) const {
        return layers.empty() || std::binary_search(layers.begin(), layers.end(), layer);
    }
    double scale() const { return double(alpha) / (rslora ? std::sqrt(double(r)) : double(r)); }
};

}  // namespace ringmaster
