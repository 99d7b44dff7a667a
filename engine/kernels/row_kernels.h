/// Defines our CUDA kernels. Each is a value that holds one launch's pointers and sizes, and its `row(lanes,
/// r)` computes row r in [0, rows). The same code serves the device, with a warp's or a block's threads as
/// lanes (row_kernels.cu), and the host, where tests use threads as lanes. It does not use LibTorch.
/// Arithmetic and sums are float32 for every element type. Only the order of sums may depend on which lane
/// does what.
///
/// Lanes: a lane has the number index() among count() lanes of a row; count() is at least kFewest. sum(x) and
/// max(x) return the same result on all lanes, and from(x, lane) returns that lane's x. After sync(), a lane
/// may read what other lanes wrote before it. All lanes of a row make the same calls.
///
/// Each kernel moves fewer bytes than the plain LibTorch operations that it replaces
/// (engine/model/plain_ops.cpp, engine/attention/merge.cpp), most of which write a tensor that the next
/// operation reads. Bytes moved per bfloat16 element by our kernel, and by LibTorch's operations: rms_norm 6
/// and 46, its gradients 14 and 92, layer_norm 8 and 74, its gradients 14 and 118, rope 4 and 40, swiglu 6
/// and 10, its gradients 12 and 126, the cross-entropy with its gradient 6 and 28, joining eight parts of an
/// output 24 and 208. Therefore a GPU uses ours by default; RINGMASTER_CUDA_KERNELS changes this
/// (engine/attention/own_kernels.h).
///
/// Letters: B rows of a batch, T tokens, H heads, D head_dim, N rows, W width, V vocabulary.
#pragma once

#include <cfloat>
#include <cmath>
#include <cstdint>
#include <variant>

#include "engine/kernels/fused.h"
#include "engine/kernels/gate_values.h"
#include "engine/kernels/row_elements.h"

namespace ringmaster {

enum class LanesOfRow { Warp, Block };

/// Gives the distances between elements of a tensor by batch row, token and head; the last dim is packed. `t`
/// and `h` have 32 bits because a GPU multiplies 32-bit numbers in one instruction, and 64-bit numbers in
/// four.
struct HeadStrides {
    int64_t b;
    int32_t t, h;

    RINGMASTER_ROW int64_t at(int32_t ib, int32_t it, int32_t ih) const {
        return ib * b + int64_t{it} * t + int64_t{ih} * h;
    }
};

/// Joins parts of a result in float32. Each part covers some tokens and heads. Without `lse`, parts are
/// added. With `lse`, parts are attention over different keys, and their weights follow from their
/// log-sum-exps, which are −infinity if no key was seen. Source: Liu et al. 2023, "Ring Attention with
/// Blockwise Transformers", section 3.
template <typename T>
struct JoinParts {
    static constexpr LanesOfRow kLanes = LanesOfRow::Warp;
    static constexpr int kMost = 8;
    /// A lane reads this many parts before it adds them, so that it waits for memory once.
    static constexpr int kLoads = 4;
    struct Part {
        const T* values;
        const float* lse;
        HeadStrides strides, lse_strides;
        int32_t first_token, tokens, first_head, heads;

        RINGMASTER_ROW bool covers(int32_t t, int32_t h) const {
            return static_cast<uint32_t>(t - first_token) < static_cast<uint32_t>(tokens) &&
                   static_cast<uint32_t>(h - first_head) < static_cast<uint32_t>(heads);
        }
    };

    int64_t rows;  // B · T · H
    int32_t tokens, heads;
    int64_t head_dim;
    float* sum;   // holds the sum so far, unless `begins`; receives the result, unless `whole` is set
    float* lse;   // log-sum-exp of the parts joined before
    bool begins;  // true if nothing was joined before
    T* whole;     // receives the rounded result; null if it is not wanted
    HeadStrides sum_strides, lse_strides, whole_strides;
    int count;
    Part parts[kMost];

