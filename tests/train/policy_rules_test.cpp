// Compares the losses of rollouts, and the slopes that weigh their labels, with LibTorch's operations and
// autograd. The expected clipping follows the cases in the papers.
#include "engine/train/policy_rules.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <torch/csrc/autograd/autograd.h>

#include "engine/check/plain_policy.h"

namespace ringmaster {
namespace {

constexpr int64_t kLabels[] = {3, 7, 1, 5};  // number of labels of each document

/// Holds the labels of documents with advantages of both signs and ratios on both sides of the clip.
struct Case {
    at::Tensor log_p_l = -at::rand({16}, at::kDouble) * 5 - 1;
    PlainRollouts rollouts{{},
                           at::tensor({1.5, -0.7, 0.4, -2.0}, at::kDouble),
                           log_p_l + 0.8 * at::rand({16}, at::kDouble) - 0.4,
                           log_p_l + 0.8 * at::rand({16}, at::kDouble) - 0.4};

    Case() {
        std::vector<int64_t> documents;
        for (int64_t d = 0; d < 4; ++d) documents.insert(documents.end(), static_cast<size_t>(kLabels[d]), d);
        rollouts.document_l = at::tensor(documents, at::kLong);
    }

    std::vector<RolloutSums> documents() const {
        std::vector<RolloutSums> found;
        int64_t label = 0;
        for (int64_t d = 0; d < 4; ++d) {
            RolloutSums& document = found.emplace_back();
            document.advantage = rollouts.advantage_d[d].item<double>();
            for (int64_t i = 0; i < kLabels[d]; ++i, ++label) {
                document.log_p.push_back(log_p_l[label].item<double>());
                document.old_log_p.push_back(rollouts.old_l[label].item<double>());
                document.reference.push_back(rollouts.reference_l[label].item<double>());
            }
        }
        return found;
    }
};

/// Returns TRL's clip_ratio/region_mean (trainer/grpo_trainer.py, _compute_loss), over labels or whole
/// sequences.
double clip_ratio(const PolicyRule& rule, const Case& made) {
    const at::Tensor by_label_l = made.log_p_l - made.rollouts.old_l;
    at::Tensor log_ratio = by_label_l,
               advantage = made.rollouts.advantage_d.index({made.rollouts.document_l});
    if (rule.by_sequence) {
        log_ratio = at::zeros({4}, at::kDouble).index_add(0, made.rollouts.document_l, by_label_l) /
                    at::tensor({3.0, 7.0, 1.0, 5.0}, at::kDouble);
        advantage = made.rollouts.advantage_d;
    }
    const at::Tensor ratio = log_ratio.exp();
    const at::Tensor low = (ratio < 1 - rule.epsilon_low).logical_and(advantage < 0),
                     high = (ratio > 1 + rule.epsilon_high).logical_and(advantage > 0);
    return low.logical_or(high).to(at::kDouble).mean().item<double>();
}

TEST(PolicyRules, LossesAndSlopesAreThoseOfAutograd) {
    at::manual_seed(4);
    for (const PolicyLoss loss : {PolicyLoss::Grpo, PolicyLoss::Dapo, PolicyLoss::DrGrpo}) {
        for (const bool by_sequence : {false, true}) {
            for (const double beta : {0.0, 0.3}) {
                const PolicyRule rule{loss, by_sequence, 0.1, 0.15, beta, 12, 1};
                const Case made;
                const PreferenceLoss own = policy_loss(rule, made.documents());
                const at::Tensor log_p_l = made.log_p_l.clone().set_requires_grad(true);
                const at::Tensor plain = plain_policy_loss(rule, made.rollouts, log_p_l);
                const at::Tensor slopes_l = torch::autograd::grad({plain}, {log_p_l})[0];
                EXPECT_NEAR(own.loss, plain.item<double>(), 1e-12);
                for (size_t i = 0; i < 16; ++i)
                    EXPECT_NEAR(own.slopes[i].completion, slopes_l[static_cast<int64_t>(i)].item<double>(),
                                1e-12);
                EXPECT_EQ(own.figures.kl.has_value(), beta != 0);
                EXPECT_DOUBLE_EQ(*own.figures.clip_share, clip_ratio(rule, made));
            }
        }
    }
}

/// Returns the factors as TRL 1.16 computes them from the labels' differences (grpo_trainer.py:2660).
at::Tensor trl_factors(ImportanceRatio ratio, double cap, const at::Tensor& difference_l,
                       const at::Tensor& document_l) {
    using enum ImportanceRatio;
    const bool of_sequence = ratio == SequenceMask || ratio == SequenceTruncate;
    at::Tensor ratio_l = difference_l;
    if (of_sequence)
        ratio_l =
            at::zeros({4}, at::kDouble).index_add(0, document_l, difference_l).index_select(0, document_l);
    ratio_l = ratio_l.exp();
    if (ratio == TokenTruncate || ratio == SequenceTruncate) return at::clamp_max(ratio_l, cap);
    return ratio_l.masked_fill(ratio_l > cap, 0);
}

TEST(PolicyRules, AnotherSamplersLogProbabilitiesWeighTheLossAsInTrl) {
    using enum ImportanceRatio;
    at::manual_seed(6);
    for (const ImportanceRatio ratio : {TokenTruncate, TokenMask, SequenceTruncate, SequenceMask}) {
        for (const bool by_sequence : {false, true}) {
            const PolicyRule rule{PolicyLoss::Grpo, by_sequence, 0.1, 0.15, 0.3, 12, 1};
            RolloutServer server;
            server.ratio = ratio;
            server.cap = 1.3;
            Case made;
            // The server's probabilities are lower for the tokens of every other document, so that sums
            // exceed the cap too.
            const at::Tensor sampled_l = made.log_p_l + 1.2 * at::rand({16}, at::kDouble) - 0.4 -
                                         0.4 * made.rollouts.document_l.remainder(2);
            made.rollouts.factor_l =
                trl_factors(ratio, server.cap, made.log_p_l - sampled_l, made.rollouts.document_l);
            std::vector<RolloutSums> documents = made.documents();
            int64_t label = 0;
            size_t changed = 0;
            for (RolloutSums& document : documents) {
                std::vector<double> sampled;
                for (size_t i = 0; i < document.log_p.size(); ++i)
                    sampled.push_back(sampled_l[label++].item<double>());
                document.factors = importance_factors(server, document.log_p, sampled);
                for (size_t i = 0; i < sampled.size(); ++i) {
                    const double plain =
                        made.rollouts.factor_l[label - static_cast<int64_t>(sampled.size() - i)]
                            .item<double>();
                    EXPECT_NEAR(document.factors[i], plain, 1e-12);
                    changed += plain == 0 || plain == server.cap;
                }
            }
            EXPECT_GT(changed, 0U) << "the cap counts";
            EXPECT_LT(changed, 16U);
            const PreferenceLoss own = policy_loss(rule, documents);
            const at::Tensor log_p_l = made.log_p_l.clone().set_requires_grad(true);
            const at::Tensor plain = plain_policy_loss(rule, made.rollouts, log_p_l);
            const at::Tensor slopes_l = torch::autograd::grad({plain}, {log_p_l})[0];
            EXPECT_NEAR(own.loss, plain.item<double>(), 1e-12);
            for (size_t i = 0; i < 16; ++i)
                EXPECT_NEAR(own.slopes[i].completion, slopes_l[static_cast<int64_t>(i)].item<double>(), 1e-12)
                    << to_string(ratio) << " " << by_sequence << " " << i;
        }
    }
}

TEST(PolicyRules, TheClipStopsWhatItsSideWouldStillGain) {
    PolicyRule rule;
    rule.epsilon_low = 0.5;
    rule.epsilon_high = 0.5;
    const double twice = std::log(2.0), third = -std::log(3.0);
    const auto slope = [&](double log_ratio, double advantage) {
        return policy_loss(rule, {{advantage, {log_ratio}, {0}, {}}}).slopes.at(0).completion;
    };
    EXPECT_EQ(slope(twice, 1), 0) << "likely enough already";
    EXPECT_DOUBLE_EQ(slope(twice, -1), 2) << "a bad answer that became likelier is always learned";
    EXPECT_EQ(slope(third, -1), 0);
    EXPECT_DOUBLE_EQ(slope(third, 1), -1.0 / 3);
    EXPECT_DOUBLE_EQ(slope(0, 1), -1);
}

TEST(PolicyRules, MeansAreOverAnswersLabelsOrAFixedLength) {
    // There are two answers, of 1 and 3 labels, each with the ratio 1 and the advantage 1.
    const std::vector<RolloutSums> documents = {
        {1, {-1}, {-1}, {}}, {1, {-1, -2, -3}, {-1, -2, -3}, {}}, {1, {}, {}, {}}};
    const auto loss = [&](PolicyLoss kind) {
        PolicyRule rule;
        rule.loss = kind;
        rule.answer_tokens = 10;
        return policy_loss(rule, documents).loss;
    };
    EXPECT_DOUBLE_EQ(loss(PolicyLoss::Grpo), -2.0 / 3) << "an answer without labels counts";
    EXPECT_DOUBLE_EQ(loss(PolicyLoss::Dapo), -1);
    EXPECT_DOUBLE_EQ(loss(PolicyLoss::DrGrpo), -4.0 / 30);
}

}  // namespace
}  // namespace ringmaster
