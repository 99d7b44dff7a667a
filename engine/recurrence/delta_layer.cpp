#include "engine/recurrence/delta_layer.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "engine/piece_sizes.h"
#include "engine/recurrence/delta_rule.h"
#include "engine/recurrence/gated_groups.h"
#include "engine/recurrence/gated_norm.h"
#include "engine/recurrence/state_passing.h"

namespace ringmaster {

namespace {

// This is the epsilon of the norms of queries and keys, from l2norm in modeling_qwen3_next.py.
constexpr double kNormEps = 1e-6;

enum Part { kQueries, kKeys, kValues, kGates, kBetas, kSteps, kParts };

/// Some key heads, [first, first + count), and the value heads that belong to them.
struct Heads {
    int64_t first = 0, count = 0;
};

std::array<int64_t, kParts> widths_of(const DeltaSizes& s) {
    const int64_t G = s.heads_per_key(), betas = s.state_space.on ? 0 : G;
    return {s.key_width, s.key_width, G * s.value_width, G * s.value_width, betas, G};
}

/// Returns the parts in the order of the first matrix's columns, for models that do not order the columns by
/// key head.
std::array<Part, kParts> columns_of(const DeltaSizes& s) {
    if (s.state_space.on) return {kGates, kValues, kKeys, kQueries, kSteps, kBetas};
    return {kQueries, kKeys, kValues, kGates, kBetas, kSteps};
}

/// Returns the parts in the order of the convolution's channels.
std::array<Part, 3> channels_in_order(const DeltaSizes& s) {
    if (s.state_space.on) return {kValues, kKeys, kQueries};
    return {kQueries, kKeys, kValues};
}

/// Returns the sum of the widths of the parts before this one.
template <size_t N>
int64_t width_before(const DeltaSizes& s, const std::array<Part, N>& order, Part part) {
    int64_t width = 0;
    for (const Part other : order) {
        if (other == part) break;
        width += widths_of(s)[other];
    }
    return width;
}

/// Returns a view of the columns of a part: [B, T, heads, width of a key head].
at::Tensor part_of(const DeltaSizes& s, const at::Tensor& x_btw, Part part, const Heads& heads) {
    const auto widths = widths_of(s);
    const auto sum = [&](int from, int to) {
        int64_t width = 0;
        for (int i = from; i < to; ++i) width += widths[static_cast<size_t>(i)];
        return width;
    };
    const int64_t width = widths[part];
    if (!s.by_key_head)
        return x_btw
            .narrow(2, s.key_heads * width_before(s, columns_of(s), part) + heads.first * width,
                    heads.count * width)
            .unflatten(2, {heads.count, width});
    const int begin = part < kBetas ? 0 : kBetas, end = part < kBetas ? kBetas : kParts;
    return x_btw.narrow(2, s.key_heads * sum(0, begin), s.key_heads * sum(begin, end))
        .unflatten(2, {s.key_heads, sum(begin, end)})
        .narrow(2, heads.first, heads.count)
        .narrow(3, sum(begin, part), width);
}

/// The channels of the convolution that belong to queries, keys or values of some heads.
struct Channels {
    int64_t begin, size;
};

Channels channels_of(const DeltaSizes& s, Part part, const Heads& heads) {
    const int64_t width = widths_of(s)[part];
    return {s.key_heads * width_before(s, channels_in_order(s), part) + heads.first * width,
            heads.count * width};
}

/// Returns the tensor's columns (dimension `dim`) of these heads' queries, keys and values.
at::Tensor channels(const DeltaSizes& s, const at::Tensor& x, int64_t dim, const Heads& heads) {
    std::vector<at::Tensor> parts;
    for (const Part part : channels_in_order(s)) {
        const Channels some = channels_of(s, part, heads);
        parts.push_back(x.narrow(dim, some.begin, some.size));
    }
    return at::cat(parts, dim);
}

/// Calls `visit` with each of queries, keys and values, and its columns of x_bpc, [B, P, heads, width].
template <class Visit>
void for_channels(const DeltaSizes& s, const at::Tensor& x_bpc, const Heads& heads, const Visit& visit) {
    int64_t begin = 0;
    for (const Part part : channels_in_order(s)) {
        const int64_t width = widths_of(s)[part];
        visit(part, x_bpc.narrow(2, begin, heads.count * width).unflatten(2, {heads.count, width}));
        begin += heads.count * width;
    }
}

at::Tensor unit(const at::Tensor& x) {
    return x * (x.square().sum(-1, true) + kNormEps).rsqrt_();
}

/// Returns the factor by which a part's columns are multiplied.
double factor_of(const DeltaSizes& s, Part part) {
    const StateSpace& space = s.state_space;
    return part == kQueries  ? space.queries
           : part == kKeys   ? space.keys
           : part == kValues ? space.values
           : part == kSteps  ? space.steps
                             : 1;
}

/// Computes the backward pass of `unit`.
at::Tensor unit_backward(const at::Tensor& dy, const at::Tensor& x) {
    const at::Tensor inverse = (x.square().sum(-1, true) + kNormEps).rsqrt_(), y = x * inverse;
    return (dy - y * (dy * y).sum(-1, true)).mul_(inverse);
}

}  // namespace

/// Holds the inputs of a few key heads, in chunks.
struct DeltaLayer::Some {
    Heads heads;
    at::Tensor sources_bsc;            ///< inputs of the convolution, and a row of zeros
    at::Tensor mixed_bpc;              ///< the convolution's outputs before SiLU
    at::Tensor read_nmglv, step_nmgl;  ///< set for a state space, in which the values are x times the steps
    DeltaInputs inputs;
    std::optional<DeltaRule> rule;