    /// Holds the parts of one row and their weights, and the weight of the sum.
    struct Row {
        const T* values[kMost];  // null: the part does not cover this row, or saw no key
        float weights[kMost];
        float keep;
        bool changes;  // true if the row's result differs from the sum so far
    };

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        const int64_t token = r / heads;
        const auto b = static_cast<int32_t>(token / tokens);
        const auto t = static_cast<int32_t>(token - int64_t{b} * tokens);
        const auto h = static_cast<int32_t>(r - token * heads);
        const Row it = row_of(lanes, b, t, h);
        if (!it.changes) return;
        float* sum_d = sum == nullptr ? nullptr : sum + sum_strides.at(b, t, h);
        T* whole_d = whole == nullptr ? nullptr : whole + whole_strides.at(b, t, h);
        bool packs = row_kernels::in_packs<float>(head_dim, sum_d, whole_d);
        for (int p = 0; p < kMost; ++p) packs = packs && row_kernels::in_packs<float>(head_dim, it.values[p]);
        row_kernels::each_pack<float>(lanes, head_dim, packs, [&](int64_t d, auto size) {
            constexpr int kSize = decltype(size)::value;
            row_kernels::Pack<float, kSize> joined = {};
            if (!begins) {
                joined = row_kernels::load_pack<kSize>(sum_d + d);
                for (int i = 0; i < kSize; ++i) joined.at[i] *= it.keep;
            }
            for (int first = 0; first < kMost; first += kLoads) {
                row_kernels::Pack<T, kSize> loaded[kLoads] = {};
                for (int p = 0; p < kLoads; ++p)
                    if (const T* from = it.values[first + p])
                        loaded[p] = row_kernels::load_pack<kSize>(from + d);
                for (int p = 0; p < kLoads; ++p) {
                    if (it.values[first + p] == nullptr) continue;
                    for (int i = 0; i < kSize; ++i)
                        joined.at[i] += row_kernels::load(loaded[p].at[i]) * it.weights[first + p];
                }
            }
            if (whole_d == nullptr) {
                row_kernels::store_pack(sum_d + d, joined);
                return;
            }
            row_kernels::Pack<T, kSize> rounded;
            for (int i = 0; i < kSize; ++i) row_kernels::store(rounded.at[i], joined.at[i]);
            row_kernels::store_pack(whole_d + d, rounded);
        });
    }

  private:
    /// Holds the parts of one row that this lane looks up for the other lanes.
    template <typename Lanes>
    struct Own {
        static constexpr int kSlots = (kMost + Lanes::kFewest - 1) / Lanes::kFewest;
        const T* values[kSlots];
        float weights[kSlots];
    };

    template <typename Lanes>
    RINGMASTER_ROW Row row_of(Lanes& lanes, int32_t b, int32_t t, int32_t h) const {
        Own<Lanes> own = own_of(lanes, b, t, h);
        Row it;
        it.keep = lse == nullptr ? 1 : weigh(lanes, own, lse[lse_strides.at(b, t, h)]);
        it.changes = begins || whole != nullptr;
        const auto lanes_count = static_cast<int>(lanes.count());
        for (int p = 0; p < kMost; ++p) {
            const int slot = p / lanes_count, lane = p % lanes_count;
            it.values[p] = lanes.from(own.values[slot], lane);
            it.weights[p] = lanes.from(own.weights[slot], lane);
            it.changes = it.changes || it.values[p] != nullptr;
        }
        return it;
    }

