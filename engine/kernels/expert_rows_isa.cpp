// This file is compiled once for each instruction set, as fused_isa.cpp is.
#include "engine/kernels/expert_rows.h"

#include <algorithm>

#include "engine/kernels/elements.h"
#include "engine/kernels/gates.h"

namespace ringmaster::RINGMASTER_ISA {

namespace {

constexpr int64_t kColumns = 256;  // 256 sums fit in registers and the first-level cache

template <typename T>
void combine(const T* y, const int64_t* rows, const float* weights, T* out, int64_t tokens, int64_t per_token,
             int64_t width) {
    for (int64_t n = 0; n < tokens; ++n, rows += per_token, out += width) {
        for (int64_t begin = 0; begin < width; begin += kColumns) {
            const int64_t count = std::min(kColumns, width - begin);
            float sum[kColumns] = {};
            for (int64_t k = 0; k < per_token; ++k) {
                const T* row = y + rows[k] * width + begin;
                const float weight = weights == nullptr ? 1.0F : weights[n * per_token + k];
#pragma omp simd
                for (int64_t w = 0; w < count; ++w) sum[w] += weight * load(row[w]);
            }
#pragma omp simd
            for (int64_t w = 0; w < count; ++w) store(out[begin + w], sum[w]);
        }
    }
}

/// Computes gate_backward for one row. Returns Σ dact · f(gate) · up.
template <Activation kind, bool gated, typename T>
float weigh_row(T* gate_up, T* act, const T* dact, float weight, int64_t width) {
    T* up = gate_up + width;
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t w = 0; w < width; ++w) {
        const Sloped f = sloped<kind>(load(gate_up[w]));
        const float d = load(dact[w]), u = gated ? load(up[w]) : 1.0F;
        const float value = f.value * u, weighed = weight * d;
        sum += d * value;
        store(act[w], weight * value);
        store(gate_up[w], weighed * u * f.slope);
        if constexpr (gated) store(up[w], weighed * f.value);
    }
    return sum;
}

template <typename T>
float weigh_clamped_row(const GateRule& rule, T* pairs, T* act, const T* dact, float weight, int64_t width) {
    const auto limit = static_cast<float>(rule.limit), slope = static_cast<float>(rule.slope);
    float sum = 0;
#pragma omp simd reduction(+ : sum)
    for (int64_t w = 0; w < width; ++w) {
        const Clamped f = clamped(load(pairs[2 * w]), load(pairs[2 * w + 1]), limit, slope);
        const float d = load(dact[w]), value = f.value * f.up, weighed = weight * d;
        sum += d * value;
        store(act[w], weight * value);
        store(pairs[2 * w], weighed * f.up * f.slope);
        store(pairs[2 * w + 1], weighed * f.of_up);
    }
    return sum;
}

template <typename T>
void gate_backward(const GateRule& rule, T* gate_up, T* act, const T* dact, const float* weights, float* sums,
                   int64_t rows, int64_t width) {
    const auto each = [&](const auto& weigh) {
        const int64_t all = (rule.gated ? 2 : 1) * width;
        for (int64_t m = 0; m < rows; ++m)
            sums[m] = weigh(gate_up + m * all, act + m * width, dact + m * width, weights[m], width);
    };
    if (rule.is_clamped()) {
        each([&](T* pairs, T* a, const T* d, float weight, int64_t count) {
            return weigh_clamped_row(rule, pairs, a, d, weight, count);
        });
        return;
    }
    with_rule(rule, [&]<Activation kind, bool gated>() { each(weigh_row<kind, gated, T>); });
}

template <typename T>
constexpr ExpertRows<T> kTable = {combine<T>, gate_backward<T>};

}  // namespace

extern const ExpertRows<float> kFloatExperts;
extern const ExpertRows<Bf16> kBf16Experts;
extern const ExpertRows<Fp16> kFp16Experts;
const ExpertRows<float> kFloatExperts = kTable<float>;
const ExpertRows<Bf16> kBf16Experts = kTable<Bf16>;
const ExpertRows<Fp16> kFp16Experts = kTable<Fp16>;

}  // namespace ringmaster::RINGMASTER_ISA
