#include "engine/config/sections.h"

namespace ringmaster {
namespace {

/// Derives the accumulation from the file's batch_size; if the file gives both, reports whether they agree.
void divide_batch(KeyReader& keys, Config& config, int64_t batch, bool accumulation_given) {
    if (accumulation_given) {
        const int64_t product = config.micro_batch_size * config.gradient_accumulation_steps;
        if (product == batch) {
            return keys.warn(Form("CFG-BATCH-KEYS", "twice"), "batch_size");
        }
        return keys.error(Form("CFG-CONFLICT", "product"), "batch_size",
                          {{"batch", batch},
                           {"micro", config.micro_batch_size},
                           {"accumulation", config.gradient_accumulation_steps},
                           {"product", product}});
    }
    const int64_t micro = config.micro_batch_size;
    if (batch % micro != 0) {
        const int64_t below = batch / micro * micro;
        const int64_t nearest = below > 0 && batch - below <= below + micro - batch ? below : below + micro;
        return keys.error(
            Form("CFG-BATCH"), "batch_size",
            {{"batch", batch}, {"micro", micro}, {"nearest", nearest}, {"accumulation", nearest / micro}});
    }
    config.gradient_accumulation_steps = batch / micro;
}

/// Reads num_epochs. If max_steps sets the end, transformers ignores num_epochs, even -1.
void read_epochs(KeyReader& keys, Config& config) {
    const double least = config.max_steps ? std::numeric_limits<double>::lowest() : 0;
    const auto epochs = keys.number("num_epochs", {.least = least, .open_below = true});
    if (epochs && *epochs > 0) config.num_epochs = *epochs;
}

}  // namespace

void read_batch(KeyReader& keys, Config& config) {
    constexpr int64_t kMost = 1'000'000'000;
    const auto micro = keys.whole("micro_batch_size", {1, kMost});
    const auto accumulation = keys.whole("gradient_accumulation_steps", {1, kMost});
    const auto batch = keys.whole("batch_size", {1, kMost});
    take(config.micro_batch_size, micro);
    take(config.gradient_accumulation_steps, accumulation);
    if (batch) divide_batch(keys, config, *batch, accumulation.has_value());
    const int said =
        keys.has("micro_batch_size") + keys.has("gradient_accumulation_steps") + keys.has("batch_size");
    if (said < 2 && !config.accelerate_only) {
        keys.warn(Form("CFG-BATCH-KEYS", "one"), "micro_batch_size",
                  {{"micro", config.micro_batch_size}, {"accumulation", config.gradient_accumulation_steps}});
    }
    take(config.eval_batch_size, keys.whole("eval_batch_size", {1, kMost}));
    const auto steps = keys.whole("max_steps", {std::numeric_limits<int64_t>::min()});
    if (steps && *steps > 0) config.max_steps = *steps;
    read_epochs(keys, config);
}

}  // namespace ringmaster