    /// Returns this lane's parts, with their log-sum-exps as weights. A part that saw no key is left out.
    template <typename Lanes>
    RINGMASTER_ROW Own<Lanes> own_of(Lanes& lanes, int32_t b, int32_t t, int32_t h) const {
        Own<Lanes> own;
        for (int slot = 0; slot < Own<Lanes>::kSlots; ++slot) {
            const int64_t p = slot * lanes.count() + lanes.index();
            own.values[slot] = nullptr;
            own.weights[slot] = lse == nullptr ? 1.0F : -INFINITY;
            if (p >= count || !parts[p].covers(t, h)) continue;
            const Part& part = parts[p];
            const int32_t part_t = t - part.first_token, part_h = h - part.first_head;
            if (lse != nullptr) own.weights[slot] = part.lse[part.lse_strides.at(b, part_t, part_h)];
            if (lse == nullptr || own.weights[slot] > -INFINITY)
                own.values[slot] = part.values + part.strides.at(b, part_t, part_h);
        }
        return own;
    }

    /// Turns the parts' log-sum-exps into weights, and `seen`, the log-sum-exp of the keys seen before, into
    /// that of all keys. Returns the weight of the sum.
    template <typename Lanes>
    RINGMASTER_ROW float weigh(Lanes& lanes, Own<Lanes>& own, float& seen) const {
        const float before = begins ? -INFINITY : seen;
        lanes.sync();  // lane 0 writes `seen` below
        float own_top = before, own_total = 0;
        for (const float lse_of_part : own.weights) own_top = own_top > lse_of_part ? own_top : lse_of_part;
        const float top = lanes.max(own_top);
        const float zero = top == -INFINITY ? 0.0F : top;  // avoids a difference of two infinities
        for (float& weight : own.weights) own_total += weight = expf(weight - zero);
        const float kept = expf(before - zero), total = kept + lanes.sum(own_total);
        const float share = total > 0 ? 1 / total : 0.0F;
        for (float& weight : own.weights) weight *= share;
        if (lanes.index() == 0) seen = top + (total > 0 ? logf(total) : 0.0F);
        return kept * share;
    }
};

/// Computes RMSNorm, y = x · rstd · (offset + weight) with rstd = (mean(x²) + eps)^-1/2. If `centred` is set,
/// computes LayerNorm, y = (x − mean) · rstd · (offset + weight) + bias, where rstd is computed from x −
/// mean. `stats` holds a row's rstd, or its mean and rstd; it is read if `known` is set, and written
/// otherwise. Sources: Zhang & Sennrich 2019, equation 4; Ba et al. 2016, equation 4.
template <typename T>
struct NormForward {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    int64_t rows, width;
    int64_t x_stride, y_stride;  // distance between rows
    const T* x;
    const T* weight;
    T* y;
    float* stats;
    float eps;
    bool known;
    float offset = 0;
    bool centred = false;
    const T* bias = nullptr;  // null if there are no biases

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        const T* x_w = x + r * x_stride;
        T* y_w = y + r * y_stride;
        float* stats_r = stats + r * (centred ? 2 : 1);
        const bool packs = row_kernels::in_packs<T>(width, x_w, y_w, weight, bias);
        if (!known) {
            const auto mean_of = [&](auto term) {
                float sum = 0;
                row_kernels::each_pack<T>(lanes, width, packs, [&](int64_t w, auto size) {
                    const auto x_p = row_kernels::load_pack<size.value>(x_w + w);
                    for (int i = 0; i < size.value; ++i) sum += term(row_kernels::load(x_p.at[i]));
                });
                return lanes.sum(sum) / static_cast<float>(width);
            };
            const float mean = centred ? mean_of([](float value) { return value; }) : 0.0F;
            const float square = mean_of([=](float value) { return (value - mean) * (value - mean); });
            if (lanes.index() == 0) {
                if (centred) stats_r[0] = mean;
                stats_r[centred ? 1 : 0] = 1.0F / sqrtf(square + eps);
            }
            lanes.sync();
        }
        const float mean = centred ? stats_r[0] : 0.0F, scale = stats_r[centred ? 1 : 0];
        row_kernels::each_pack<T>(lanes, width, packs, [&](int64_t w, auto size) {
            const auto x_p = row_kernels::load_pack<size.value>(x_w + w);
            const auto weight_p = row_kernels::load_pack<size.value>(weight + w);
            row_kernels::Pack<T, size.value> bias_p, y_p;
            if (bias != nullptr) bias_p = row_kernels::load_pack<size.value>(bias + w);
            for (int i = 0; i < size.value; ++i) {
                const float value = (row_kernels::load(x_p.at[i]) - mean) * scale *
                                    (row_kernels::load(weight_p.at[i]) + offset);
                row_kernels::store(y_p.at[i], bias ? value + row_kernels::load(bias_p.at[i]) : value);
            }
            row_kernels::store_pack(y_w + w, y_p);
        });
    }
};

