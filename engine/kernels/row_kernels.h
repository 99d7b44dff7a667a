/// Our CUDA kernels. Each is a value that holds one launch's pointers and sizes, and whose `row(lanes, r)` is
/// all that is computed for row r in [0, rows): written once, for the device, where the lanes are a warp's or
/// a block's threads (row_kernels.cu), and for the host, where tests run it with threads for lanes. No
/// LibTorch in here. Arithmetic and sums are float32 whatever the elements are; lanes of one row may not be
/// told apart by the result but for the order of sums.
///
/// Lanes: index() of count(), the same sum(x) and max(x) on all of them, sync() between what one writes and
/// another reads. All lanes of a row make the same calls.
///
/// Each moves fewer bytes than the plain LibTorch operations that it replaces (engine/model/plain_ops.cpp,
/// engine/attention/merge.cpp), most of which write a tensor that the next one reads. Bytes read and written
/// per element of bfloat16, ours and theirs: rms_norm 6 and 46, its gradients 14 and 92, rope 4 and 40,
/// swiglu 6 and 10, its gradients 12 and 126, the cross-entropy with its gradient 6 and 28, a merge 10
/// and 26. So a GPU computes with ours, unless RINGMASTER_CUDA_KERNELS says otherwise
/// (engine/attention/own_kernels.h).
///
/// Letters: B rows of a batch, T tokens, H heads, D head_dim, N rows, W width, V vocabulary.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <variant>

#include "engine/kernels/fused.h"

#ifdef __CUDACC__
#define RINGMASTER_ROW __host__ __device__ inline
#else
#define RINGMASTER_ROW inline
#endif

namespace ringmaster {

namespace row_kernels {

RINGMASTER_ROW float load(const float& x) {
    return x;
}
RINGMASTER_ROW void store(float& to, float x) {
    to = x;
}
RINGMASTER_ROW float load(const Bf16& x) {
    const uint32_t bits = static_cast<uint32_t>(x.bits) << 16;
    float value;
    memcpy(&value, &bits, sizeof value);
    return value;
}
RINGMASTER_ROW void store(Bf16& to, float x) {
    uint32_t bits;
    memcpy(&bits, &x, sizeof bits);
    const bool is_nan = (bits & 0x7fffffff) > 0x7f800000;
    const uint32_t rounded = (bits + 0x7fff + ((bits >> 16) & 1)) >> 16;
    to.bits = static_cast<uint16_t>(is_nan ? (bits >> 16) | 0x40 : rounded);
}

}  // namespace row_kernels

enum class LanesOfRow { Warp, Block };

/// out_bthd and lse_bht become the result over both sets of keys; lse is −infinity where no key was seen.
/// Source: Liu et al. 2023, "Ring Attention with Blockwise Transformers", section 3.
template <typename T>
struct MergeByLse {
    static constexpr LanesOfRow kLanes = LanesOfRow::Warp;
    struct Strides {
        int64_t b, t, h;  // of elements; the last dim is packed

        RINGMASTER_ROW int64_t at(int64_t ib, int64_t it, int64_t ih) const {
            return ib * b + it * t + ih * h;
        }
    };
    int64_t rows;  // B · T · H
    int64_t tokens, heads, head_dim;
    float* out;
    float* lse;
    const T* block_out;
    const float* block_lse;
    Strides out_strides, lse_strides, block_out_strides, block_lse_strides;

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        const int64_t h = r % heads, t = r / heads % tokens, b = r / heads / tokens;
        float& seen = lse[lse_strides.at(b, t, h)];
        const float old = seen, part = block_lse[block_lse_strides.at(b, t, h)];
        lanes.sync();  // one writes `seen` below
        const float top = old > part ? old : part;
        const bool none = top == -INFINITY;
        const float both = none ? top : top + log1pf(expf(-fabsf(old - part)));
        const float keep = none ? 0.0F : expf(old - both), add = none ? 0.0F : expf(part - both);
        float* out_d = out + out_strides.at(b, t, h);
        const T* part_d = block_out + block_out_strides.at(b, t, h);
        for (int64_t d = lanes.index(); d < head_dim; d += lanes.count())
            out_d[d] = out_d[d] * keep + row_kernels::load(part_d[d]) * add;
        if (lanes.index() == 0) seen = both;
    }
};

