/// Generates completions of prompts with a decoder: several at once, each token with its log-probability.
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "engine/events/progress.h"
#include "engine/model/decoder.h"
#include "engine/sample/token_choice.h"

namespace ringmaster {

struct Prompt {
    std::vector<int64_t> ids;
    /// Number of the prompt. The random numbers depend only on this number and the seed, not on the other
    /// prompts of the batch.
    int64_t stream = 0;
};

struct Generation {
    TokenChoice choice = {};
    int64_t max_new_tokens = 200;
    std::vector<int64_t> stop_ids = {};  ///< tokens that end a completion, which includes its stop token
    int64_t at_once = 32;                ///< maximum number of sequences that are decoded together
    /// Set if ranks must make the same number of passes: returns whether any rank needs another pass. All
    /// ranks call it before each pass.
    std::function<bool(bool needs_pass)> any_rank = {};
};

struct Completion {
    std::vector<int64_t> ids = {};
    std::vector<double> log_probabilities = {};  ///< one for each token
    bool stopped = false;                        ///< true if the completion ends with a stop token
};

/// Called with each new token: the prompt's index, and the token. Returns false to end all generation.
using OnToken = std::function<bool(size_t prompt, const ChosenToken& token)>;

/// Throws Error(Refused) if a prompt is empty, has unknown tokens, or is longer than the model's
/// positions.
void check_prompts(const ModelConfig& model, const std::vector<Prompt>& prompts,
                   const Generation& generation);

/// Returns a completion for each prompt, which `check_prompts` has accepted. A completion ends with a stop
/// token, after max_new_tokens, or at the model's last position. A sequence that ends makes room for the next
/// prompt. On the CPU, a prompt's tokens do not depend on other prompts.
std::vector<Completion> generate(Decoder& decoder, const ModelConfig& model, at::ScalarType dtype,
                                 at::Device device, const std::vector<Prompt>& prompts,
                                 const Generation& generation, RankProgress& progress,
                                 const OnToken& on_token = {});

}  // namespace ringmaster