/// Computes dx (+)= rstd · (g − mean(g) − n · mean(g · n)) with g = dy · (offset + weight) and the normed row
/// n = (x − mean) · rstd; RMSNorm has no means of x and g.
template <typename T>
struct NormBackwardInput {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    int64_t rows, width;
    int64_t dy_stride, x_stride, dx_stride;
    const T* dy;
    const T* x;
    const T* weight;
    const float* stats;
    T* dx;
    bool accumulate;
    float offset = 0;
    bool centred = false;

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        const T* dy_w = dy + r * dy_stride;
        const T* x_w = x + r * x_stride;
        T* dx_w = dx + r * dx_stride;
        const float* stats_r = stats + r * (centred ? 2 : 1);
        const float mean = centred ? stats_r[0] : 0.0F, scale = stats_r[centred ? 1 : 0];
        const bool packs = row_kernels::in_packs<T>(width, dy_w, x_w, dx_w, weight);
        float dot = 0, total = 0;
        row_kernels::each_pack<T>(lanes, width, packs, [&](int64_t w, auto size) {
            const auto dy_p = row_kernels::load_pack<size.value>(dy_w + w);
            const auto x_p = row_kernels::load_pack<size.value>(x_w + w);
            const auto weight_p = row_kernels::load_pack<size.value>(weight + w);
            for (int i = 0; i < size.value; ++i) {
                const float g = row_kernels::load(dy_p.at[i]) * (row_kernels::load(weight_p.at[i]) + offset);
                dot += g * (row_kernels::load(x_p.at[i]) - mean);
                total += g;
            }
        });
        const float share = scale / static_cast<float>(width);
        const float pull = lanes.sum(dot) * scale * scale * share;
        const float level = centred ? lanes.sum(total) * share : 0.0F;
        row_kernels::each_pack<T>(lanes, width, packs, [&](int64_t w, auto size) {
            const auto dy_p = row_kernels::load_pack<size.value>(dy_w + w);
            const auto x_p = row_kernels::load_pack<size.value>(x_w + w);
            const auto weight_p = row_kernels::load_pack<size.value>(weight + w);
            row_kernels::Pack<T, size.value> dx_p;
            if (accumulate) dx_p = row_kernels::load_pack<size.value>(dx_w + w);
            for (int i = 0; i < size.value; ++i) {
                const float weight_i = row_kernels::load(weight_p.at[i]) + offset;
                const float own = row_kernels::load(dy_p.at[i]) * weight_i * scale -
                                  (row_kernels::load(x_p.at[i]) - mean) * pull - level;
                row_kernels::store(dx_p.at[i], accumulate ? row_kernels::load(dx_p.at[i]) + own : own);
            }
            row_kernels::store_pack(dx_w + w, dx_p);
        });
    }
};

/// Computes partial_cp = Σ dy · n over the tokens of chunk c, with n as in NormBackwardInput, followed by Σ
/// dy if there are biases. The caller adds up the chunks. A row here is kColumns columns of one chunk.
template <typename T>
struct NormBackwardWeight {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    static constexpr int64_t kColumns = 256;
    int64_t rows;  // chunks · column blocks
    int64_t tokens, width, tokens_per_chunk;
    int64_t dy_stride, x_stride;
    const T* dy;
    const T* x;
    const float* stats;
    float* partial;
    bool centred = false;
    bool biases = false;

