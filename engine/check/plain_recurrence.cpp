#include "engine/check/plain_recurrence.h"

#include <ATen/ATen.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>

namespace ringmaster {

namespace {

constexpr int64_t kTokensAtOnce = 32;  ///< the backward pass keeps one state per this many tokens

struct Parts {
    at::Tensor q, k, v, z, b, a;  ///< [N, ·]
};

Parts parts_of(const DeltaSizes& s, const at::Tensor& x_nw) {
    const int64_t N = x_nw.size(0), G = s.heads_per_key(), H = s.value_heads;
    std::vector<at::Tensor> p;
    if (s.by_key_head) {
        const int64_t wide = 2 * s.keys() + 2 * s.values();
        const at::Tensor first = x_nw.narrow(1, 0, wide).reshape({N, s.key_heads, wide / s.key_heads});
        const at::Tensor second = x_nw.narrow(1, wide, 2 * H).reshape({N, s.key_heads, 2 * G});
        p = at::split_with_sizes(first, {s.key_width, s.key_width, G * s.value_width, G * s.value_width}, 2);
        for (const at::Tensor& some : at::split_with_sizes(second, {G, G}, 2)) p.push_back(some);
    } else {
        p = at::split_with_sizes(x_nw, {s.keys(), s.keys(), s.values(), s.values(), H, H}, 1);
    }
    for (at::Tensor& some : p) some = some.flatten(1);
    return {p[0], p[1], p[2], p[3], p[4], p[5]};
}

/// Returns, for each token, the weighted sum of the last tokens of its document, with one weight per channel
/// and tap.
at::Tensor convolved(const at::Tensor& x_nc, const at::Tensor& weight_c1j, const at::Tensor& bias_c,
                     const std::vector<FlatRange>& documents) {
    const int64_t taps = weight_c1j.size(2);
    std::vector<at::Tensor> all;
    for (const FlatRange& document : documents) {
        const at::Tensor x = x_nc.narrow(0, document.begin, document.size());
        at::Tensor y = x * weight_c1j.select(2, taps - 1).squeeze(1);
        for (int64_t back = 1; back < std::min(taps, document.size()); ++back)
            y = y + at::constant_pad_nd(x.narrow(0, 0, document.size() - back), {0, 0, back, 0}) *
                        weight_c1j.select(2, taps - 1 - back).squeeze(1);
        all.push_back(y + (bias_c.defined() ? bias_c : at::zeros({1}, y.options())));
    }
    return at::cat(all);
}

/// The rule's inputs by head: [tokens, H, width]. A state space has `skip` and no β. In Mamba-1, all heads
/// share q and k, [tokens, 1, K], and `step` times `rates_hk` is the log of the decay.
struct Rule {
    at::Tensor q, k, v, beta, log_decay, skip, step = {}, rates_hk = {};

