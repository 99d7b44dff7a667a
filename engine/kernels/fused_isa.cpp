// This file is compiled once for each instruction set: RINGMASTER_ISA is the namespace of that set's
// tables.
#include <cmath>

#include "engine/kernels/elements.h"
#include "engine/kernels/exponential.h"
#include "engine/kernels/fused.h"
#include "engine/kernels/gates.h"

namespace ringmaster::RINGMASTER_ISA {

namespace {

template <typename T>
void rms_norm_forward(const T* x, const T* weight, T* y, float* rstd, int64_t rows, int64_t width,
                      int64_t x_stride, int64_t y_stride, float eps, float offset) {
    for (int64_t n = 0; n < rows; ++n, x += x_stride, y += y_stride) {
        float squares = 0;
#pragma omp simd reduction(+ : squares)
        for (int64_t w = 0; w < width; ++w) squares += load(x[w]) * load(x[w]);
        float r = 1.0F / std::sqrt(squares / static_cast<float>(width) + eps);
        rstd[n] = r;
#pragma omp simd
        for (int64_t w = 0; w < width; ++w) store(y[w], load(x[w]) * r * (load(weight[w]) + offset));
    }
}

template <typename T>
void rms_norm_backward_input(const T* dy, const T* x, const T* weight, const float* rstd, T* dx, int64_t rows,
                             int64_t width, int64_t dy_stride, int64_t x_stride, int64_t dx_stride,
                             bool accumulate, float offset) {
    for (int64_t n = 0; n < rows; ++n, dy += dy_stride, x += x_stride, dx += dx_stride) {
        float dot = 0;
#pragma omp simd reduction(+ : dot)
        for (int64_t w = 0; w < width; ++w) dot += load(dy[w]) * (load(weight[w]) + offset) * load(x[w]);
        float r = rstd[n];
        float pull = dot * r * r * r / static_cast<float>(width);
        if (accumulate) {
#pragma omp simd
            for (int64_t w = 0; w < width; ++w) {
                store(dx[w], load(dx[w]) + load(dy[w]) * (load(weight[w]) + offset) * r - load(x[w]) * pull);
            }
        } else {
#pragma omp simd
            for (int64_t w = 0; w < width; ++w)
                store(dx[w], load(dy[w]) * (load(weight[w]) + offset) * r - load(x[w]) * pull);
        }
    }
}

template <typename T>
void rms_norm_backward_weight(const T* dy, const T* x, const float* rstd, float* dweight, int64_t rows,
                              int64_t begin, int64_t end, int64_t dy_stride, int64_t x_stride) {
    for (int64_t n = 0; n < rows; ++n, dy += dy_stride, x += x_stride) {
        float r = rstd[n];
#pragma omp simd
        for (int64_t w = begin; w < end; ++w) dweight[w] += load(dy[w]) * load(x[w]) * r;
    }
}

template <typename T>
void layer_norm_forward(const T* x, const T* weight, const T* bias, T* y, float* stats, int64_t rows,
                        int64_t width, int64_t x_stride, int64_t y_stride, float eps, float offset) {
    for (int64_t n = 0; n < rows; ++n, x += x_stride, y += y_stride) {
        float sum = 0, squares = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t w = 0; w < width; ++w) sum += load(x[w]);
        const float mean = sum / static_cast<float>(width);
#pragma omp simd reduction(+ : squares)
        for (int64_t w = 0; w < width; ++w) squares += (load(x[w]) - mean) * (load(x[w]) - mean);
        const float r = 1.0F / std::sqrt(squares / static_cast<float>(width) + eps);
        stats[2 * n] = mean;
        stats[2 * n + 1] = r;
#pragma omp simd
        for (int64_t w = 0; w < width; ++w)
            store(y[w], (load(x[w]) - mean) * r * (load(weight[w]) + offset) +
                            (bias == nullptr ? 0.0F : load(bias[w])));
    }
}

template <typename T>
void layer_norm_backward_input(const T* dy, const T* x, const T* weight, const float* stats, T* dx,
                               int64_t rows, int64_t width, int64_t dy_stride, int64_t x_stride,
                               int64_t dx_stride, bool accumulate, float offset) {
    for (int64_t n = 0; n < rows; ++n, dy += dy_stride, x += x_stride, dx += dx_stride) {
        const float mean = stats[2 * n], r = stats[2 * n + 1];
        float sum = 0, dot = 0;
#pragma omp simd reduction(+ : sum, dot)
        for (int64_t w = 0; w < width; ++w) {
            const float g = load(dy[w]) * (load(weight[w]) + offset);
            sum += g;
            dot += g * (load(x[w]) - mean);
        }
        const float level = sum * r / static_cast<float>(width);
        const float pull = dot * r * r * r / static_cast<float>(width);
#pragma omp simd
        for (int64_t w = 0; w < width; ++w) {
            const float g = load(dy[w]) * (load(weight[w]) + offset) * r;
            store(dx[w], (accumulate ? load(dx[w]) : 0.0F) + g - level - (load(x[w]) - mean) * pull);
        }
    }
}

template <typename T>
void layer_norm_backward_weight(const T* dy, const T* x, const float* stats, float* dweight, float* dbias,
                                int64_t rows, int64_t begin, int64_t end, int64_t dy_stride,
                                int64_t x_stride) {
    for (int64_t n = 0; n < rows; ++n, dy += dy_stride, x += x_stride) {
        const float mean = stats[2 * n], r = stats[2 * n + 1];
#pragma omp simd
        for (int64_t w = begin; w < end; ++w) dweight[w] += load(dy[w]) * (load(x[w]) - mean) * r;
        if (dbias == nullptr) continue;
#pragma omp simd
        for (int64_t w = begin; w < end; ++w) dbias[w] += load(dy[w]);
    }
}

/// Rotates one head: pair i is x[i · Step] and x[i · Step + apart].
template <int64_t Step, typename T>
void turn(T* x, int64_t apart, int64_t pairs, const float* c, const float* s, float direction) {
    T* high = x + apart;
#pragma omp simd
    for (int64_t i = 0; i < pairs; ++i) {
        float a = load(x[i * Step]);
        float b = load(high[i * Step]);
        float turn = s[i] * direction;
        store(x[i * Step], a * c[i] - b * turn);
        store(high[i * Step], b * c[i] + a * turn);
    }
}

template <typename T>
void rope(T* x, const float* cos, const float* sin, int64_t first_row, int64_t rows, int64_t period,
          int64_t heads, const HeadPairs& of, int64_t row_stride, float direction) {
    for (int64_t n = 0; n < rows; ++n, x += row_stride) {
        const float* c = cos + (first_row + n) % period * of.pairs;
        const float* s = sin + (first_row + n) % period * of.pairs;
        for (int64_t h = 0; h < heads; ++h) {
            T* head = x + h * of.head_dim;
            if (of.interleaved)
                turn<2>(head, 1, of.pairs, c, s, direction);
            else
                turn<1>(head, of.pairs, of.pairs, c, s, direction);
        }
    }
}

template <Activation kind, bool gated, typename T>
void gate_rows(const T* gate_up, T* act, int64_t rows, int64_t width) {
    for (int64_t n = 0; n < rows; ++n, gate_up += (gated ? 2 : 1) * width, act += width) {
        const T* up = gate_up + width;
#pragma omp simd
        for (int64_t w = 0; w < width; ++w) {
            const float value = value_of<kind>(load(gate_up[w]));
            if constexpr (gated)
                store(act[w], value * load(up[w]));
            else
                store(act[w], value);
        }
    }
}

template <Activation kind, bool gated, typename T>
void gate_rows_backward(T* gate_up, T* act, const T* dact, int64_t rows, int64_t width) {
    for (int64_t n = 0; n < rows; ++n, gate_up += (gated ? 2 : 1) * width, act += width, dact += width) {
        T* up = gate_up + width;
#pragma omp simd
        for (int64_t w = 0; w < width; ++w) {
            const Sloped f = sloped<kind>(load(gate_up[w]));
            const float d = load(dact[w]);
            const float u = gated ? load(up[w]) : 1.0F;
            store(act[w], f.value * u);
            store(gate_up[w], d * u * f.slope);
            if constexpr (gated) store(up[w], d * f.value);
        }
    }
}

template <typename T>
void clamped_rows(const GateRule& rule, const T* pairs, T* act, int64_t count) {
    const auto limit = static_cast<float>(rule.limit), slope = static_cast<float>(rule.slope);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
        const Clamped f = clamped(load(pairs[2 * i]), load(pairs[2 * i + 1]), limit, slope);
        store(act[i], f.value * f.up);
    }
}

