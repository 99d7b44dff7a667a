/// Draws sequences of documents from a seed, the same on every machine.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <numbers>
#include <random>
#include <vector>

#include "engine/layout/attention_schedule.h"
#include "engine/layout/layout.h"
#include "engine/layout/layout_figures.h"

namespace ringmaster {

constexpr RingAttnFunc kEveryLayout[] = {RingAttnFunc::BatchRing,   RingAttnFunc::BatchZigzag,
                                         RingAttnFunc::BatchStripe, RingAttnFunc::VarlenLlama3,
                                         RingAttnFunc::VarlenRing,  RingAttnFunc::VarlenZigzag,
                                         RingAttnFunc::Balanced};

inline std::vector<int64_t> positions_of(const Spans& spans) {
    std::vector<int64_t> all;
    for (const Span& span : spans) {
        for (int64_t p = span.begin; p < span.end; p += span.step) all.push_back(p);
    }
    return all;
}

/// Returns the keys that a rank receives from the others.
inline int64_t received_keys(const AttentionSchedule& schedule) {
    int64_t count = 0;
    for (const Stage& stage : schedule.stages)
        for (const KeyExchange& exchange : stage.exchanges) count += exchange.received;
    return count;
}

/// Returns the keys that a rank sends, counted once for each rank that receives them.
inline int64_t sent_keys(const AttentionSchedule& schedule) {
    int64_t count = 0;
    for (const Stage& stage : schedule.stages)
        for (const KeyExchange& exchange : stage.exchanges) count += count_keys(exchange.sent);
    return count;
}

/// Returns the keys that all ranks receive.
inline int64_t all_received(const std::vector<RankFigures>& figures) {
    int64_t sum = 0;
    for (const RankFigures& rank : figures) sum += rank.received;
    return sum;
}

/// Uses Box and Muller's method, because the standard libraries' normal distributions differ.
inline double normal(std::mt19937_64& random) {
    const auto uniform = [&] { return (double(random() >> 11) + 0.5) / 9007199254740992.0; };
    return std::sqrt(-2 * std::log(uniform())) * std::cos(2 * std::numbers::pi * uniform());
}

/// Draws documents of log-normal length until they fill `tokens`; the last document is cut to fit.
inline AttentionMask log_normal_documents(int64_t tokens, double mu, double sigma, uint64_t seed) {
    std::mt19937_64 random(seed);
    AttentionMask mask;
    int64_t end = 0;
    while (end < tokens) {
        const double length = std::exp(mu + sigma * normal(random));
        end = std::min(tokens, end + std::max<int64_t>(1, static_cast<int64_t>(std::min(length, 1e15))));
        mask.documents.push_back(end);
    }
    return mask;
}

/// Returns whether the query sees the key, by the mask's definition.
inline bool sees(const AttentionMask& mask, int64_t query, int64_t key) {
    const auto document = [&](int64_t at) {
        return std::upper_bound(mask.documents.begin(), mask.documents.end(), at);
    };
    if (!mask.documents.empty() && document(query) == mask.documents.end()) return false;
    if (!mask.documents.empty() && document(query) != document(key)) {
        const auto index = static_cast<size_t>(document(query) - mask.documents.begin());
        const int64_t prompt = mask.continues.empty() ? -1 : mask.continues[index];
        if (prompt < 0 || document(key) - mask.documents.begin() != prompt) return false;
        const int64_t distance = *document(key) - key + query - *(document(query) - 1);
        return mask.window == 0 || distance < mask.window;
    }
    if (mask.causal && key > query) return false;
    return mask.window == 0 || std::abs(query - key) < mask.window;
}

}  // namespace ringmaster
