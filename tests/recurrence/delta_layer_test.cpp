#include "engine/recurrence/delta_layer.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <cmath>
#include <random>

#include "tests/recurrence/meshes.h"
#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

constexpr double kEps = 1e-6;

struct Example {
    DeltaSizes sizes;
    at::Tensor projected_bsw, dgated_bsw;
    DeltaWeights weights;
    AttentionMask mask;
    int64_t tokens = 0;
};

Example example(int64_t tokens, std::vector<int64_t> documents, bool by_key_head) {
    at::manual_seed(tokens);
    Example made;
    made.sizes = {2, 6, 8, 12, 4, by_key_head};
    made.tokens = tokens;
    made.mask.documents = std::move(documents);
    const DeltaSizes& s = made.sizes;
    const auto random = [&](at::IntArrayRef sizes) { return at::randn(sizes); };
    made.projected_bsw = random({kRows, tokens, s.projected()});
    made.dgated_bsw = random({kRows, tokens, s.value_heads * s.value_width});
    made.weights = {random({s.channels(), 1, s.taps}) * 0.5, random({s.value_heads}) - 2,
                    at::linspace(-2, 1, s.value_heads), random({s.value_width}) + 1};
    return made;
}

/// Returns an example of a state space with two groups of three heads.
Example state_space(int64_t tokens, std::vector<int64_t> documents, const StateSpace& rule) {
    Example made = example(tokens, std::move(documents), false);
    made.sizes.state_space = rule;
    made.sizes.state_space.on = true;
    const DeltaSizes& s = made.sizes;
    DeltaWeights& w = made.weights;
    made.projected_bsw = at::randn({kRows, tokens, s.projected()});
    w.norm_v = rule.norm_groups > 0 ? at::randn({s.values()}) + 1 : at::Tensor();
    if (rule.convolution_bias) w.convolution_bias_c = at::randn({s.channels()});
    w.skip_h = at::randn({s.value_heads});
    return made;
}

Example in(at::ScalarType dtype, const Example& of) {
    Example made = of;
    made.projected_bsw = of.projected_bsw.to(dtype, false, true);
    made.dgated_bsw = of.dgated_bsw.to(dtype);
    made.weights = changed(of.weights, [&](const at::Tensor& x) { return x.to(dtype); });
    return made;
}

/// Splits the columns as transformers does.
std::vector<at::Tensor> split(const DeltaSizes& s, const at::Tensor& x_tw) {
    const int64_t K = s.key_heads * s.key_width, V = s.value_heads * s.value_width, H = s.value_heads;
    if (!s.by_key_head) return at::split_with_sizes(x_tw, {K, K, V, V, H, H}, 1);
    const int64_t T = x_tw.size(0), G = H / s.key_heads, v = G * s.value_width;
    const auto wide = at::split_with_sizes(x_tw.narrow(1, 0, 2 * K + 2 * V).reshape({T, s.key_heads, -1}),
                                           {s.key_width, s.key_width, v, v}, 2);
    const auto thin =
        at::split_with_sizes(x_tw.narrow(1, 2 * K + 2 * V, 2 * H).reshape({T, s.key_heads, -1}), {G, G}, 2);
    std::vector<at::Tensor> parts;
    for (const auto& some : {wide, thin})
        for (const at::Tensor& part : some) parts.push_back(part.reshape({T, -1}));
    return parts;
}

at::Tensor normed(const at::Tensor& x) {
    return x / (x.square().sum(-1, true) + 1e-6).sqrt();
}

at::Tensor mixed(const DeltaSizes& s, const DeltaWeights& w, const at::Tensor& x_ct) {
    const at::Tensor padded_ct = at::constant_pad_nd(x_ct, {s.taps - 1, 0});
    at::Tensor mixed_ct = at::zeros_like(x_ct);
    for (int64_t j = 0; j < s.taps; ++j)
        mixed_ct = mixed_ct + w.convolution_c1j.select(2, j) * padded_ct.narrow(1, j, x_ct.size(1));
    if (w.convolution_bias_c.defined()) mixed_ct = mixed_ct + w.convolution_bias_c.unsqueeze(1);
    return at::silu(mixed_ct);
}