    /// Returns the factor by which a token multiplies the state.
    at::Tensor decay(int64_t t) const {
        if (rates_hk.defined()) return (step[t].unsqueeze(1) * rates_hk).exp().unsqueeze(2);
        return log_decay[t].exp().view({-1, 1, 1});
    }
};

Rule scan_of(const DeltaSizes& s, const at::Tensor& inputs_nw, const at::Tensor& decay_log_hk) {
    const int64_t H = s.value_heads, K = s.key_width;
    const auto p = at::split_with_sizes(inputs_nw, {K, K, H, H, H}, 1);
    return {p[0].unsqueeze(1),  p[1].unsqueeze(1), p[2].unsqueeze(2), {}, {}, p[4].unsqueeze(2), p[3],
            -decay_log_hk.exp()};
}

Rule rule_of(const DeltaSizes& s, const at::Tensor& inputs_nw, const at::Tensor& decay_log_hk) {
    if (s.scans()) return scan_of(s, inputs_nw, decay_log_hk);
    const int64_t H = s.value_heads, K = s.key_width, last = s.state_space.on ? s.values() : H;
    const auto p = at::split_with_sizes(inputs_nw, {H * K, H * K, s.values(), H, last}, 1);
    const auto heads = [&](size_t i) { return p[i].reshape({inputs_nw.size(0), H, p[i].size(1) / H}); };
    if (s.state_space.on) return {heads(0), heads(1), heads(2), {}, p[3], heads(4)};
    return {heads(0), heads(1), heads(2), p[3], p[4], {}};
}

/// Continues from `state` [H, K, V], and replaces it by the state after the last token.
at::Tensor some_tokens(const Rule& rule, at::Tensor& state) {
    std::vector<at::Tensor> out;
    for (int64_t t = 0; t < rule.q.size(0); ++t) {
        const at::Tensor k = rule.k[t].unsqueeze(2);
        state = state * rule.decay(t);
        at::Tensor written = rule.v[t];
        if (rule.beta.defined()) written = (written - (state * k).sum(1)) * rule.beta[t].unsqueeze(1);
        state = state + k * written.unsqueeze(1);
        const at::Tensor read = (state * rule.q[t].unsqueeze(2)).sum(1);
        out.push_back(rule.skip.defined() ? read + rule.skip[t] : read);
    }
    return at::stack(out).flatten(1);
}

/// Returns the factors of the first matrix's columns: gates, values, keys, queries and steps.
at::Tensor space_factors(const DeltaSizes& s, const at::Tensor& like) {
    const StateSpace& space = s.state_space;
    const std::pair<int64_t, double> parts[] = {{s.values(), space.gates},
                                                {s.values(), space.values},
                                                {s.keys(), space.keys},
                                                {s.keys(), space.queries},
                                                {s.value_heads, space.steps}};
    std::vector<at::Tensor> all;
    for (const auto& [width, factor] : parts) all.push_back(at::full({width}, factor, like.options()));
    return at::cat(all);
}

at::Tensor space_inputs(const DeltaSizes& s, const DeltaWeights& weights, const at::Tensor& projected_nw,
                        const std::vector<FlatRange>& documents) {
    const StateSpace& space = s.state_space;
    const at::Tensor scaled = projected_nw * space_factors(s, projected_nw);
    const at::Tensor mixed =
        at::silu(convolved(scaled.narrow(1, s.values(), s.channels()), weights.convolution_c1j,
                           weights.convolution_bias_c, documents));
    const int64_t N = mixed.size(0), H = s.value_heads;
    const auto of_heads = [&](int64_t first) {
        return mixed.narrow(1, first, s.keys())
            .reshape({N, s.key_heads, s.key_width})
            .repeat_interleave(s.heads_per_key(), 1)
            .flatten(1);
    };
    at::Tensor step = at::softplus(scaled.narrow(1, scaled.size(1) - H, H) + weights.step_bias_h);
    if (space.least_step > 0) step = step.clamp_min(space.least_step);
    if (space.most_step > 0) step = step.clamp_max(space.most_step);
    const at::Tensor x = mixed.narrow(1, 0, s.values()).reshape({N, H, s.value_width});
    return at::cat({of_heads(s.values() + s.keys()), of_heads(s.values()), (x * step.unsqueeze(2)).flatten(1),
                    -weights.decay_log_h.exp() * step, (x * weights.skip_h.unsqueeze(1)).flatten(1)},
                   1);
}

/// Returns a state space's outputs times the gate, normalised by groups if the state space has a norm.
at::Tensor gated_space(const DeltaSizes& s, const at::Tensor& weight_w, double eps,
                       const at::Tensor& projected_nw, const at::Tensor& heads_nw) {
    const StateSpace& space = s.state_space;
    const at::Tensor share = at::silu(projected_nw.narrow(1, 0, s.values()) * space.gates);
    const auto normed = [&](const at::Tensor& x_nw) {
        const at::Tensor x = x_nw.reshape({x_nw.size(0), space.norm_groups, -1});
        return (x / (x.square().mean(-1, true) + eps).sqrt()).flatten(1) * weight_w;
    };
    if (space.norm_groups == 0) return heads_nw * share;
    return space.norm_before_gate ? normed(heads_nw) * share : normed(heads_nw * share);
}

at::Tensor no_state(const DeltaSizes& s, const at::Tensor& like) {
    return at::zeros({s.value_heads, s.key_width, s.value_width}, like.options().dtype(at::kDouble));
}

/// Cuts a document into short stretches.
std::vector<FlatRange> cut_document(const FlatRange& document) {
    std::vector<FlatRange> cut;
    for (int64_t begin = document.begin; begin < document.end; begin += kTokensAtOnce)
        cut.push_back({begin, std::min(begin + kTokensAtOnce, document.end)});
    return cut;
}

at::Tensor tokens_of(const at::Tensor& x_nw, const FlatRange& range) {
    return x_nw.narrow(0, range.begin, range.size()).to(at::kDouble);
}

}  // namespace

at::Tensor plain_rule_inputs(const DeltaSizes& s, const DeltaWeights& weights, const at::Tensor& projected_nw,
                             const std::vector<FlatRange>& documents) {
    if (s.convolved > 0) {
        const auto b_c_x = projected_nw.chunk(3, 1);
        return convolved(b_c_x[0] * b_c_x[2], weights.convolution_c1j, {}, documents);
    }
    if (s.state_space.on) return space_inputs(s, weights, projected_nw, documents);
    const Parts parts = parts_of(s, projected_nw);
    const at::Tensor mixed =
        at::silu(convolved(at::cat({parts.q, parts.k, parts.v}, 1), weights.convolution_c1j, {}, documents));
    const auto keys = [&](int64_t first) {
        const at::Tensor x =
            mixed.narrow(1, first, s.keys()).reshape({mixed.size(0), s.key_heads, s.key_width});
        const at::Tensor normed = x / (x.square().sum(-1, true) + 1e-6).sqrt();
        return normed.repeat_interleave(s.heads_per_key(), 1).flatten(1);
    };
    const at::Tensor q = keys(0) / std::sqrt(double(s.key_width));
    const at::Tensor log_decay = -weights.decay_log_h.exp() * at::softplus(parts.a + weights.step_bias_h);
    return at::cat(
        {q, keys(s.keys()), mixed.narrow(1, 2 * s.keys(), s.values()), at::sigmoid(parts.b), log_decay}, 1);
}

at::Tensor plain_channels(const DeltaSizes& s, const DeltaWeights& weights, const at::Tensor& projected_nw,
                          const std::vector<FlatRange>& documents) {
    return at::silu(convolved(projected_nw.narrow(1, 0, s.values()), weights.convolution_c1j,
                              weights.convolution_bias_c, documents));
}

at::Tensor plain_scan_inputs(const DeltaWeights& weights, const at::Tensor& channels_nh,
                             const PlainSelected& selected) {
    const at::Tensor step = at::softplus(selected.steps_nh);
    return at::cat(
        {selected.queries_nk, selected.keys_nk, channels_nh * step, step, channels_nh * weights.skip_h}, 1);
}

at::Tensor plain_rule(const DeltaSizes& sizes, const at::Tensor& inputs_nw,
                      const std::vector<FlatRange>& documents, const at::Tensor& decay_log_hk) {
    if (sizes.convolved > 0) return inputs_nw;
    const at::Tensor log = decay_log_hk.defined() ? decay_log_hk.to(at::kDouble) : decay_log_hk;
    std::vector<at::Tensor> out;
    for (const FlatRange& document : documents) {
        at::Tensor state = no_state(sizes, inputs_nw);
        for (const FlatRange& range : cut_document(document))
            out.push_back(some_tokens(rule_of(sizes, tokens_of(inputs_nw, range), log), state));
    }
    return at::cat(out).to(inputs_nw.scalar_type());
}

PlainRuleGradients plain_rule_backward(const DeltaSizes& sizes, const at::Tensor& inputs_nw,
                                       const at::Tensor& dout_nw, const std::vector<FlatRange>& documents,
                                       const at::Tensor& decay_log_hk) {
    if (sizes.convolved > 0) return {dout_nw, {}};
    at::Tensor dinputs_nw = at::empty_like(inputs_nw), dlog, log;
    if (decay_log_hk.defined()) {
        log = decay_log_hk.to(at::kDouble).detach().clone().set_requires_grad(true);
        dlog = at::zeros(log.sizes(), log.options().requires_grad(false));
    }
    for (const FlatRange& document : documents) {
        const std::vector<FlatRange> ranges = cut_document(document);
        std::vector<at::Tensor> states = {no_state(sizes, inputs_nw)};
        for (const FlatRange& range : ranges) {
            at::Tensor state = states.back();
            some_tokens(rule_of(sizes, tokens_of(inputs_nw, range), log.defined() ? log.detach() : log),
                        state);
            states.push_back(state);
        }
        at::Tensor dstate = at::zeros_like(states.back());
        for (size_t i = ranges.size(); i-- > 0;) {
            const c10::AutoGradMode with_gradients(true);
            const at::Tensor inputs =
                tokens_of(inputs_nw, ranges[i]).detach().clone().set_requires_grad(true);
            const at::Tensor begin = states[i].detach().clone().set_requires_grad(true);
            at::Tensor state = begin;
            const at::Tensor out = some_tokens(rule_of(sizes, inputs, log), state);
            std::vector<at::Tensor> leaves = {inputs, begin};
            if (log.defined()) leaves.push_back(log);
            const auto d =
                torch::autograd::grad({out, state}, leaves, {tokens_of(dout_nw, ranges[i]), dstate});
            dinputs_nw.narrow(0, ranges[i].begin, ranges[i].size()).copy_(d[0].detach());
            dstate = d[1].detach();
            if (log.defined()) dlog.add_(d[2].detach());
        }
    }
    return {dinputs_nw, dlog.defined() ? dlog.to(decay_log_hk.scalar_type()) : dlog};
}

at::Tensor plain_gated(const DeltaSizes& sizes, const DeltaWeights& weights, double eps,
                       const at::Tensor& projected_nw, const at::Tensor& heads_nw) {
    if (sizes.convolved > 0) return projected_nw.chunk(3, 1)[1] * heads_nw;
    if (sizes.scans()) return heads_nw * at::silu(projected_nw.chunk(2, 1)[1]);
    if (sizes.state_space.on) return gated_space(sizes, weights.norm_v, eps, projected_nw, heads_nw);
    const at::Tensor x = heads_nw.view({heads_nw.size(0), sizes.value_heads, sizes.value_width});
    const at::Tensor normed = x / (x.square().mean(-1, true) + eps).sqrt() * weights.norm_v;
    return normed.flatten(1) * at::silu(parts_of(sizes, projected_nw).z);
}

}  // namespace ringmaster