template <typename T>
void clamped_rows_backward(const GateRule& rule, T* pairs, T* act, const T* dact, int64_t count) {
    const auto limit = static_cast<float>(rule.limit), slope = static_cast<float>(rule.slope);
#pragma omp simd
    for (int64_t i = 0; i < count; ++i) {
        const Clamped f = clamped(load(pairs[2 * i]), load(pairs[2 * i + 1]), limit, slope);
        const float d = load(dact[i]);
        store(act[i], f.value * f.up);
        store(pairs[2 * i], d * f.up * f.slope);
        store(pairs[2 * i + 1], d * f.of_up);
    }
}

template <typename T>
void gate_forward(const GateRule& rule, const T* gate_up, T* act, int64_t rows, int64_t width) {
    if (rule.is_clamped()) return clamped_rows(rule, gate_up, act, rows * width);
    with_rule(rule,
              [&]<Activation kind, bool gated>() { gate_rows<kind, gated>(gate_up, act, rows, width); });
}

template <typename T>
void gate_backward(const GateRule& rule, T* gate_up, T* act, const T* dact, int64_t rows, int64_t width) {
    if (rule.is_clamped()) return clamped_rows_backward(rule, gate_up, act, dact, rows * width);
    with_rule(rule, [&]<Activation kind, bool gated>() {
        gate_rows_backward<kind, gated>(gate_up, act, dact, rows, width);
    });
}