/// Computes one document of one row of a state space, token by token.
at::Tensor sequential_space(const Example& of, const DeltaWeights& w, const at::Tensor& projected_tw) {
    const DeltaSizes& s = of.sizes;
    const StateSpace& rule = s.state_space;
    const int64_t T = projected_tw.size(0), G = s.value_heads / s.key_heads, K = s.keys(), V = s.values();
    const auto parts = at::split_with_sizes(projected_tw, {V, V, K, K, s.value_heads}, 1);
    const at::Tensor scaled =
        at::cat({parts[1] * rule.values, parts[2] * rule.keys, parts[3] * rule.queries}, 1);
    const at::Tensor mixed_tc = mixed(s, w, scaled.t()).t();
    const auto heads = [&](int64_t from, int64_t width, int64_t number) {
        return mixed_tc.narrow(1, from, width).reshape({T, number, -1});
    };
    const at::Tensor x = heads(0, V, s.value_heads);
    const at::Tensor k = heads(V, K, s.key_heads).repeat_interleave(G, 1);
    const at::Tensor q = heads(V + K, K, s.key_heads).repeat_interleave(G, 1);
    at::Tensor step = at::log1p((parts[4] * rule.steps + w.step_bias_h).exp());
    if (rule.most_step > 0) step = at::clamp(step, rule.least_step, rule.most_step);
    at::Tensor state = at::zeros({s.value_heads, s.key_width, s.value_width}, q.options());
    std::vector<at::Tensor> out;
    for (int64_t t = 0; t < T; ++t) {
        state = state * (-w.decay_log_h.exp() * step[t]).exp().view({-1, 1, 1});
        state = state + k[t].unsqueeze(2) * (step[t].unsqueeze(1) * x[t]).unsqueeze(1);
        out.push_back((state * q[t].unsqueeze(2)).sum(1) + w.skip_h.unsqueeze(1) * x[t]);
    }
    const at::Tensor y = at::stack(out).flatten(1), share = at::silu(parts[0] * rule.gates);
    if (rule.norm_groups == 0) return y * share;
    const at::Tensor read = (rule.norm_before_gate ? y : y * share).reshape({T, rule.norm_groups, -1});
    const at::Tensor rms = (read.square().mean(-1, true) + kEps).sqrt();
    const at::Tensor normed_tw = (read / rms).flatten(1) * w.norm_v;
    return rule.norm_before_gate ? normed_tw * share : normed_tw;
}

/// Computes one document of one row, token by token.
at::Tensor sequential(const Example& of, const DeltaWeights& w, const at::Tensor& projected_tw) {
    const DeltaSizes& s = of.sizes;
    if (s.state_space.on) return sequential_space(of, w, projected_tw);
    const int64_t T = projected_tw.size(0), G = s.value_heads / s.key_heads;
    const auto parts = split(s, projected_tw);
    const at::Tensor mixed_ct = mixed(s, w, at::cat({parts[0], parts[1], parts[2]}, 1).t());
    const int64_t K = s.key_heads * s.key_width;
    const auto heads = [&](int64_t from, int64_t count, int64_t number) {
        return mixed_ct.narrow(0, from, count).t().reshape({T, number, -1});
    };
    const at::Tensor q = normed(heads(0, K, s.key_heads)).repeat_interleave(G, 1) / std::sqrt(s.key_width);
    const at::Tensor k = normed(heads(K, K, s.key_heads)).repeat_interleave(G, 1);
    const at::Tensor v = heads(2 * K, s.value_heads * s.value_width, s.value_heads);
    const at::Tensor beta = at::sigmoid(parts[4]);
    const at::Tensor decay = (-w.decay_log_h.exp() * at::log1p((parts[5] + w.step_bias_h).exp())).exp();
    at::Tensor state = at::zeros({s.value_heads, s.key_width, s.value_width}, q.options());
    std::vector<at::Tensor> out;
    for (int64_t t = 0; t < T; ++t) {
        state = state * decay[t].view({-1, 1, 1});
        const at::Tensor missing = v[t] - (state * k[t].unsqueeze(2)).sum(1);
        state = state + k[t].unsqueeze(2) * (beta[t].unsqueeze(1) * missing).unsqueeze(1);
        out.push_back((state * q[t].unsqueeze(2)).sum(1));
    }
    const at::Tensor x = at::stack(out);
    const at::Tensor rms = (x.square().mean(-1, true) + kEps).sqrt();
    return (x / rms * w.norm_v * at::silu(parts[3].view_as(x))).flatten(1);
}

