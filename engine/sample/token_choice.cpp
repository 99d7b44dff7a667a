#include "engine/sample/token_choice.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <vector>

#include "engine/error.h"
#include "engine/kernels/decode.h"
#include "engine/model/dropout.h"

namespace ringmaster {

namespace {

float sum_of_exponentials(const float* logits, int64_t count, float top) {
    return decode_kernels<float>().sum_exponentials(logits, count, top);
}

float highest(const float* logits, int64_t count) {
    const float top = *std::max_element(logits, logits + count);
    const float sum = sum_of_exponentials(logits, count, top);
    if (std::isfinite(top) && std::isfinite(sum)) return top;
    throw Error(Failure::Refused, Code("ENGINE-NOT-FINITE"), "the model's logits are not numbers", {},
                "generate from weights without NaN and infinity, or in float32");
}

/// Returns the top_k most probable tokens and any tied with the last of them; all tokens if top_k is 0.
std::vector<int64_t> most_probable(const float* logits, int64_t count, int64_t top_k) {
    std::vector<int64_t> ids(static_cast<size_t>(count));
    std::iota(ids.begin(), ids.end(), int64_t{0});
    if (top_k <= 0 || top_k >= count) return ids;
    std::vector<float> sorted(logits, logits + count);
    std::nth_element(sorted.begin(), sorted.begin() + (top_k - 1), sorted.end(), std::greater<float>());
    const float least = sorted[static_cast<size_t>(top_k - 1)];
    std::erase_if(ids, [&](int64_t id) { return logits[id] < least; });
    return ids;
}

/// Keeps the most probable tokens until their probabilities add up to top_p. Sorts the tokens in portions,
/// until enough are sorted.
void cut_to_nucleus(std::vector<int64_t>& ids, const float* logits, float top, double top_p) {
    if (top_p >= 1) return;
    double all = 0, seen = 0;
    for (const int64_t id : ids) all += std::exp(static_cast<double>(logits[id]) - top);
    const auto comes_first = [&](int64_t a, int64_t b) {
        return logits[a] > logits[b] || (logits[a] == logits[b] && a < b);
    };
    constexpr size_t kSortedAtOnce = 256;
    for (size_t sorted = 0; sorted < ids.size();) {
        const size_t end = std::min(ids.size(), std::max(kSortedAtOnce, 4 * sorted));
        std::partial_sort(ids.begin() + static_cast<std::ptrdiff_t>(sorted),
                          ids.begin() + static_cast<std::ptrdiff_t>(end), ids.end(), comes_first);
        for (; sorted < end; ++sorted) {
            if (sorted > 0 && seen >= top_p * all) return ids.resize(sorted);
            seen += std::exp(static_cast<double>(logits[ids[sorted]]) - top);
        }
    }
}

/// Returns the token at which the running sum of probabilities passes `random`.
int64_t drawn(const std::vector<int64_t>& ids, const float* logits, float top, double random) {
    double all = 0;
    std::vector<double> sums;
    sums.reserve(ids.size());
    for (const int64_t id : ids) sums.push_back(all += std::exp(static_cast<double>(logits[id] - top)));
    const auto at = std::upper_bound(sums.begin(), sums.end(), random * all);
    return ids[std::min(static_cast<size_t>(at - sums.begin()), ids.size() - 1)];
}

}  // namespace

double random_number(int64_t seed, int64_t stream, int64_t index) {
    uint64_t x = mixed(static_cast<uint64_t>(seed));
    x = mixed(x + static_cast<uint64_t>(stream));
    x = mixed(x + static_cast<uint64_t>(index));
    return static_cast<double>(x >> 11) * 0x1p-53;
}

ChosenToken choose_token(float* logits, int64_t count, const TokenChoice& choice, double random) {
    const double wanted = choice.temperature > 0 ? choice.temperature : 1;
    if (const auto divisor = static_cast<float>(wanted / choice.divided_by); divisor != 1) {
        for (int64_t id = 0; id < count; ++id) logits[id] /= divisor;
    }
    const float top = highest(logits, count);
    ChosenToken chosen;
    if (choice.temperature > 0) {
        std::vector<int64_t> ids = most_probable(logits, count, choice.top_k);
        cut_to_nucleus(ids, logits, top, choice.top_p);
        chosen.id = drawn(ids, logits, top, random);
    } else {
        chosen.id = std::max_element(logits, logits + count) - logits;
    }
    chosen.log_probability = static_cast<double>(logits[chosen.id] - top) -
                             std::log(static_cast<double>(sum_of_exponentials(logits, count, top)));
    return chosen;
}

}  // namespace ringmaster