template <typename T>
void cross_entropy(T* logits, const int64_t* labels, float* loss, int64_t rows, int64_t vocab, float scale) {
    for (int64_t n = 0; n < rows; ++n, logits += vocab) {
        float top = load(logits[0]);
#pragma omp simd reduction(max : top)
        for (int64_t v = 0; v < vocab; ++v) {
            float l = load(logits[v]);
            top = l > top ? l : top;
        }
        float sum = 0;
#pragma omp simd reduction(+ : sum)
        for (int64_t v = 0; v < vocab; ++v) sum += exponential(load(logits[v]) - top);
        const int64_t label = labels[n];
        loss[n] = std::log(sum) + top - load(logits[label]);
        if (scale == 0) continue;
        const float factor = scale / sum;
        const float target = exponential(load(logits[label]) - top) * factor - scale;
#pragma omp simd
        for (int64_t v = 0; v < vocab; ++v) store(logits[v], exponential(load(logits[v]) - top) * factor);
        store(logits[label], target);
    }
}

template <typename T>
void embedding_backward(float* grad, const int64_t* ids, const T* dx, int64_t rows, int64_t width,
                        int64_t begin, int64_t end) {
    for (int64_t n = 0; n < rows; ++n, dx += width) {
        float* row = grad + ids[n] * width;
#pragma omp simd
        for (int64_t w = begin; w < end; ++w) row[w] += load(dx[w]);
    }
}

template <typename T>
constexpr FusedKernels<T> kTable = {
    rms_norm_forward<T>,
    rms_norm_backward_input<T>,
    rms_norm_backward_weight<T>,
    layer_norm_forward<T>,
    layer_norm_backward_input<T>,
    layer_norm_backward_weight<T>,
    rope<T>,
    gate_forward<T>,
    gate_backward<T>,
    cross_entropy<T>,
    embedding_backward<T>,
};

}  // namespace

extern const FusedKernels<float> kFloatKernels;
extern const FusedKernels<Bf16> kBf16Kernels;
extern const FusedKernels<Fp16> kFp16Kernels;
const FusedKernels<float> kFloatKernels = kTable<float>;
const FusedKernels<Bf16> kBf16Kernels = kTable<Bf16>;
const FusedKernels<Fp16> kFp16Kernels = kTable<Fp16>;

}  // namespace ringmaster::RINGMASTER_ISA