struct Truth {
    at::Tensor gated_bsw, dprojected_bsw;
    DeltaWeights gradients;
};

Truth truth_of(const Example& of) {
    const c10::AutoGradMode with_gradients(true);
    const DeltaWeights w = changed(of.weights, leaf);
    const at::Tensor projected = leaf(of.projected_bsw);
    const at::Tensor gated = by_documents(
        of.mask, of.tokens, of.dgated_bsw.size(2), [&](int64_t row, const DocumentRange& document) {
            return sequential(of, w, projected[row].narrow(0, document.begin, document.size()));
        });
    std::vector<at::Tensor> leaves = {projected};
    changed(w, [&](const at::Tensor& x) { return leaves.emplace_back(x); });
    const auto d = torch::autograd::grad({gated}, leaves, {of.dgated_bsw.to(at::kDouble)});
    size_t next = 1;
    return {gated.detach(), d[0], changed(w, [&](const at::Tensor&) { return d[next++]; })};
}

/// Computes the example over the mesh's ranks, and compares with the truth.
Errors errors_over(const Example& of, const Truth& truth, const Mesh& mesh, RingAttnFunc func) {
    const Layout layout = make_layout(func, of.tokens, mesh.ring, mesh.ulysses, of.mask);
    std::vector<at::Tensor> gated(size_t(mesh.ranks())), dprojected(size_t(mesh.ranks()));
    std::vector<DeltaWeights> gradients(size_t(mesh.ranks()));
    std::vector<at::Tensor> places;
    std::vector<int64_t> sent(size_t(mesh.ranks()));
    for (const Spans& spans : layout.ranks) places.push_back(places_of(spans));
    const double before = held_before(of.dgated_bsw);
    run_ranks(mesh, [&](int rank, Groups& groups) {
        const auto r = static_cast<size_t>(rank);
        const OwnStretches stretches(stretches_of(layout, of.mask), rank, places[r].size(0), of.sizes.taps,
                                     at::kCPU);
        const DeltaLayer layer(groups, stretches, of.sizes, of.weights, kEps);
        const at::Tensor projected = of.projected_bsw.index_select(1, places[r]);
        const DeltaOutput output = layer.forward(projected);
        gated[r] = layer.gated(projected, output);
        gradients[r] = changed(of.weights, [&](const at::Tensor& x) { return at::full_like(x, before); });
        layer.backward(of.dgated_bsw.index_select(1, places[r]), projected, output, gradients[r], 0.5);
        dprojected[r] = projected;
        sent[r] = groups.take_totals().sent_bytes;
    });
    const at::Tensor whole = at::zeros_like(of.dgated_bsw), dwhole = at::zeros_like(of.projected_bsw);
    for (size_t r = 0; r < places.size(); ++r) {
        whole.index_copy_(1, places[r], gated[r]);
        dwhole.index_copy_(1, places[r], dprojected[r]);
    }
    return {error_of(whole, truth.gated_bsw), error_of(dwhole, truth.dprojected_bsw),
            weights_error(gradients, before, truth.gradients), *std::max_element(sent.begin(), sent.end())};
}