    Some(const DeltaLayer& layer, const at::Tensor& projected_btw, const at::Tensor& before_brc,
         const Heads& some)
        : heads(some) {
        const DeltaSizes& s = layer.sizes_;
        const OwnStretches& at = layer.stretches_;
        const at::ScalarType dtype = sum_type(projected_btw);
        sources_bsc = at::zeros({projected_btw.size(0), at.sources() + 1, channel_count(s)},
                                projected_btw.options().dtype(dtype));
        for_channels(s, sources_bsc.narrow(1, 0, at.tokens), heads, [&](Part part, const at::Tensor& to) {
            to.copy_(part_of(s, projected_btw, part, heads));
        });
        if (at.received > 0)
            sources_bsc.narrow(1, at.tokens, at.sources() - at.tokens)
                .copy_(channels(s, before_brc, 2, heads));
        mixed_bpc = convolution_of(at, sources_bsc, taps(layer));
        if (layer.weights_.convolution_bias_c.defined())
            mixed_bpc.add_(channels(s, layer.weights_.convolution_bias_c, 0, heads));
        for_channels(s, at::silu(mixed_bpc), heads, [&](Part part, const at::Tensor& x_bphw) {
            if (part == kQueries) inputs.q_nm1lk = key_or_query(s, part, in_chunks(x_bphw, 1));
            if (part == kKeys) inputs.k_nm1lk = key_or_query(s, part, in_chunks(x_bphw, 1));
            if (part == kValues) inputs.v_nmglv = in_chunks(x_bphw, s.heads_per_key());
        });
        const auto numbers = [&](const at::Tensor& x_bthg) {
            return in_chunks(with_zero_row(x_bthg)
                                 .index_select(1, at.tokens_p)
                                 .unflatten(2, {heads.count, s.heads_per_key()}),
                             s.heads_per_key())
                .squeeze(-1);
        };
        const at::Tensor step = step_of(s, steps(layer, projected_btw));
        inputs.log_decay_nmgl = numbers(step * -decays(layer));
        if (s.state_space.on) {
            read_nmglv = inputs.v_nmglv;
            step_nmgl = numbers(step);
            inputs.v_nmglv = read_nmglv * step_nmgl.unsqueeze(-1);
        } else {
            inputs.beta_nmgl = numbers(at::sigmoid(part_of(s, projected_btw, kBetas, heads)).to(dtype));
        }
        rule.emplace(inputs);
    }

