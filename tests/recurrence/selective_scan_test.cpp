#include "engine/recurrence/selective_scan.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>
#include <gtest/gtest.h>
#include <torch/csrc/autograd/autograd.h>

#include <array>
#include <cmath>

#include "engine/recurrence/token_scan.h"
#include "tests/recurrence/meshes.h"
#include "tests/support/ranks.h"

namespace ringmaster {
namespace {

/// The layer reads four inputs per token: channels and gates, steps, keys, and queries.
constexpr int kInputs = 4;
using Inputs = std::array<at::Tensor, kInputs>;

struct Example {
    DeltaSizes sizes;
    Inputs inputs;
    at::Tensor dgated_bse;
    DeltaWeights weights;
    AttentionMask mask;
    int64_t tokens = 0;
};

/// Returns an example with random inputs. The default of 20 channels is not a multiple of the kernels' lanes.
Example example(int64_t tokens, std::vector<int64_t> documents, int64_t channels = 20, bool has_bias = true) {
    at::manual_seed(tokens + channels);
    Example made;
    made.sizes = {.key_heads = 1, .value_heads = channels, .key_width = 5, .value_width = 1, .taps = 4};
    made.sizes.state_space = {.on = true, .step_rank = 3};
    made.tokens = tokens;
    made.mask.documents = std::move(documents);
    const int64_t K = made.sizes.key_width;
    const auto random = [&](int64_t width) { return at::randn({kRows, tokens, width}); };
    made.inputs = {random(2 * channels), random(channels), random(K), random(K)};
    made.dgated_bse = random(channels);
    made.weights.convolution_c1j = at::randn({channels, 1, made.sizes.taps}) * 0.5;
    made.weights.step_bias_h = at::randn({channels}) - 2;
    made.weights.decay_log_h = at::rand({channels, K}) * 3 - 1;
    made.weights.skip_h = at::randn({channels});
    if (has_bias) made.weights.convolution_bias_c = at::randn({channels});
    return made;
}

Example in(at::ScalarType dtype, const Example& of) {
    Example made = of;
    for (at::Tensor& x : made.inputs) x = x.to(dtype, false, true);
    made.dgated_bse = of.dgated_bse.to(dtype);
    made.weights = changed(of.weights, [&](const at::Tensor& x) { return x.to(dtype); });
    return made;
}

/// Computes one document of one row, token by token.
at::Tensor sequential(const DeltaSizes& s, const DeltaWeights& w, const Inputs& in) {
    const int64_t T = in[0].size(0), E = s.values();
    const at::Tensor padded_et = at::constant_pad_nd(in[0].narrow(1, 0, E).t(), {s.taps - 1, 0});
    at::Tensor mixed_et = at::zeros({E, T}, in[0].options());
    for (int64_t j = 0; j < s.taps; ++j)
        mixed_et = mixed_et + w.convolution_c1j.select(2, j) * padded_et.narrow(1, j, T);
    if (w.convolution_bias_c.defined()) mixed_et = mixed_et + w.convolution_bias_c.unsqueeze(1);
    const at::Tensor x_te = at::silu(mixed_et).t();
    const at::Tensor step_te = at::log1p((in[1] + w.step_bias_h).exp());
    at::Tensor state_ek = at::zeros({E, s.key_width}, in[0].options());
    std::vector<at::Tensor> out;
    for (int64_t t = 0; t < T; ++t) {
        state_ek = state_ek * (step_te[t].unsqueeze(1) * -w.decay_log_h.exp()).exp() +
                   (step_te[t] * x_te[t]).unsqueeze(1) * in[2][t];
        out.push_back((state_ek * in[3][t]).sum(1) + w.skip_h * x_te[t]);
    }
    return at::stack(out) * at::silu(in[0].narrow(1, E, E));
}

struct Truth {
    at::Tensor gated_bse;
    Inputs dinputs;
    DeltaWeights gradients;
};

Truth truth_of(const Example& of) {
    const c10::AutoGradMode with_gradients(true);
    const DeltaWeights w = changed(of.weights, leaf);
    Inputs inputs;
    for (size_t i = 0; i < kInputs; ++i) inputs[i] = leaf(of.inputs[i]);
    const at::Tensor gated =
        by_documents(of.mask, of.tokens, of.sizes.values(), [&](int64_t row, const DocumentRange& document) {
            Inputs some;
            for (size_t i = 0; i < kInputs; ++i)
                some[i] = inputs[i][row].narrow(0, document.begin, document.size());
            return sequential(of.sizes, w, some);
        });
    std::vector<at::Tensor> leaves(inputs.begin(), inputs.end());
    changed(w, [&](const at::Tensor& x) { return leaves.emplace_back(x); });
    const auto d = torch::autograd::grad({gated}, leaves, {of.dgated_bse.to(at::kDouble)});
    size_t next = kInputs;
    return {
        gated.detach(), {d[0], d[1], d[2], d[3]}, changed(w, [&](const at::Tensor&) { return d[next++]; })};
}

/// Holds what one rank computes.
struct OfRank {
    at::Tensor places, gated;
    Inputs dinputs;
    DeltaWeights gradients;
    int64_t sent_bytes = 0;
};

void compute(const Example& of, const Layout& layout, int rank, Groups& groups, OfRank& made) {
    made.places = places_of(layout.ranks[static_cast<size_t>(rank)]);
    const OwnStretches stretches(stretches_of(layout, of.mask), rank, made.places.size(0), of.sizes.taps,
                                 at::kCPU);
    const SelectiveScan layer(groups, stretches, of.sizes, of.weights);
    Inputs own;
    for (size_t i = 0; i < kInputs; ++i) own[i] = of.inputs[i].index_select(1, made.places);
    const ScanTensors read{layer.convolved(own[0]), own[1], own[2], own[3]};
    const DeltaOutput output = layer.forward(read);
    made.gated = layer.gated(own[0], output);
    made.gradients = changed(
        of.weights, [&](const at::Tensor& x) { return at::full_like(x, held_before(of.dgated_bse)); });
    const at::Tensor dgated = of.dgated_bse.index_select(1, made.places);
    const ScanTensors d = layer.backward(dgated, own[0], read, output, made.gradients, 0.5);
    layer.convolved_backward(d.channels_bte, own[0], made.gradients, 0.5);
    made.dinputs = {own[0], d.steps_bte, d.keys_btk, d.queries_btk};
    made.sent_bytes = groups.take_totals().sent_bytes;
}

/// Computes the example over the mesh's ranks, and compares with the truth.
Errors errors_over(const Example& of, const Truth& truth, const Mesh& mesh, RingAttnFunc func) {
    const Layout layout = make_layout(func, of.tokens, mesh.ring, mesh.ulysses, of.mask);
    std::vector<OfRank> ranks(size_t(mesh.ranks()));
    run_ranks(mesh, [&](int rank, Groups& groups) {
        compute(of, layout, rank, groups, ranks[static_cast<size_t>(rank)]);
    });
    Errors errors;
    const auto whole = [&](const at::Tensor& like, const auto& part_of) {
        const at::Tensor joined = at::zeros_like(like);
        for (const OfRank& rank : ranks) joined.index_copy_(1, rank.places, part_of(rank).to(at::kDouble));
        return error_of(joined, like);
    };
    errors.gated = whole(truth.gated_bse, [](const OfRank& rank) { return rank.gated; });
    for (size_t i = 0; i < kInputs; ++i)
        errors.dinputs = std::max(
            errors.dinputs, whole(truth.dinputs[i], [&](const OfRank& rank) { return rank.dinputs[i]; }));
    std::vector<DeltaWeights> gradients;
    for (const OfRank& rank : ranks) {
        gradients.push_back(rank.gradients);
        errors.sent_bytes = std::max(errors.sent_bytes, rank.sent_bytes);
    }
    errors.dweights = weights_error(gradients, held_before(of.dgated_bse), truth.gradients);
    return errors;
}

void expect_sequential(const Example& of) {
    const Truth truth = truth_of(of);
    expect_on_every_mesh(of, in(at::kDouble, of),
                         [&](const Example& example, const Mesh& mesh, RingAttnFunc func) {
                             return errors_over(example, truth, mesh, func);
                         });
}

TEST(SelectiveScan, EqualsTheSequentialScanOnEveryMesh) {
    expect_sequential(example(176, {}));
    expect_sequential(example(176, {}, 48, false));
}

TEST(SelectiveScan, EqualsTheSequentialScanWithDocumentsAnywhere) {
    // One, two and three tokens are shorter than what the convolution reads; the last positions are padding.
    expect_sequential(example(160, {1, 3, 6, 40, 41, 130, 155}));
}

TEST(SelectiveScan, EqualsTheSequentialScanIfStretchesAreShorterThanTheConvolution) {
    expect_sequential(example(16, {}, 7));
    expect_sequential(example(16, {5, 16}));
}

TEST(SelectiveScan, KeepsTheRatesGradientIfStatesAreSoonForgotten) {
    Example of = example(160, {70, 160});
    of.weights.decay_log_h = at::full_like(of.weights.decay_log_h, std::log(30.0));
    of.weights.step_bias_h = at::full_like(of.weights.step_bias_h, 2);
    const Errors errors = errors_over(of, truth_of(of), mesh_of(2, 1), RingAttnFunc::BatchZigzag);
    EXPECT_LT(errors.gated, 1e-6);
    EXPECT_LT(errors.dweights, 2e-5);
}

TEST(SelectiveScan, SendsTwoNumbersOfEachStateWhateverTheLength) {
    for (const int64_t tokens : {16, 128}) {
        const Example of = example(tokens, {});
        const int64_t sent = errors_over(of, truth_of(of), mesh_of(2, 1), RingAttnFunc::BatchRing).sent_bytes;
        const DeltaSizes& s = of.sizes;
        const int64_t maps = 2 * s.values() * s.key_width * 2, before = 3 * (s.taps - 1) * s.values();
        EXPECT_EQ(sent, kRows * 4 * (maps + before));
    }
}

/// Returns the gradients of a span that follows other tokens, for a random state before the span and a random
/// gradient of the state after it. Sets the span's outputs, the state after it and the gradient of the state
/// before it.
TokenScan::Gradients computed(const TokenScan& scan, const TokenSpan& span, const at::Tensor& dy_btc,
                              at::Tensor& y_btc, at::Tensor& state, at::Tensor& dstate) {
    at::manual_seed(3);
    const at::Tensor begin = at::randn_like(scan.zero_state()), end = at::randn_like(begin);
    y_btc = at::zeros_like(dy_btc);
    state = begin.clone();
    scan.forward(span, state, y_btc);
    dstate = end.clone();
    scan.state_gradient(span, dy_btc, dstate);
    TokenScan::Gradients d = scan.zero_gradients();
    const at::Tensor again = begin.clone(), dagain = end.clone();
    scan.backward(span, dy_btc, again, dagain, d);
    EXPECT_LT(error_of(dagain, dstate), 1e-13) << "both passes give the gradient of the state before";
    return d;
}

TEST(TokenScan, TheKernelsComputeWhatLibTorchsOperationsDo) {
    for (const int64_t count : {1, 63, 64, 130}) {
        at::manual_seed(count);
        const int64_t B = 2, T = count + 5, C = 32, K = 3;
        const auto random = [](at::IntArrayRef sizes) {
            return at::randn(sizes, at::TensorOptions().dtype(at::kDouble));
        };
        const TokenScan::Inputs in{random({B, T, C}), at::rand_like(random({B, T, C})),
                                   -at::rand_like(random({2, K, 16})) * 4, random({B, T, K}),
                                   random({B, T, K})};
        const at::Tensor dy_btc = random({B, T, C});
        at::Tensor y[2], state[2], dstate[2];
        const TokenScan::Gradients ours =
            computed(TokenScan(in), {3, count}, dy_btc, y[0], state[0], dstate[0]);
        const TokenScan::Gradients theirs =
            computed(TokenScan(in, true), {3, count}, dy_btc, y[1], state[1], dstate[1]);
        EXPECT_LT(error_of(y[0], y[1]), 1e-13) << count;
        EXPECT_LT(error_of(state[0], state[1]), 1e-13) << count;
        EXPECT_LT(error_of(dstate[0], dstate[1]), 1e-13) << count;
        EXPECT_LT(error_of(ours.dx_btc, theirs.dx_btc), 1e-13) << count;
        EXPECT_LT(error_of(ours.dsteps_btc, theirs.dsteps_btc), 1e-13) << count;
        EXPECT_LT(error_of(ours.drates_gkl, theirs.drates_gkl), 1e-13) << count;
        EXPECT_LT(error_of(ours.dkeys_btk, theirs.dkeys_btk), 1e-13) << count;
        EXPECT_LT(error_of(ours.dqueries_btk, theirs.dqueries_btk), 1e-13) << count;
        EXPECT_EQ(y[0].narrow(1, 0, 3).abs().max().item<double>(), 0) << "outside the span";
    }
}

TEST(TokenScan, ResultsDoNotDependOnThreads) {
    const Example of = example(160, {70, 160}, 64);
    const int before = at::get_num_threads();
    Errors with[2];
    for (const int threads : {1, 2}) {
        at::set_num_threads(threads);
        with[threads - 1] = errors_over(of, truth_of(of), mesh_of(1, 1), RingAttnFunc::BatchRing);
    }
    at::set_num_threads(before);
    EXPECT_EQ(with[0].dinputs, with[1].dinputs);
    EXPECT_EQ(with[0].dweights, with[1].dweights);
}

}  // namespace
}  // namespace ringmaster
