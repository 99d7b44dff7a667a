#include "engine/model/expert_ops.h"

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include "engine/model/ops.h"
#include "tests/model/gates.h"

namespace ringmaster {
namespace {

constexpr int64_t kTokens = 53, kHidden = 24, kExperts = 6, kWidth = 20, kPerToken = 2;

struct Mixture {
    at::Tensor x_nc, router_ec, gate_up_exc, down_eci, dy_nc;
};

Mixture random_mixture(at::ScalarType dtype) {
    at::manual_seed(5);
    const auto made = [&](at::IntArrayRef shape) { return at::randn(shape).to(dtype); };
    return {made({kTokens, kHidden}), made({kExperts, kHidden}), made({kExperts, 2 * kWidth, kHidden}),
            made({kExperts, kHidden, kWidth}), made({kTokens, kHidden})};
}

/// Computes every expert for every token: y = Σ_e G(x)_e · E_e(x), where G(x) is the softmax over all
/// experts, set to zero for experts that are not chosen. If `norms` is set, the remaining weights are
/// normalised. Source: Jiang et al. 2024, "Mixtral of Experts", section 2.1.
at::Tensor textbook(const Mixture& m, bool norms, const at::Tensor& chosen_nk) {
    const at::Tensor probabilities = at::softmax(at::matmul(m.x_nc, m.router_ec.t()), 1);
    at::Tensor gates = probabilities * at::zeros_like(probabilities).scatter(1, chosen_nk, 1);
    if (norms) gates = gates / gates.sum(1, true);
    at::Tensor y = at::zeros_like(m.x_nc);
    for (int64_t expert = 0; expert < kExperts; ++expert) {
        const at::Tensor both = at::matmul(m.x_nc, m.gate_up_exc[expert].t());
        const at::Tensor act = at::silu(both.narrow(1, 0, kWidth)) * both.narrow(1, kWidth, kWidth);
        y = y + gates.narrow(1, expert, 1) * at::matmul(act, m.down_eci[expert].t());
    }
    return y;
}

struct Learned {
    at::Tensor y_nc, dx_nc;
    Mixture gradients;
};

Routing routed(const Mixture& m, bool norms) {
    return route(m.x_nc, m.router_ec, norms,
                 [](const ExpertRanks& ranks) { return best_experts(ranks, kPerToken); });
}

/// Computes the mixture and its gradients with a layer's operations.
Learned computed(const Mixture& m, bool norms, double beta, const at::Tensor& before) {
    const Routing routing = routed(m, norms);
    at::Tensor gate_up = grouped_linear(expert_rows(m.x_nc, routing), m.gate_up_exc, routing);
    Learned made;
    made.y_nc = combine(grouped_linear(gate(gate_up), m.down_eci, routing), routing, true);
    const auto start = [&](const at::Tensor& weight) { return at::full_like(weight, before.item()); };
    made.gradients = {{}, start(m.router_ec), start(m.gate_up_exc), start(m.down_eci), {}};
    const at::Tensor dy_mc = expert_rows(m.dy_nc, routing);
    const at::Tensor dact = grouped_product(dy_mc, m.down_eci, routing);
    const auto [act, dweights] = weighed_gate_backward(gate_up, dact, row_weights(routing));
    accumulate_grouped_gradient(made.gradients.down_eci, dy_mc, act, routing, beta);
    accumulate_grouped_gradient(made.gradients.gate_up_exc, gate_up, expert_rows(m.x_nc, routing), routing,
                                beta);
    made.dx_nc = combine(grouped_product(gate_up, m.gate_up_exc, routing), routing, false);
    const at::Tensor dlogits = router_backward(routing, dweights, norms).to(m.x_nc.scalar_type());
    accumulate_weight_gradient(made.gradients.router_ec, dlogits, m.x_nc, beta);
    add_product(made.dx_nc, dlogits, m.router_ec);
    return made;
}

double worst(const at::Tensor& ours, const at::Tensor& truth) {
    return (ours.to(at::kDouble) - truth).abs().max().item<double>() / truth.abs().max().item<double>();
}

class ExpertOps : public ::testing::TestWithParam<std::tuple<at::ScalarType, bool>> {};

INSTANTIATE_TEST_SUITE_P(Dtypes, ExpertOps,
                         ::testing::Combine(::testing::Values(at::kFloat, at::kBFloat16), ::testing::Bool()));

TEST_P(ExpertOps, AMixtureAndItsGradientsAreTheTextbooks) {
    const auto [dtype, norms] = GetParam();
    const double bound = dtype == at::kFloat ? 1e-5 : 4e-2;
    const Mixture m = random_mixture(dtype);
    const auto leaf = [](const at::Tensor& x) { return x.to(at::kDouble).requires_grad_(true); };
    const Mixture wide{leaf(m.x_nc), leaf(m.router_ec), leaf(m.gate_up_exc), leaf(m.down_eci), {}};
    const at::Tensor chosen = routed(m, norms).chosen_nk;
    const at::Tensor y = textbook(wide, norms, chosen);
    y.backward(m.dy_nc.to(at::kDouble));
    for (const double beta : {0.0, 1.0}) {
        const Learned ours = computed(m, norms, beta, at::scalar_tensor(beta == 0 ? NAN : 0.5));
        EXPECT_LT(worst(ours.y_nc, y.detach()), bound);
        EXPECT_LT(worst(ours.dx_nc, wide.x_nc.grad()), bound);
        const double before = beta == 0 ? 0 : 0.5;
        EXPECT_LT(worst(ours.gradients.router_ec - before, wide.router_ec.grad()), bound);
        EXPECT_LT(worst(ours.gradients.gate_up_exc - before, wide.gate_up_exc.grad()), bound);
        EXPECT_LT(worst(ours.gradients.down_eci - before, wide.down_eci.grad()), bound);
    }
}

TEST(ExpertOps, WeighedGatesAndTheirGradientsAreAutograds) {
    at::manual_seed(7);
    for (const auto& [width, rule] : gate_cases()) {
        const at::Tensor gate_up = at::randn({70, (rule.gated ? 2 : 1) * width}),
                         dact = at::randn({70, width}), weights = at::rand({70, 1});
        const auto leaf = [](const at::Tensor& x) { return x.to(at::kDouble).requires_grad_(true); };
        const at::Tensor wide = leaf(gate_up), factors = leaf(weights);
        const at::Tensor truth = gate_by_autograd(wide, rule) * factors;
        truth.backward(dact.to(at::kDouble));
        const auto [act, dweights] = weighed_gate_backward(gate_up, dact.clone(), weights, rule);
        EXPECT_LT(worst(act, truth.detach()), 1e-5);
        EXPECT_LT(worst(gate_up, wide.grad()), 1e-5);
        EXPECT_LT(worst(dweights, factors.grad().squeeze(1)), 1e-5);
    }
}

TEST(ExpertOps, RowsOfAnyWidthAreAddedUp) {
    const Routing routing = routed(random_mixture(at::kFloat), true);
    for (const int64_t width : {1, 255, 256, 257, 600}) {
        const at::Tensor y = at::randn({kTokens * kPerToken, width}), wide = y.to(at::kDouble);
        const at::Tensor rows = wide.index({routing.rows_nk});
        EXPECT_LT(worst(combine(y, routing, false), rows.sum(1)), 1e-6);
        EXPECT_LT(worst(combine(y, routing, true), (rows * routing.weights_nk.unsqueeze(2)).sum(1)), 1e-6);
    }
}

TEST(ExpertOps, TheMostProbableExpertsAreChosenAndAGivenChoiceIsKept) {
    const Mixture m = random_mixture(at::kFloat);
    const Routing free = routed(m, true);
    const at::Tensor logits = at::matmul(m.x_nc, m.router_ec.t());
    const at::Tensor least = logits.gather(1, free.chosen_nk).amin(1, true);
    EXPECT_TRUE(logits.ge(least).sum(1).eq(kPerToken).all().item<bool>());
    EXPECT_LT((free.weights_nk.sum(1) - 1).abs().max().item<double>(), 1e-6);
    const at::Tensor other = free.chosen_nk.add(1).remainder(kExperts);
    EXPECT_TRUE(at::equal(route(m.x_nc, m.router_ec, true, [&](auto&&) { return other; }).chosen_nk, other));
}

TEST(ExpertOps, ExpertsWithoutTokensGetGradientsOfZero) {
    const Mixture m = random_mixture(at::kFloat);
    const at::Tensor all_of_two = at::tensor({1, 4}).expand({kTokens, kPerToken}).contiguous();
    const Routing routing = route(m.x_nc, m.router_ec, false, [&](auto&&) { return all_of_two; });
    at::Tensor gradient = at::full_like(m.down_eci, NAN);
    accumulate_grouped_gradient(gradient, expert_rows(m.dy_nc, routing),
                                at::ones({kTokens * kPerToken, kWidth}), routing, 0);
    EXPECT_TRUE(gradient.isfinite().all().item<bool>());
    for (const int64_t expert : {0, 2, 3, 5}) EXPECT_TRUE(gradient[expert].eq(0).all().item<bool>());
}

/// Returns a routing whose experts get no rows, a few rows, or slightly more rows than a multiple of 32.
Routing uneven() {
    Routing routing;
    routing.begins = {0, 5, 70, 70, 134, 203, 240};
    return routing;
}

TEST(ExpertOps, ProductsOfAnyNumberOfRowsAreThoseOfTheirExpert) {
    const Routing routing = uneven();
    const int64_t rows = routing.begins.back();
    for (const auto& [outputs, inputs] : {std::pair<int64_t, int64_t>{40, 24}, {24, 40}}) {
        at::manual_seed(3);
        const at::Tensor x = at::randn({rows, inputs}).to(at::kBFloat16);
        const at::Tensor dy = at::randn({rows, outputs}).to(at::kBFloat16);
        const at::Tensor weight = at::randn({kExperts, outputs, inputs}).to(at::kBFloat16);
        const at::Tensor y = grouped_linear(x, weight, routing), dx = grouped_product(dy, weight, routing);
        at::Tensor gradient = at::full_like(weight, NAN), added = at::ones_like(weight);
        accumulate_grouped_gradient(gradient, dy, x, routing, 0);
        accumulate_grouped_gradient(added, dy, x, routing, 1);
        for_experts(routing, [&](int64_t expert, int64_t begin, int64_t count) {
            const auto of = [&](const at::Tensor& all) {
                return all.narrow(0, begin, count).to(at::kDouble);
            };
            const at::Tensor w = weight[expert].to(at::kDouble), sum = at::matmul(of(dy).t(), of(x));
            EXPECT_LT(worst(of(y), at::matmul(of(x), w.t())), 0.005);
            EXPECT_LT(worst(of(dx), at::matmul(of(dy), w)), 0.005);
            EXPECT_LT(worst(gradient[expert], sum), 0.005);
            EXPECT_LT(worst(added[expert], sum + 1), 0.01);
        });
        EXPECT_TRUE(gradient[2].eq(0).all().item<bool>());
    }
}

}  // namespace
}  // namespace ringmaster