    int64_t channel_count(const DeltaSizes& s) const {
        return heads.count * (2 * s.key_width + s.heads_per_key() * s.value_width);
    }
    /// Returns the weights of the convolution, times the factors of the columns that it reads.
    at::Tensor taps(const DeltaLayer& layer) const {
        const at::Tensor taps_cj = channels(layer.sizes_, layer.weights_.convolution_c1j.squeeze(1), 0, heads)
                                       .to(sources_bsc.scalar_type());
        scale_channels(layer.sizes_, taps_cj);
        return taps_cj;
    }
    void scale_channels(const DeltaSizes& s, const at::Tensor& x_c) const {
        int64_t begin = 0;
        for (const Part part : channels_in_order(s)) {
            const int64_t width = heads.count * widths_of(s)[part];
            if (factor_of(s, part) != 1) x_c.narrow(0, begin, width).mul_(factor_of(s, part));
            begin += width;
        }
    }
    static double query_scale(const DeltaSizes& s) { return 1 / std::sqrt(double(s.key_width)); }
    static at::Tensor key_or_query(const DeltaSizes& s, Part part, const at::Tensor& x) {
        if (s.state_space.on) return x;
        return part == kQueries ? unit(x).mul_(query_scale(s)) : unit(x);
    }
    static at::Tensor step_of(const DeltaSizes& s, const at::Tensor& x) {
        at::Tensor step = at::softplus(x);
        if (s.state_space.least_step > 0) step.clamp_min_(s.state_space.least_step);
        if (s.state_space.most_step > 0) step.clamp_max_(s.state_space.most_step);
        return step;
    }
    /// Returns the derivative of `step_of`.
    static at::Tensor step_slope(const DeltaSizes& s, const at::Tensor& x) {
        at::Tensor slope = at::sigmoid(x);
        const at::Tensor step = at::softplus(x);
        if (s.state_space.least_step > 0) slope.mul_(step >= s.state_space.least_step);
        if (s.state_space.most_step > 0) slope.mul_(step <= s.state_space.most_step);
        return slope;
    }
    /// Returns D of these heads: [heads, G], repeated over rows as [M, G, 1, 1].
    at::Tensor skips(const DeltaLayer& layer) const {
        const at::Tensor skip = by_heads(layer.sizes_, layer.weights_.skip_h).to(read_nmglv.scalar_type());
        return skip.repeat({read_nmglv.size(1) / heads.count, 1}).unsqueeze(-1).unsqueeze(-1);
    }

    /// Returns these heads' elements of a vector that has one element per value head: [heads, G].
    at::Tensor by_heads(const DeltaSizes& s, const at::Tensor& x_h) const {
        return x_h.view({s.key_heads, -1}).narrow(0, heads.first, heads.count);
    }
    /// Returns a + dt_bias, which softplus turns into the steps.
    at::Tensor steps(const DeltaLayer& layer, const at::Tensor& projected_btw) const {
        return part_of(layer.sizes_, projected_btw, kSteps, heads).to(sources_bsc.scalar_type()) *
                   factor_of(layer.sizes_, kSteps) +
               by_heads(layer.sizes_, layer.weights_.step_bias_h);
    }
    at::Tensor decays(const DeltaLayer& layer) const {
        return by_heads(layer.sizes_, layer.weights_.decay_log_h).to(sources_bsc.scalar_type()).exp();
    }

    /// Reorders [B, P, heads, G·width] to [N, B·heads, G, L, width].
    static at::Tensor in_chunks(const at::Tensor& x_bphw, int64_t of_key) {
        const int64_t B = x_bphw.size(0), P = x_bphw.size(1), heads = x_bphw.size(2);
        const int64_t width = x_bphw.size(3) / of_key;
        return x_bphw.reshape({B, P / kChunkTokens, kChunkTokens, heads, of_key, width})
            .permute({1, 0, 3, 4, 2, 5})
            .reshape({P / kChunkTokens, B * heads, of_key, kChunkTokens, width});
    }
    /// Reorders [N, B·heads, G, L, width] to [B, P, heads·G·width].
    at::Tensor out_of_chunks(const at::Tensor& x_nmglv) const {
        const int64_t N = x_nmglv.size(0), B = x_nmglv.size(1) / heads.count;
        return x_nmglv.unflatten(1, {B, heads.count})
            .permute({1, 0, 4, 2, 3, 5})
            .reshape({B, N * kChunkTokens, heads.count * x_nmglv.size(2) * x_nmglv.size(4)});
    }
    /// Reorders [N, B·heads, G, L, width] to [B, T, heads, G·width]; zeros for padding.
    at::Tensor to_tokens(const DeltaLayer& layer, const at::Tensor& x_nmglv) const {
        return with_zero_row(out_of_chunks(x_nmglv))
            .index_select(1, layer.stretches_.positions_t)
            .unflatten(2, {heads.count, x_nmglv.size(2) * x_nmglv.size(4)});
    }
    at::Tensor outputs_of(const DeltaSizes& s, const at::Tensor& x_bthv) const {
        const int64_t G = s.heads_per_key();
        return x_bthv.narrow(2, heads.first * G, heads.count * G);
    }
    /// Returns a view of these heads' part of a tensor over all heads, [B, H, …], as [M, G, …].
    at::Tensor of_these(const DeltaSizes& s, const at::Tensor& x_bhkv) const {
        const int64_t G = s.heads_per_key();
        return x_bhkv.narrow(1, heads.first * G, heads.count * G)
            .reshape({x_bhkv.size(0) * heads.count, G, x_bhkv.size(2), x_bhkv.size(3)});
    }
    void put(const DeltaSizes& s, const at::Tensor& to_bhkv, const at::Tensor& x_mgkv) const {
        const int64_t G = s.heads_per_key();
        const at::Tensor to = to_bhkv.narrow(1, heads.first * G, heads.count * G);
        to.copy_(x_mgkv.reshape(to.sizes()));
    }

