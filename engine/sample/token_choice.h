/// Chooses a sequence's next token from the model's logits.
#pragma once

#include <cstdint>

namespace ringmaster {

/// Says how tokens are chosen, with the meaning of transformers' generation parameters.
struct TokenChoice {
    double temperature = 0;  ///< divides the logits; if 0, the most probable token is chosen
    int64_t top_k = 0;       ///< if not 0, only the k most probable tokens and ties with the last
    double top_p = 1;        ///< of these, only the most probable that together have this probability
    int64_t seed = 0;
    double divided_by = 1;  ///< trl.temperature, by which the model has already divided the logits
};

struct ChosenToken {
    int64_t id = 0;
    double log_probability = 0;  ///< computed after temperature (1 for temperature 0), before top_k and top_p
};

/// Returns a number in [0, 1) that depends only on the arguments. `stream` numbers the sequence, and `index`
/// the token in it.
double random_number(int64_t seed, int64_t stream, int64_t index);

/// Chooses a token; `random` is in [0, 1). Overwrites the logits. Throws Error(Refused) if a logit is not a
/// number.
ChosenToken choose_token(float* logits, int64_t count, const TokenChoice& choice, double random);

}  // namespace ringmaster
