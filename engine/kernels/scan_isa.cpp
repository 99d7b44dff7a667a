// This file is compiled once for each instruction set, as fused_isa.cpp is.
#include "engine/kernels/scan.h"

#include <algorithm>
#include <cmath>

#include "engine/kernels/exponential.h"

namespace ringmaster::RINGMASTER_ISA {

static inline double exponential(double x) {
    return std::exp(x);
}

namespace {

constexpr int64_t L = kScanLanes;

/// One token's numbers for all lanes.
template <typename Number>
struct Token {
    const Number *x, *step, *keys, *queries;

    Token(const ScanTokens<Number>& in, int64_t t)
        : x(in.x_tl + t * in.stride),
          step(in.steps_tl + t * in.stride),
          keys(in.keys_tk + t * in.states),
          queries(in.queries_tk + t * in.states) {}
};

/// Writes the decays of one token, and writes the state after the token to `after`, which may be `state`.
template <typename Number>
inline void advance(const ScanTokens<Number>& in, const Token<Number>& at, const Number* state, Number* after,
                    Number* decays) {
    Number written[L];
#pragma omp simd
    for (int64_t l = 0; l < L; ++l) written[l] = at.step[l] * at.x[l];
    for (int64_t k = 0; k < in.states; ++k) {
        const Number key = at.keys[k];
        const Number* rates = in.rates_kl + k * L;
#pragma omp simd
        for (int64_t l = 0; l < L; ++l) {
            const Number decay = exponential(at.step[l] * rates[l]);
            if (decays != nullptr) decays[k * L + l] = decay;
            after[k * L + l] = decay * state[k * L + l] + key * written[l];
        }
    }
}

template <typename Number>
void forward(const ScanTokens<Number>& in, Number* state, Number* y) {
    for (int64_t t = 0; t < in.tokens; ++t) {
        const Token<Number> at(in, t);
        advance<Number>(in, at, state, state, nullptr);
        if (y == nullptr) continue;
        Number sum[L] = {};
        for (int64_t k = 0; k < in.states; ++k) {
            const Number query = at.queries[k];
#pragma omp simd
            for (int64_t l = 0; l < L; ++l) sum[l] += query * state[k * L + l];
        }
        std::copy_n(sum, L, y + t * in.stride);
    }
}

template <typename Number>
void state_gradient(const ScanTokens<Number>& in, const Number* dy, Number* dstate) {
    for (int64_t t = in.tokens - 1; t >= 0; --t) {
        const Token<Number> at(in, t);
        const Number* dout = dy + t * in.stride;
        for (int64_t k = 0; k < in.states; ++k) {
            const Number query = at.queries[k];
            const Number* rates = in.rates_kl + k * L;
#pragma omp simd
            for (int64_t l = 0; l < L; ++l)
                dstate[k * L + l] =
                    exponential(at.step[l] * rates[l]) * (dstate[k * L + l] + query * dout[l]);
        }
    }
}

/// Computes the gradients of one token. `before` and `after` are the states before and after the token.
template <typename Number>
inline void token_gradient(const ScanTokens<Number>& in, int64_t t, const Number* dout, const Number* before,
                           const Number* after, const Number* decays, Number* dstate, Number* drates,
                           const ScanGradients<Number>& out) {
    const Token<Number> at(in, t);
    Number dwritten[L] = {}, dstep[L] = {};
    for (int64_t k = 0; k < in.states; ++k) {
        const Number query = at.queries[k], key = at.keys[k];
        const Number* rates = in.rates_kl + k * L;
        Number dquery = 0, dkey = 0;
#pragma omp simd reduction(+ : dquery, dkey)
        for (int64_t l = 0; l < L; ++l) {
            const int64_t i = k * L + l;
            const Number d = dstate[i] + query * dout[l];
            dquery += dout[l] * after[i];
            dkey += d * at.step[l] * at.x[l];
            dwritten[l] += d * key;
            const Number dexponent = d * before[i] * decays[i];
            dstep[l] += dexponent * rates[l];
            drates[i] += dexponent * at.step[l];
            dstate[i] = d * decays[i];
        }
        out.dqueries_tk[t * in.states + k] = dquery;
        out.dkeys_tk[t * in.states + k] = dkey;
    }
#pragma omp simd
    for (int64_t l = 0; l < L; ++l) {
        out.dx_tl[t * in.stride + l] = dwritten[l] * at.step[l];
        out.dsteps_tl[t * in.stride + l] = dstep[l] + dwritten[l] * at.x[l];
    }
}

template <typename Number>
void backward(const ScanTokens<Number>& in, const Number* dy, Number* state, Number* dstate,
              const ScanGradients<Number>& out, Number* scratch) {
    const int64_t size = in.states * L, chunks = (in.tokens + kScanChunk - 1) / kScanChunk;
    Number *begins = scratch, *states = begins + chunks * size, *decays = states + (kScanChunk + 1) * size,
           *drates = decays + kScanChunk * size;
    for (int64_t t = 0; t < in.tokens; ++t) {
        if (t % kScanChunk == 0) std::copy_n(state, size, begins + t / kScanChunk * size);
        advance<Number>(in, Token<Number>(in, t), state, state, nullptr);
    }
    for (int64_t chunk = chunks - 1; chunk >= 0; --chunk) {
        const int64_t begin = chunk * kScanChunk, end = std::min(begin + kScanChunk, in.tokens);
        std::copy_n(begins + chunk * size, size, states);
        for (int64_t t = begin; t < end; ++t)
            advance<Number>(in, Token<Number>(in, t), states + (t - begin) * size,
                            states + (t - begin + 1) * size, decays + (t - begin) * size);
        // Each chunk is summed separately first, which loses fewer digits than one long sum.
        std::fill_n(drates, size, Number(0));
        for (int64_t t = end - 1; t >= begin; --t)
            token_gradient<Number>(in, t, dy + t * in.stride, states + (t - begin) * size,
                                   states + (t - begin + 1) * size, decays + (t - begin) * size, dstate,
                                   drates, out);
#pragma omp simd
        for (int64_t i = 0; i < size; ++i) out.drates_kl[i] += drates[i];
    }
}

}  // namespace

extern const ScanKernels<float> kFloatScan;
extern const ScanKernels<double> kDoubleScan;
const ScanKernels<float> kFloatScan = {forward<float>, state_gradient<float>, backward<float>};
const ScanKernels<double> kDoubleScan = {forward<double>, state_gradient<double>, backward<double>};

}  // namespace ringmaster::RINGMASTER_ISA