    static int64_t column_blocks(int64_t width) { return (width + kColumns - 1) / kColumns; }

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        const int64_t blocks = (width + kColumns - 1) / kColumns;
        const int64_t chunk = r / blocks, first = r % blocks * kColumns;
        const int64_t end = first + kColumns < width ? first + kColumns : width;
        const int64_t begin_token = chunk * tokens_per_chunk;
        const int64_t end_token =
            begin_token + tokens_per_chunk < tokens ? begin_token + tokens_per_chunk : tokens;
        float* partial_p = partial + chunk * (biases ? 2 : 1) * width;
        for (int64_t w = first + lanes.index(); w < end; w += lanes.count()) {
            float sum = 0, total = 0;
            for (int64_t n = begin_token; n < end_token; ++n) {
                const float dy_n = row_kernels::load(dy[n * dy_stride + w]);
                const float x_n = row_kernels::load(x[n * x_stride + w]);
                sum += centred ? dy_n * (x_n - stats[2 * n]) * stats[2 * n + 1] : dy_n * x_n * stats[n];
                total += dy_n;
            }
            partial_p[w] = sum;
            if (biases) partial_p[width + w] = total;
        }
    }
};

/// Rotates `heads` heads of every row in place, (a, b) → (a·cos − b·sin, b·cos + a·sin) over the first
/// `pairs` pairs of a head. A pair is (i, i + pairs) as in Llama, or (2i, 2i + 1) if `interleaved`. Row r
/// uses line r mod period of the tables [period, pairs]. `direction` −1 is the transpose. Source: Su et al.
/// 2021, section 3.4.2.
template <typename T>
struct Rope {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    int64_t rows, period, heads, head_dim, row_stride;
    T* x;
    const float* cos;
    const float* sin;
    float direction;
    int64_t pairs = head_dim / 2;
    bool interleaved = false;

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        const int64_t line = r % period * pairs;
        T* x_w = x + r * row_stride;
        const bool packs =
            !interleaved && head_dim % row_kernels::kPack<T> == 0 && row_kernels::in_packs<T>(pairs, x_w);
        row_kernels::each_pack<T>(lanes, heads * pairs, packs, [&](int64_t pair, auto size) {
            const int64_t i = pair % pairs;
            T* low = x_w + pair / pairs * head_dim + (interleaved ? 2 * i : i);
            T* high = low + (interleaved ? 1 : pairs);
            auto a_p = row_kernels::load_pack<size.value>(low);
            auto b_p = row_kernels::load_pack<size.value>(high);
            for (int at = 0; at < size.value; ++at) {
                const float a = row_kernels::load(a_p.at[at]), b = row_kernels::load(b_p.at[at]);
                const float c = cos[line + i + at], d = sin[line + i + at] * direction;
                row_kernels::store(a_p.at[at], a * c - b * d);
                row_kernels::store(b_p.at[at], b * c + a * d);
            }
            row_kernels::store_pack(low, a_p);
            row_kernels::store_pack(high, b_p);
        });
    }
};

