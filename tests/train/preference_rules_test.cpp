// Compares the losses of preferences, and the slopes that weigh their labels, with LibTorch's operations and
// its autograd.
#include "engine/train/preference_rules.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>

#include "engine/check/plain_preferences.h"

namespace ringmaster {
namespace {

constexpr int64_t kDocuments = 8;

std::vector<double> numbers(const at::Tensor& values) {
    const at::Tensor flat = values.reshape({-1}).to(at::kDouble).contiguous();
    return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

/// Holds the sums of eight documents, so far from their reference that no term is close to linear.
struct Case {
    at::Tensor sums_d2 = -at::rand({2 * kDocuments, 2}, at::kDouble) * 30 - 1;
    PlainFacts facts{at::randint(2, 32, {kDocuments}, at::kDouble), at::zeros({kDocuments}, at::kDouble),
                     -at::rand({kDocuments}, at::kDouble) * 30,
                     at::tensor({1., 0., 1., 1., 0., 1., 0., 0.}, at::kDouble),
                     -at::rand({kDocuments}, at::kDouble) * 5 - 20};

    explicit Case(const Preference& preference) {
        sums_d2.select(1, 1).zero_();
        if (!preference.has_reference()) facts.reference_d.zero_();
        if (preference.has_pairs()) sums_d2 = sums_d2.narrow(0, 0, kDocuments).clone();
        if (!preference.learns_prompt()) return;
        sums_d2.select(1, 1).slice(0, 0, kDocuments, 2).fill_(-7.5);
        facts.prompt_labels_d.slice(0, 0, kDocuments, 2).fill_(3);
    }

    std::vector<DocumentSums> documents() const {
        std::vector<DocumentSums> found;
        for (int64_t i = 0; i < kDocuments; ++i)
            found.push_back({sums_d2[i][0].item<double>(), sums_d2[i][1].item<double>(),
                             facts.labels_d[i].item<int64_t>(), facts.prompt_labels_d[i].item<int64_t>(),
                             facts.reference_d[i].item<double>(), facts.desirable_d[i].item<double>() == 1});
        return found;
    }
    double kl() const {
        if (sums_d2.size(0) == kDocuments) return 0;
        return (sums_d2.select(1, 0).narrow(0, kDocuments, kDocuments) - facts.mismatched_reference_d)
            .mean()
            .item<double>();
    }
};

void expect_derivatives_of_autograd(const Preference& preference) {
    at::manual_seed(5);
    for (int times = 0; times < 5; ++times) {
        const Case data(preference);
        const PreferenceLoss ours = preference_loss(preference, data.documents(), data.kl());
        const c10::AutoGradMode with_gradients(true);
        const at::Tensor sums_d2 = data.sums_d2.clone().set_requires_grad(true);
        const at::Tensor loss = plain_preference_loss(preference, data.facts, sums_d2);
        at::Tensor slopes_d2 = torch::autograd::grad({loss}, {sums_d2})[0].narrow(0, 0, kDocuments);
        slopes_d2 = slopes_d2.detach().clone();
        slopes_d2.select(1, 1).mul_(data.facts.prompt_labels_d.ne(0));  // no labels: the slope is 0
        EXPECT_NEAR(ours.loss, loss.item<double>(), 1e-9 * std::abs(ours.loss));
        std::vector<double> slopes;
        for (const auto& [completion, prompt] : ours.slopes)
            slopes.insert(slopes.end(), {completion, prompt});
        EXPECT_THAT(slopes, testing::Pointwise(testing::DoubleNear(1e-10), numbers(slopes_d2)));
    }
}

TEST(PreferenceRules, EveryTermOfDpoHasTheDerivativesOfAutograd) {
    for (const PairLoss loss :
         {PairLoss::Sigmoid, PairLoss::Hinge, PairLoss::Ipo, PairLoss::Robust, PairLoss::Sft,
          PairLoss::SigmoidNorm, PairLoss::ExoPair, PairLoss::NcaPair, PairLoss::BcoPair, PairLoss::SppoHard,
          PairLoss::ApoZero, PairLoss::ApoDown}) {
        SCOPED_TRACE(to_string(loss));
        Preference preference{.method = PreferenceMethod::Dpo, .beta = 0.3, .terms = {{loss, 0.7}}};
        preference.label_smoothing = 0.1;
        expect_derivatives_of_autograd(preference);
    }
}

TEST(PreferenceRules, OtherMethodsHaveTheDerivativesOfAutograd) {
    for (const PreferenceMethod method :
         {PreferenceMethod::Orpo, PreferenceMethod::Simpo, PreferenceMethod::Kto}) {
        SCOPED_TRACE(to_string(method));
        Preference preference{.method = method, .beta = 0.4};
        preference.label_smoothing = 0.1;
        preference.cpo_alpha = 0.6;
        preference.desirable_weight = 1.4;
        preference.undesirable_weight = 0.8;
        expect_derivatives_of_autograd(preference);
    }
}

}  // namespace
}  // namespace ringmaster