/// y = x · rstd · weight with rstd = (mean(x²) + eps)^-1/2, which is written, or read where it is `known`.
/// Source: Zhang & Sennrich 2019, equation 4.
template <typename T>
struct RmsNormForward {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    int64_t rows, width;
    int64_t x_stride, y_stride;  // from row to row
    const T* x;
    const T* weight;
    T* y;
    float* rstd;
    float eps;
    bool known;

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        const T* x_w = x + r * x_stride;
        T* y_w = y + r * y_stride;
        float scale;
        if (known) {
            scale = rstd[r];
        } else {
            float squares = 0;
            for (int64_t w = lanes.index(); w < width; w += lanes.count()) {
                const float value = row_kernels::load(x_w[w]);
                squares += value * value;
            }
            scale = 1.0F / sqrtf(lanes.sum(squares) / static_cast<float>(width) + eps);
            if (lanes.index() == 0) rstd[r] = scale;
        }
        for (int64_t w = lanes.index(); w < width; w += lanes.count())
            row_kernels::store(y_w[w], row_kernels::load(x_w[w]) * scale * row_kernels::load(weight[w]));
    }
};

/// dx (+)= rstd · (dy·weight − x · rstd² · mean(dy·weight·x)).
template <typename T>
struct RmsNormBackwardInput {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    int64_t rows, width;
    int64_t dy_stride, x_stride, dx_stride;
    const T* dy;
    const T* x;
    const T* weight;
    const float* rstd;
    T* dx;
    bool accumulate;

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        const T* dy_w = dy + r * dy_stride;
        const T* x_w = x + r * x_stride;
        T* dx_w = dx + r * dx_stride;
        float dot = 0;
        for (int64_t w = lanes.index(); w < width; w += lanes.count())
            dot += row_kernels::load(dy_w[w]) * row_kernels::load(weight[w]) * row_kernels::load(x_w[w]);
        const float scale = rstd[r];
        const float pull = lanes.sum(dot) * scale * scale * scale / static_cast<float>(width);
        for (int64_t w = lanes.index(); w < width; w += lanes.count()) {
            const float own = row_kernels::load(dy_w[w]) * row_kernels::load(weight[w]) * scale -
                              row_kernels::load(x_w[w]) * pull;
            row_kernels::store(dx_w[w], accumulate ? row_kernels::load(dx_w[w]) + own : own);
        }
    }
};

/// partial_cw = Σ over the tokens of chunk c of dy · x · rstd; whoever launches it adds the chunks. A row
/// here is kColumns columns of one chunk.
template <typename T>
struct RmsNormBackwardWeight {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    static constexpr int64_t kColumns = 256;
    int64_t rows;  // chunks · column blocks
    int64_t tokens, width, tokens_per_chunk;
    int64_t dy_stride, x_stride;
    const T* dy;
    const T* x;
    const float* rstd;
    float* partial;

    static int64_t column_blocks(int64_t width) { return (width + kColumns - 1) / kColumns; }

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        const int64_t blocks = (width + kColumns - 1) / kColumns;
        const int64_t chunk = r / blocks, first = r % blocks * kColumns;
        const int64_t end = first + kColumns < width ? first + kColumns : width;
        const int64_t begin_token = chunk * tokens_per_chunk;
        const int64_t end_token =
            begin_token + tokens_per_chunk < tokens ? begin_token + tokens_per_chunk : tokens;
        for (int64_t w = first + lanes.index(); w < end; w += lanes.count()) {
            float sum = 0;
            for (int64_t n = begin_token; n < end_token; ++n)
                sum += row_kernels::load(dy[n * dy_stride + w]) * row_kernels::load(x[n * x_stride + w]) *
                       rstd[n];
            partial[chunk * width + w] = sum;
        }
    }
};

/// Rotates `heads` heads of every row in place, (a, b) → (a·cos − b·sin, b·cos + a·sin) over the two halves
/// of head_dim; row r uses line r mod period of the tables [period, D/2]. `direction` −1 is the transpose.
/// Source: Su et al. 2021, section 3.4.2, in the half-split order of Llama.
template <typename T>
struct Rope {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    int64_t rows, period, heads, head_dim, row_stride;
    T* x;
    const float* cos;
    const float* sin;
    float direction;

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        const int64_t half = head_dim / 2, line = r % period * half;
        T* x_w = x + r * row_stride;
        for (int64_t pair = lanes.index(); pair < heads * half; pair += lanes.count()) {
            const int64_t i = pair % half, low = pair / half * head_dim + i;
            const float a = row_kernels::load(x_w[low]), b = row_kernels::load(x_w[low + half]);
            const float c = cos[line + i], s = sin[line + i] * direction;
            row_kernels::store(x_w[low], a * c - b * s);
            row_kernels::store(x_w[low + half], b * c + a * s);
        }
    }
};

