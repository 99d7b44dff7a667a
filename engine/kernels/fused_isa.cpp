// Compiled once for each instruction set: RINGMASTER_ISA is the namespace that the tables of this one live
// in.
#include <cmath>

#include "engine/kernels/elements.h"
#include "engine/kernels/exponential.h"
#include "engine/kernels/fused.h"

namespace ringmaster::RINGMASTER_ISA {

namespace {

template <typename T>
void rms_norm_forward(const T* x, const T* weight, T* y, float* rstd, int64_t rows, int64_t width,
                      int64_t x_stride, int64_t y_stride, float eps) {
    for (int64_t n = 0; n < rows; ++n, x += x_stride, y += y_stride) {
        float squares = 0;
#pragma omp simd reduction(+ : squares)
        for (int64_t w = 0; w < width; ++w) squares += load(x[w]) * load(x[w]);
        float r = 1.0F / std::sqrt(squares / static_cast<float>(width) + eps);
        rstd[n] = r;
#pragma omp simd
        for (int64_t w = 0; w < width; ++w) store(y[w], load(x[w]) * r * load(weight[w]));
    }
}

template <typename T>
void rms_norm_backward_input(const T* dy, const T* x, const T* weight, const float* rstd, T* dx, int64_t rows,
                             int64_t width, int64_t dy_stride, int64_t x_stride, int64_t dx_stride,
                             bool accumulate) {
    for (int64_t n = 0; n < rows; ++n, dy += dy_stride, x += x_stride, dx += dx_stride) {
        float dot = 0;
#pragma omp simd reduction(+ : dot)
        for (int64_t w = 0; w < width; ++w) dot += load(dy[w]) * load(weight[w]) * load(x[w]);
        float r = rstd[n];
        float pull = dot * r * r * r / static_cast<float>(width);
        if (accumulate) {
#pragma omp simd
            for (int64_t w = 0; w < width; ++w) {
                store(dx[w], load(dx[w]) + load(dy[w]) * load(weight[w]) * r - load(x[w]) * pull);
            }
        } else {
#pragma omp simd
            for (int64_t w = 0; w < width; ++w)
                store(dx[w], load(dy[w]) * load(weight[w]) * r - load(x[w]) * pull);
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
void rope(T* x, const float* cos, const float* sin, int64_t first_row, int64_t rows, int64_t period,
          int64_t heads, int64_t head_dim, int64_t row_stride, float direction) {
    const int64_t half = head_dim / 2;
    for (int64_t n = 0; n < rows; ++n, x += row_stride) {
        const float* c = cos + (first_row + n) % period * half;
        const float* s = sin + (first_row + n) % period * half;
        for (int64_t h = 0; h < heads; ++h) {
            T* low = x + h * head_dim;
            T* high = low + half;
#pragma omp simd
            for (int64_t i = 0; i < half; ++i) {
                float a = load(low[i]);
                float b = load(high[i]);
                float turn = s[i] * direction;
                store(low[i], a * c[i] - b * turn);
                store(high[i], b * c[i] + a * turn);
            }
        }
    }
}

template <typename T>
void swiglu_forward(const T* gate_up, T* act, int64_t rows, int64_t width) {
    for (int64_t n = 0; n < rows; ++n, gate_up += 2 * width, act += width) {
        const T* up = gate_up + width;
#pragma omp simd
        for (int64_t w = 0; w < width; ++w) {
            float g = load(gate_up[w]);
            store(act[w], g / (1.0F + exponential(-g)) * load(up[w]));
        }
    }
}

template <typename T>
void swiglu_backward(T* gate_up, T* act, const T* dact, int64_t rows, int64_t width) {
    for (int64_t n = 0; n < rows; ++n, gate_up += 2 * width, act += width, dact += width) {
        T* up = gate_up + width;
#pragma omp simd
        for (int64_t w = 0; w < width; ++w) {
            float g = load(gate_up[w]);
            float u = load(up[w]);
            float d = load(dact[w]);
            float sigmoid = 1.0F / (1.0F + exponential(-g));
            float silu = g * sigmoid;
            store(act[w], silu * u);
            store(gate_up[w], d * u * (sigmoid + silu * (1.0F - sigmoid)));
            store(up[w], d * silu);
        }
    }
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
    rms_norm_forward<T>, rms_norm_backward_input<T>, rms_norm_backward_weight<T>, rope<T>, swiglu_forward<T>,
    swiglu_backward<T>,  cross_entropy<T>,           embedding_backward<T>,
};

}  // namespace

extern const FusedKernels<float> kFloatKernels;
extern const FusedKernels<Bf16> kBf16Kernels;
const FusedKernels<float> kFloatKernels = kTable<float>;
const FusedKernels<Bf16> kBf16Kernels = kTable<Bf16>;

}  // namespace ringmaster::RINGMASTER_ISA