void expect_sequential(const Example& of) {
    const Truth truth = truth_of(of);
    expect_on_every_mesh(of, in(at::kDouble, of),
                         [&](const Example& example, const Mesh& mesh, RingAttnFunc func) {
                             return errors_over(example, truth, mesh, func);
                         });
}

TEST(DeltaLayer, EqualsTheSequentialRuleOnEveryMesh) {
    expect_sequential(example(176, {}, false));
}

TEST(DeltaLayer, EqualsTheSequentialRuleWithDocumentsAnywhere) {
    // One, two and three tokens are shorter than what the convolution reads; the last positions are padding.
    expect_sequential(example(160, {1, 3, 6, 40, 41, 130, 155}, true));
}

TEST(DeltaLayer, EqualsTheSequentialRuleIfStretchesAreShorterThanTheConvolution) {
    expect_sequential(example(16, {}, true));
    expect_sequential(example(16, {5, 16}, false));
}

TEST(DeltaLayer, EqualsTheSequentialStateSpaceOnEveryMesh) {
    expect_sequential(state_space(176, {}, {.convolution_bias = true}));
    expect_sequential(state_space(176, {}, {.norm_groups = 2, .norm_before_gate = true}));
}

TEST(DeltaLayer, EqualsTheSequentialStateSpaceWithDocumentsAnywhere) {
    expect_sequential(state_space(160, {1, 3, 6, 40, 41, 130, 155},
                                  {.convolution_bias = true,
                                   .norm_groups = 3,
                                   .least_step = 0.05,
                                   .most_step = 0.4,
                                   .gates = 0.7,
                                   .values = 1.3,
                                   .keys = 0.6,
                                   .queries = 1.4,
                                   .steps = 0.8}));
    expect_sequential(state_space(16, {5, 16}, {.norm_groups = 1}));
}

TEST(DeltaLayer, KeepsTheDecaysGradientIfStatesAreSoonForgotten) {
    Example of = example(160, {70, 160}, false);
    of.weights.decay_log_h = at::full({of.sizes.value_heads}, std::log(16.0), at::kFloat);
    of.projected_bsw.slice(2, -of.sizes.value_heads).zero_();  // steps of 0 before the bias
    of.weights.step_bias_h = at::zeros({of.sizes.value_heads}, at::kFloat);
    const Errors errors = errors_over(of, truth_of(of), mesh_of(2, 1), RingAttnFunc::BatchZigzag);
    EXPECT_LT(errors.dweights, 2e-5);
}

TEST(DeltaLayer, SendsAsMuchWhateverTheLength) {
    for (const int64_t tokens : {16, 128}) {
        const Example of = example(tokens, {}, false);
        const int64_t sent = errors_over(of, truth_of(of), mesh_of(2, 1), RingAttnFunc::BatchRing).sent_bytes;
        // Forward and backward each send a map of every head. The convolution's tokens are sent in both, and
        // their gradients in the backward pass.
        const DeltaSizes& s = of.sizes;
        const int64_t maps = 2 * s.value_heads * s.key_width * (s.key_width + s.value_width);
        const int64_t before = 3 * (s.taps - 1) * s.channels();
        EXPECT_EQ(sent, kRows * 4 * (maps + before));
    }
}

TEST(DeltaLayer, SendsOneStateAndDecaysOfAStateSpace) {
    const Example of = state_space(128, {}, {});
    const int64_t sent = errors_over(of, truth_of(of), mesh_of(2, 1), RingAttnFunc::BatchRing).sent_bytes;
    const DeltaSizes& s = of.sizes;
    const int64_t maps = 2 * s.value_heads * s.key_width * (1 + s.value_width);
    EXPECT_EQ(sent, kRows * 4 * (maps + 3 * (s.taps - 1) * s.channels()));
}

TEST(StretchesOf, RefusesPositionsWithGaps) {
    EXPECT_THROW(stretches_of(make_layout(RingAttnFunc::BatchStripe, 8, 2, 1), {}), Error);
}

}  // namespace
}  // namespace ringmaster