/// act_nw = silu(gate) · up of rows [gate W | up W]. Source: Shazeer 2020, equation 6.
template <typename T>
struct SwigluForward {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    int64_t rows, width;
    const T* gate_up;
    T* act;

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        const T* gate = gate_up + r * 2 * width;
        for (int64_t w = lanes.index(); w < width; w += lanes.count()) {
            const float g = row_kernels::load(gate[w]);
            row_kernels::store(act[r * width + w],
                               g / (1.0F + expf(-g)) * row_kernels::load(gate[width + w]));
        }
    }
};

/// Gradients of gate and up over gate_up in place; `act` gets the forward's product again.
template <typename T>
struct SwigluBackward {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    int64_t rows, width;
    T* gate_up;
    T* act;
    const T* dact;

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        T* gate = gate_up + r * 2 * width;
        T* up = gate + width;
        for (int64_t w = lanes.index(); w < width; w += lanes.count()) {
            const float g = row_kernels::load(gate[w]), u = row_kernels::load(up[w]);
            const float d = row_kernels::load(dact[r * width + w]);
            const float sigmoid = 1.0F / (1.0F + expf(-g)), silu = g * sigmoid;
            row_kernels::store(act[r * width + w], silu * u);
            row_kernels::store(gate[w], d * u * (sigmoid + silu * (1.0F - sigmoid)));
            row_kernels::store(up[w], d * silu);
        }
    }
};

/// loss_n = −log softmax(logits_nv)[label]; where scale is not 0, logits become (softmax − onehot) · scale.
/// Maximum and sum in one pass over the row. Source: Milakov & Gimelshein 2018, "Online normalizer
/// calculation for softmax", algorithm 3.
template <typename T>
struct CrossEntropy {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    int64_t rows, vocab;
    T* logits;
    const int64_t* labels;
    float* loss;
    float scale;

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        T* logits_v = logits + r * vocab;
        const int64_t label = labels[r];
        const float picked = row_kernels::load(logits_v[label]);
        float top = -FLT_MAX, sum = 0;  // of this lane; a finite start, so that −infinity adds nothing
        for (int64_t v = lanes.index(); v < vocab; v += lanes.count()) {
            const float l = row_kernels::load(logits_v[v]);
            if (l > top) {
                sum = sum * expf(top - l) + 1.0F;
                top = l;
            } else {
                sum += expf(l - top);
            }
        }
        const float row_top = lanes.max(top);
        const float row_sum = lanes.sum(sum * expf(top - row_top));  // all have read `picked` here
        if (lanes.index() == 0) loss[r] = logf(row_sum) + row_top - picked;
        if (scale == 0) return;
        const float factor = scale / row_sum;
        for (int64_t v = lanes.index(); v < vocab; v += lanes.count()) {
            const float p = expf(row_kernels::load(logits_v[v]) - row_top) * factor;
            row_kernels::store(logits_v[v], v == label ? p - scale : p);
        }
    }
};

using RowKernel = std::variant<MergeByLse<float>, MergeByLse<Bf16>, RmsNormForward<float>,
                               RmsNormForward<Bf16>, RmsNormBackwardInput<float>, RmsNormBackwardInput<Bf16>,
                               RmsNormBackwardWeight<float>, RmsNormBackwardWeight<Bf16>, Rope<float>,
                               Rope<Bf16>, SwigluForward<float>, SwigluForward<Bf16>, SwigluBackward<float>,
                               SwigluBackward<Bf16>, CrossEntropy<float>, CrossEntropy<Bf16>>;

}  // namespace ringmaster

/// In ringmaster_cuda.so: starts a kernel on the current device, on a stream of its (cudaStream_t). Null, or
/// CUDA's words where it could not be started.
extern "C" const char* ringmaster_launch_rows(const ringmaster::RowKernel* kernel, void* stream);