namespace row_kernels {

RINGMASTER_ROW Sloped activated(Activation kind, float x) {
    constexpr float kTwoOverRootPi = 2 * 0.7978845608F, kCube = 0.044715F;
    if (kind == Activation::Relu2) {
        const float kept = x < 0 ? 0 : x;
        return {kept * kept, 2.0F * kept};
    }
    if (kind == Activation::Gelu) {
        const float below = 0.5F * (1.0F + erff(x * 0.7071067812F));
        return {x * below, below + x * expf(-0.5F * x * x) * 0.3989422804F};
    }
    // (1 + tanh(u)) / 2 is the sigmoid of 2u.
    const bool tanh = kind == Activation::GeluTanh;
    const float u = tanh ? kTwoOverRootPi * (x + kCube * x * x * x) : x;
    const float slope = tanh ? kTwoOverRootPi * (1.0F + 3.0F * kCube * x * x) : 1.0F;
    const float sigmoid = 1.0F / (1.0F + expf(-u)), value = x * sigmoid;
    return {value, sigmoid + value * (1.0F - sigmoid) * slope};
}

RINGMASTER_ROW Clamped clamped(float gate, float up, const GateRule& rule) {
    const float limit = static_cast<float>(rule.limit), steep = static_cast<float>(rule.slope);
    const float g = gate > limit ? limit : gate, below = up > limit ? limit : up;
    const float u = below < -limit ? -limit : below;
    const float sigmoid = 1.0F / (1.0F + expf(-steep * g)), value = g * sigmoid;
    return {value, gate > limit ? 0.0F : sigmoid + steep * value * (1.0F - sigmoid), u + 1.0F,
            u == up ? value : 0.0F};
}

}  // namespace row_kernels

/// Computes act_nw = f(gate) · up of rows [gate W | up W], or f of rows [W]. Source: Shazeer 2020, eq. 6.
template <typename T>
struct GateForward {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    int64_t rows, width;
    const T* gate_up;
    T* act;
    GateRule rule = {};

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        const T* gate = gate_up + r * (rule.gated ? 2 : 1) * width;
        if (rule.limit > 0) return of_pairs(lanes, gate, act + r * width);
        const T* up = rule.gated ? gate + width : gate;
        T* act_w = act + r * width;
        const bool packs = row_kernels::in_packs<T>(width, gate, act_w);
        row_kernels::each_pack<T>(lanes, width, packs, [&](int64_t w, auto size) {
            const auto gate_p = row_kernels::load_pack<size.value>(gate + w);
            const auto up_p = row_kernels::load_pack<size.value>(up + w);
            row_kernels::Pack<T, size.value> act_p;
            for (int i = 0; i < size.value; ++i) {
                const float value =
                    row_kernels::activated(rule.activation, row_kernels::load(gate_p.at[i])).value;
                row_kernels::store(act_p.at[i], rule.gated ? value * row_kernels::load(up_p.at[i]) : value);
            }
            row_kernels::store_pack(act_w + w, act_p);
        });
    }

    template <typename Lanes>
    RINGMASTER_ROW void of_pairs(Lanes& lanes, const T* pairs, T* act_w) const {
        row_kernels::each_pack<T>(lanes, width, false, [&](int64_t w, auto) {
            const Clamped f = row_kernels::clamped(row_kernels::load(pairs[2 * w]),
                                                   row_kernels::load(pairs[2 * w + 1]), rule);
            row_kernels::store(act_w[w], f.value * f.up);
        });
    }
};

/// Replaces gate_up by the gradients of gate and up; `act` gets f(gate) · up, computed again.
template <typename T>
struct GateBackward {
    static constexpr LanesOfRow kLanes = LanesOfRow::Block;
    int64_t rows, width;
    T* gate_up;
    T* act;
    const T* dact;
    GateRule rule = {};

    template <typename Lanes>
    RINGMASTER_ROW void row(Lanes& lanes, int64_t r) const {
        T* gate = gate_up + r * (rule.gated ? 2 : 1) * width;
        if (rule.limit > 0) return of_pairs(lanes, gate, act + r * width, dact + r * width);
        T* up = rule.gated ? gate + width : gate;
        T* act_w = act + r * width;
        const T* dact_w = dact + r * width;
        const bool packs = row_kernels::in_packs<T>(width, gate, act_w, dact_w);
        row_kernels::each_pack<T>(lanes, width, packs, [&](int64_t w, auto size) {
            auto gate_p = row_kernels::load_pack<size.value>(gate + w);
            auto up_p = row_kernels::load_pack<size.value>(up + w);
            auto act_p = row_kernels::load_pack<size.value>(dact_w + w);
            for (int i = 0; i < size.value; ++i) {
                const Sloped f = row_kernels::activated(rule.activation, row_kernels::load(gate_p.at[i]));
                const float u = rule.gated ? row_kernels::load(up_p.at[i]) : 1.0F;
                const float d = row_kernels::load(act_p.at[i]);
                row_kernels::store(act_p.at[i], f.value * u);
                row_kernels::store(gate_p.at[i], d * u * f.slope);
                row_kernels::store(up_p.at[i], d * f.value);
            }
            row_kernels::store_pack(act_w + w, act_p);
            if (rule.gated) row_kernels::store_pack(up + w, up_p);
            row_kernels::store_pack(gate + w, gate_p);
        });
    }