    /// Computes the constructor's backward, given the gradients of `inputs` and of the rule's outputs.
    /// Returns the gradient of the convolution's sources; writes those of betas and steps into
    /// dprojected_btw.
    at::Tensor inputs_backward(const DeltaLayer& layer, DeltaInputs d, const at::Tensor& dout_nmglv,
                               const at::Tensor& dprojected_btw, DeltaWeights& sums) const;
    /// Sets the gradients of steps and betas. For a state space, replaces the gradient of the values by that
    /// of x.
    void numbers_backward(const DeltaLayer& layer, DeltaInputs& d, const at::Tensor& dout_nmglv,
                          const at::Tensor& dprojected_btw, DeltaWeights& sums) const;
};

template <class Body>
void DeltaLayer::for_heads(const at::Tensor& projected_btw, const at::Tensor& before_brc,
                           const Body& body) const {
    const int64_t of_head = projected_btw.size(0) * stretches_.positions() * sizes_.heads_per_key() *
                            std::max(sizes_.key_width, sizes_.value_width);
    const int64_t most =
        std::clamp<int64_t>(pieces::kDeltaElements / std::max<int64_t>(1, of_head), 1, sizes_.key_heads);
    for (int64_t first = 0; first < sizes_.key_heads; first += most)
        body(Some(*this, projected_btw, before_brc, {first, std::min(most, sizes_.key_heads - first)}));
}

/// Returns the J − 1 convolution inputs before each of this rank's stretches that continues a document,
/// received from other ranks: [B, received · (J − 1), C].
at::Tensor DeltaLayer::tokens_before(const at::Tensor& projected_btw) const {
    if (stretches_.stretches.most_sent == 0) return {};
    const at::Tensor tails_brw = with_zero_row(projected_btw).index_select(1, stretches_.tails_r);
    std::vector<at::Tensor> parts;
    for (const Part part : channels_in_order(sizes_))
        parts.push_back(part_of(sizes_, tails_brw, part, {0, sizes_.key_heads}).flatten(2));
    return ringmaster::tokens_before(groups_, stretches_, at::cat(parts, 2));
}

/// Adds the gradients of tokens that other stretches read. All ranks take part.
void DeltaLayer::send_back(const at::Tensor& dbefore_brc, const at::Tensor& dprojected_btw) const {
    if (stretches_.stretches.most_received == 0) return;
    const at::Tensor arrived = gradients_of_tails(groups_, stretches_, dbefore_brc);
    if (!arrived.defined()) return;
    for_channels(sizes_, arrived, {0, sizes_.key_heads}, [&](Part part, const at::Tensor& d) {
        part_of(sizes_, dprojected_btw, part, {0, sizes_.key_heads})
            .index_add_(1, stretches_.tail_tokens_m, d.to(dprojected_btw.scalar_type()));
    });
}

DeltaOutput DeltaLayer::forward(const at::Tensor& projected_btw) const {
    const int64_t B = projected_btw.size(0), H = sizes_.value_heads;
    const auto options = projected_btw.options().dtype(sum_type(projected_btw));
    const auto state = [&](int64_t width) { return at::empty({B, H, sizes_.key_width, width}, options); };
    const size_t count = stretches_.own.size();
    const at::Tensor before_brc = tokens_before(projected_btw);
    DeltaOutput output;
    output.states.resize(count);
    output.transitions.resize(count);
    StateMaps maps{std::vector<at::Tensor>(count), std::vector<at::Tensor>(count), sizes_.state_space.on};
    for (size_t i = 0; i < count; ++i) {
        const Stretch& stretch = stretches_.at(stretches_.own[i]);
        if (!stretch.has_after) continue;
        maps.ends[i] = state(sizes_.value_width);
        if (stretch.has_before)
            output.transitions[i] =
                sizes_.state_space.on ? at::empty({B, H, 1, 1}, options) : state(sizes_.key_width);
    }
    if (stretches_.stretches.most_sent > 0) {
        for_heads(projected_btw, before_brc, [&](const Some& some) {
            for (size_t i = 0; i < count; ++i) {
                if (!maps.ends[i].defined()) continue;
                const ChunkRange range{stretches_.own[i].first_chunk, stretches_.own[i].end_chunk};
                some.put(sizes_, maps.ends[i], some.rule->forward(range, some.rule->zero_state(), {}));
                if (output.transitions[i].defined())
                    some.put(sizes_, output.transitions[i], some.rule->transition(range));
            }
        });
        maps.transitions = output.transitions;
        output.states = states_before(groups_, stretches_, maps, state(sizes_.value_width));
    }
    output.heads_bthv = at::empty({B, stretches_.tokens, H, sizes_.value_width}, projected_btw.options());
    for_heads(projected_btw, before_brc, [&](const Some& some) {
        const at::Tensor out_nmglv = at::empty_like(some.inputs.v_nmglv);
        for (size_t i = 0; i < count; ++i) {
            const at::Tensor& before = output.states[i];
            some.rule->forward({stretches_.own[i].first_chunk, stretches_.own[i].end_chunk},
                               before.defined() ? some.of_these(sizes_, before) : some.rule->zero_state(),
                               out_nmglv);
        }
        if (some.read_nmglv.defined()) out_nmglv.addcmul_(some.read_nmglv, some.skips(*this));
        const at::Tensor to = some.outputs_of(sizes_, output.heads_bthv);
        to.copy_(some.to_tokens(*this, out_nmglv).reshape(to.sizes()));
    });
    return output;
}

at::Tensor DeltaLayer::gated(const at::Tensor& projected_btw, const DeltaOutput& output) const {
    const at::Tensor gates_bthv =
        part_of(sizes_, projected_btw, kGates, {0, sizes_.key_heads}).reshape(output.heads_bthv.sizes());
    if (sizes_.state_space.on)
        return gated_groups(sizes_.state_space, output.heads_bthv.flatten(2).flatten(0, 1),
                            gates_bthv.flatten(2).flatten(0, 1), weights_.norm_v, eps_)
            .view({projected_btw.size(0), stretches_.tokens, sizes_.values()});
    return gated_norm(output.heads_bthv.flatten(0, 1), gates_bthv.flatten(0, 1), weights_.norm_v, eps_)
        .view({projected_btw.size(0), stretches_.tokens, sizes_.value_heads * sizes_.value_width});
}

void DeltaLayer::Some::numbers_backward(const DeltaLayer& layer, DeltaInputs& d, const at::Tensor& dout_nmglv,
                                        const at::Tensor& dprojected_btw, DeltaWeights& sums) const {
    const DeltaSizes& s = layer.sizes_;
    const at::Tensor dlog_decay = to_tokens(layer, d.log_decay_nmgl.unsqueeze(-1));
    const at::Tensor read = steps(layer, dprojected_btw), decay = decays(layer);
    by_heads(s, sums.decay_log_h).copy_((dlog_decay * step_of(s, read) * -decay).sum(at::IntArrayRef{0, 1}));
    at::Tensor dstep = dlog_decay * -decay;
    if (s.state_space.on) {
        const at::Tensor dskip_mg = (dout_nmglv * read_nmglv).sum(at::IntArrayRef{0, 3, 4});
        by_heads(s, sums.skip_h).copy_(dskip_mg.unflatten(0, {-1, heads.count}).sum(0));
        dstep.add_(to_tokens(layer, (d.v_nmglv * read_nmglv).sum(-1, true)));
        d.v_nmglv = (d.v_nmglv * step_nmgl.unsqueeze(-1)).addcmul_(dout_nmglv, skips(layer));
    } else {
        const at::Tensor betas = part_of(s, dprojected_btw, kBetas, heads);
        const at::Tensor b = at::sigmoid(betas.to(dstep.scalar_type()));
        const at::Tensor dbeta = to_tokens(layer, d.beta_nmgl.unsqueeze(-1));
        betas.copy_(dbeta * b * (1 - b));
    }
    dstep.mul_(step_slope(s, read));
    by_heads(s, sums.step_bias_h).copy_(dstep.sum(at::IntArrayRef{0, 1}));
    part_of(s, dprojected_btw, kSteps, heads).copy_(dstep.mul_(factor_of(s, kSteps)));
}

at::Tensor DeltaLayer::Some::inputs_backward(const DeltaLayer& layer, DeltaInputs d,
                                             const at::Tensor& dout_nmglv, const at::Tensor& dprojected_btw,
                                             DeltaWeights& sums) const {
    const DeltaSizes& s = layer.sizes_;
    const OwnStretches& at = layer.stretches_;
    numbers_backward(layer, d, dout_nmglv, dprojected_btw, sums);
    at::Tensor dmixed_bpc =
        at::zeros({mixed_bpc.size(0), mixed_bpc.size(1) + 1, mixed_bpc.size(2)}, mixed_bpc.options());
    const at::Tensor dactive = dmixed_bpc.narrow(1, 0, mixed_bpc.size(1)), active = at::silu(mixed_bpc);
    const bool norms = !s.state_space.on;
    std::array<at::Tensor, 3> dunits = {norms ? d.q_nm1lk * query_scale(s) : d.q_nm1lk, d.k_nm1lk, d.v_nmglv};
    for_channels(s, active, heads, [&](Part part, const at::Tensor& x_bphw) {
        at::Tensor& dx = dunits[part];
        if (norms && part != kValues) dx = unit_backward(dx, in_chunks(x_bphw, 1));
    });
    for_channels(s, dactive, heads, [&](Part part, const at::Tensor& to) {
        to.copy_(out_of_chunks(dunits[part]).view(to.sizes()));
    });
    dactive.copy_(at::silu_backward(dactive, mixed_bpc));
    const auto put_channels = [&](const at::Tensor& to_c, const at::Tensor& x_c) {
        int64_t begin = 0;
        for (const Part part : channels_in_order(s)) {
            const Channels some = channels_of(s, part, heads);
            to_c.narrow(0, some.begin, some.size).copy_(x_c.narrow(0, begin, some.size));
            begin += some.size;
        }
    };
    if (sums.convolution_bias_c.defined())
        put_channels(sums.convolution_bias_c, dactive.sum(at::IntArrayRef{0, 1}));
    const at::Tensor taps_cj = taps(layer), dtaps_cj = at::empty_like(taps_cj);
    at::Tensor dsources_bsc = sources_gradient(at, dmixed_bpc, sources_bsc, taps_cj, dtaps_cj);
    scale_channels(s, dtaps_cj);
    put_channels(sums.convolution_c1j.squeeze(1), dtaps_cj);
    return dsources_bsc;
}

void DeltaLayer::backward(const at::Tensor& dgated_btw, const at::Tensor& projected_btw,
                          const DeltaOutput& output, const DeltaWeights& gradients, double beta) const {
    const int64_t B = projected_btw.size(0), H = sizes_.value_heads;
    const auto options = projected_btw.options().dtype(sum_type(projected_btw));
    const size_t count = stretches_.own.size();
    const at::Tensor before_brc = tokens_before(projected_btw);
    const auto zeros = [&](const at::Tensor& like) {
        return like.defined() ? at::zeros(like.sizes(), options) : at::Tensor();
    };
    DeltaWeights sums{zeros(weights_.convolution_c1j),    zeros(weights_.step_bias_h),
                      zeros(weights_.decay_log_h),        {},
                      zeros(weights_.convolution_bias_c), zeros(weights_.skip_h)};
    const at::Tensor gates = part_of(sizes_, projected_btw, kGates, {0, sizes_.key_heads});
    at::Tensor dheads_bthv;
    {
        const bool by_groups = sizes_.state_space.on;
        const auto by_token = [&](const at::Tensor& x) {
            const at::Tensor heads = x.reshape({B * stretches_.tokens, H, sizes_.value_width});
            return by_groups ? heads.flatten(1) : heads;
        };
        const at::Tensor dy = by_token(dgated_btw), x = by_token(output.heads_bthv), gate = by_token(gates);
        const GatedNormGradients d =
            by_groups ? gated_groups_backward(sizes_.state_space, dy, x, gate, weights_.norm_v, eps_)
                      : gated_norm_backward(dy, x, gate, weights_.norm_v, eps_);
        gates.copy_(d.dgate_nhv.view(gates.sizes()));
        sums.norm_v = d.dweight_v;
        dheads_bthv = d.dx_nhv.view({B, stretches_.tokens, H, sizes_.value_width});
    }
    const auto begun = [&](const Some& some) {
        const at::Tensor dout_bpw =
            with_zero_row(some.outputs_of(sizes_, dheads_bthv))
                .index_select(1, stretches_.tokens_p)
                .unflatten(2, {some.heads.count, sizes_.heads_per_key() * sizes_.value_width});
        DeltaRule::Backward backward =
            some.rule->begin_backward(Some::in_chunks(dout_bpw, sizes_.heads_per_key()));
        return backward;
    };
    std::vector<at::Tensor> dafter(count);
    if (stretches_.stretches.most_received > 0) {
        const at::Tensor like = at::empty({B, H, sizes_.key_width, sizes_.value_width}, options);
        StateMaps maps{output.transitions, std::vector<at::Tensor>(count), sizes_.state_space.on};
        for (size_t i = 0; i < count; ++i)
            if (stretches_.at(stretches_.own[i]).has_before) maps.ends[i] = at::empty_like(like);
        for_heads(projected_btw, before_brc, [&](const Some& some) {
            const DeltaRule::Backward backward = begun(some);
            for (size_t i = 0; i < count; ++i)
                if (maps.ends[i].defined())
                    some.put(sizes_, maps.ends[i],
                             some.rule->state_gradient(
                                 {stretches_.own[i].first_chunk, stretches_.own[i].end_chunk},
                                 some.rule->zero_state(), backward));
        });
        dafter = state_gradients_after(groups_, stretches_, maps, like);
    }
    at::Tensor dbefore_brc =
        at::zeros({B, stretches_.sources() - stretches_.tokens, sizes_.channels()}, options);
    for_heads(projected_btw, before_brc, [&](const Some& some) {
        DeltaRule::Backward backward = begun(some);
        const auto these = [&](const at::Tensor& x) {
            return x.defined() ? some.of_these(sizes_, x) : some.rule->zero_state();
        };
        for (size_t i = 0; i < count; ++i) {
            const ChunkRange range{stretches_.own[i].first_chunk, stretches_.own[i].end_chunk};
            some.rule->remember(range, these(output.states[i]), backward);
            some.rule->state_gradient(range, these(dafter[i]), backward);
        }
        const at::Tensor dsources_bsc = some.inputs_backward(*this, some.rule->finish(backward),
                                                             backward.dout_nmglv, projected_btw, sums);
        for_channels(sizes_, dsources_bsc, some.heads, [&](Part part, const at::Tensor& d) {
            part_of(sizes_, projected_btw, part, some.heads).copy_(d.narrow(1, 0, stretches_.tokens));
            const Channels to = channels_of(sizes_, part, some.heads);
            dbefore_brc.narrow(2, to.begin, to.size)
                .copy_(d.narrow(1, stretches_.tokens, dbefore_brc.size(1)).flatten(2));
        });
    });
    send_back(dbefore_brc, projected_btw);
    set_gradient(gradients.convolution_c1j, sums.convolution_c1j, beta);
    set_gradient(gradients.step_bias_h, sums.step_bias_h, beta);
    set_gradient(gradients.decay_log_h, sums.decay_log_h, beta);
    set_gradient(gradients.norm_v, sums.norm_v, beta);
    set_gradient(gradients.convolution_bias_c, sums.convolution_bias_c, beta);
    set_gradient(gradients.skip_h, sums.skip_h, beta);
}

}  // namespace ringmaster