    template <typename Lanes>
    RINGMASTER_ROW void of_pairs(Lanes& lanes, T* pairs, T* act_w, const T* dact_w) const {
        row_kernels::each_pack<T>(lanes, width, false, [&](int64_t w, auto) {
            const Clamped f = row_kernels::clamped(row_kernels::load(pairs[2 * w]),
                                                   row_kernels::load(pairs[2 * w + 1]), rule);
            const float d = row_kernels::load(dact_w[w]);
            row_kernels::store(act_w[w], f.value * f.up);
            row_kernels::store(pairs[2 * w], d * f.up * f.slope);
            row_kernels::store(pairs[2 * w + 1], d * f.of_up);
        });
    }
};

/// Computes loss_n = −log softmax(logits_nv)[label]; unless scale is 0, logits become (softmax − onehot) ·
/// scale. Takes maximum and sum in one pass over the row. Source: Milakov & Gimelshein 2018, "Online
/// normalizer calculation for softmax", algorithm 3.
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
        float top = -FLT_MAX, sum = 0;  // of this lane; −FLT_MAX makes a logit of −infinity add 0
        const bool packs = row_kernels::in_packs<T>(vocab, logits_v);
        row_kernels::each_pack<T>(lanes, vocab, packs, [&](int64_t v, auto size) {
            const auto pack = row_kernels::load_pack<size.value>(logits_v + v);
            float highest = top;
            for (int i = 0; i < size.value; ++i) {
                const float l = row_kernels::load(pack.at[i]);
                highest = l > highest ? l : highest;
            }
            if (highest > top) sum *= expf(top - highest);
            top = highest;
            for (int i = 0; i < size.value; ++i) sum += expf(row_kernels::load(pack.at[i]) - top);
        });
        const float row_top = lanes.max(top);
        const float row_sum = lanes.sum(sum * expf(top - row_top));  // all lanes have now read `picked`
        if (lanes.index() == 0) loss[r] = logf(row_sum) + row_top - picked;
        if (scale == 0) return;
        const float factor = scale / row_sum;
        row_kernels::each_pack<T>(lanes, vocab, packs, [&](int64_t v, auto size) {
            auto pack = row_kernels::load_pack<size.value>(logits_v + v);
            for (int i = 0; i < size.value; ++i) {
                const float p = expf(row_kernels::load(pack.at[i]) - row_top) * factor;
                row_kernels::store(pack.at[i], v + i == label ? p - scale : p);
            }
            row_kernels::store_pack(logits_v + v, pack);
        });
    }
};

template <template <typename> class... Kernels>
using OfEveryElement = std::variant<Kernels<float>..., Kernels<Bf16>..., Kernels<Fp16>...>;

using RowKernel = OfEveryElement<JoinParts, NormForward, NormBackwardInput, NormBackwardWeight, Rope,
                                 GateForward, GateBackward, CrossEntropy>;

}  // namespace ringmaster

/// Starts a kernel on the current device, on the given cudaStream_t. Returns null, or CUDA's message if the
/// kernel could not be started.
extern "C" const char* ringmaster_launch_rows(const ringmaster::RowKernel* kernel, void* stream);
