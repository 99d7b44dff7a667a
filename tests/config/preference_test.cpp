// `rl` and its keys give the settings that axolotl 0.19 passes to TRL.
#include <gtest/gtest.h>

#include "engine/config/dataset_types.h"
#include "tests/config/reading.h"

namespace ringmaster {
namespace {

Preference preference(const std::string& lines) {
    return read_more(lines).config.preference;
}

/// Returns whether a key is refused; the type of kBase's rows, which hold no answers, does not count.
bool is_refused(const std::string& lines) {
    for (const Diagnostic& said : read_more(lines).diagnostics) {
        if (said.severity == Severity::Error && said.code != "CFG-DATASET-TYPE") return true;
    }
    return false;
}

TEST(Preference, DefaultsAreTrls) {
    EXPECT_FALSE(preference("").on());
    const Preference dpo = preference("rl: dpo\n");
    EXPECT_EQ(dpo.method, PreferenceMethod::Dpo);
    EXPECT_EQ(dpo.beta, 0.1);
    EXPECT_EQ(dpo.terms, (std::vector<PairTerm>{{PairLoss::Sigmoid, 1}}));
    EXPECT_EQ(preference("rl: ipo\n").terms, (std::vector<PairTerm>{{PairLoss::Ipo, 1}}));
    EXPECT_EQ(preference("rl: ipo\n").method, PreferenceMethod::Dpo);
    const Preference simpo = preference("rl: simpo\nsimpo_gamma: 0.7\n");
    EXPECT_EQ(simpo.simpo_gamma, 0.7);
    EXPECT_EQ(simpo.cpo_alpha, 1) << "axolotl leaves TRL's weight of the chosen answers' loss";
    EXPECT_TRUE(said(read_more("rl: simpo\n"), "CFG-PREFERENCE", "simpo_gamma"))
        << "axolotl passes None, and TRL fails";
    EXPECT_EQ(preference("rl: orpo\n").method, PreferenceMethod::Orpo);
}

TEST(Preference, BetaHasFourNamesAndTrlsWins) {
    EXPECT_EQ(preference("rl: orpo\norpo_alpha: 0.3\n").beta, 0.3);
    EXPECT_EQ(preference("rl: dpo\norpo_alpha: 0.3\ndpo_beta: 0.4\n").beta, 0.4);
    EXPECT_EQ(preference("rl: dpo\nrl_beta: 0.5\ndpo_beta: 0.4\n").beta, 0.5);
    EXPECT_EQ(preference("rl: kto\nrl_beta: 0.5\ntrl: {beta: 0.6}\n").beta, 0.6);
    EXPECT_TRUE(said(read_more("rl: dpo\ndpo_beta: 0.4\n"), "CFG-DEPRECATED", "dpo_beta"));
}

TEST(Preference, LossesAreAddedWithTheirWeights) {
    EXPECT_EQ(preference("rl: dpo\ndpo_loss_type: [hinge, sft]\ndpo_loss_weights: [0.8, 0.2]\n").terms,
              (std::vector<PairTerm>{{PairLoss::Hinge, 0.8}, {PairLoss::Sft, 0.2}}));
    EXPECT_EQ(preference("rl: dpo\nrpo_alpha: 0.5\n").terms,
              (std::vector<PairTerm>{{PairLoss::Sigmoid, 1}, {PairLoss::Sft, 0.5}}));
    for (const char* wrong :
         {"dpo_loss_type: [discopop]", "dpo_loss_type: [nothing]", "dpo_loss_type: sigmoid",
          "dpo_loss_weights: [1, 2]", "dpo_loss_type: [exo_pair]",
          "dpo_loss_type: [robust]\ndpo_label_smoothing: 0.5", "dpo_use_weighting: true"}) {
        EXPECT_TRUE(is_refused(std::string("rl: dpo\n") + wrong + '\n')) << wrong;
    }
    EXPECT_FALSE(is_refused("rl: dpo\ndpo_loss_type: [robust, sft]\ndpo_label_smoothing: 0.4\n"));
    EXPECT_TRUE(said(read_more("rl: kto\ndpo_loss_type: [hinge]\n"), "CFG-PREFERENCE", "dpo_loss_type"));
    EXPECT_TRUE(
        said(read_more("rl: dpo\ndpo_label_smoothing: 0.1\n"), "CFG-PREFERENCE", "dpo_label_smoothing"))
        << "TRL 1.16 reads it for robust and exo_pair only";
}

TEST(Preference, ZeroIsNoWeightOfKto) {
    const Preference kto = preference("rl: kto\nkto_desirable_weight: 0.2\nkto_undesirable_weight: 0\n");
    EXPECT_EQ(kto.desirable_weight, 0.2);
    EXPECT_EQ(kto.undesirable_weight, 1) << "axolotl passes `kto_undesirable_weight or 1.0`";
}

TEST(Preference, KtoKeepsTheMergedOrder) {
    const Config kto = read_more("rl: kto\n").config,
                 unshuffled = read_more("rl: kto\ncurriculum_sampling: true\n").config;
    EXPECT_TRUE(kto.curriculum_sampling) << "TRL's KTOConfig has train_sampling_strategy sequential";
    EXPECT_FALSE(kto.tokenization.contains("shuffle_merged_datasets")) << "axolotl shuffles what it merges";
    EXPECT_EQ(unshuffled.tokenization["shuffle_merged_datasets"], false);
    EXPECT_FALSE(read_more("rl: dpo\n").config.curriculum_sampling);
}

TEST(Preference, MethodsThatSampleAreRefused) {
    for (const char* word : {"grpo\ntrl: {reward_funcs: [rewards.length]}", "gdpo", "ebft"}) {
        const ConfigReading reading = read_more(std::string("rl: ") + word + '\n');
        EXPECT_TRUE(said(reading, "CFG-PREFERENCE", "rl")) << word;
        EXPECT_FALSE(reading.config.preference.on());
    }
    EXPECT_TRUE(said(read_more("rl: dop\n"), "CFG-VALUE", "rl"));
}

TEST(Policy, DefaultsAreTrlsAndTheFileReplacesThem) {
    const auto policy = [](const std::string& lines) {
        return read_more("rl: grpo\n" + lines).config.policy.value();
    };
    EXPECT_FALSE(read_more("rl: dpo\n").config.policy);
    const PolicyRule plain = policy("");
    EXPECT_EQ(plain.loss, PolicyLoss::Dapo);
    EXPECT_EQ(plain.beta, 0);
    EXPECT_EQ(plain.epsilon_high, 0.2);
    EXPECT_FALSE(plain.by_sequence);
    const PolicyRule gspo = policy(
        "trl: {loss_type: grpo, importance_sampling_level: sequence, epsilon: 0.1, beta: 0.04, "
        "temperature: 0.9}\n");
    EXPECT_EQ(gspo.loss, PolicyLoss::Grpo);
    EXPECT_TRUE(gspo.by_sequence);
    EXPECT_EQ(gspo.epsilon_low, 0.1);
    EXPECT_EQ(gspo.epsilon_high, 0.1) << "in TRL it follows epsilon";
    EXPECT_EQ(gspo.beta, 0.04);
    EXPECT_EQ(gspo.temperature, 0.9);
    EXPECT_EQ(policy("trl: {loss_type: dr_grpo, max_completion_length: 64}\n").answer_tokens, 64);
}

TEST(Policy, WhatWouldChangeTheUpdateIsRefused) {
    for (const std::string key : {"entropy_coef", "sync_ref_model", "num_iterations"})
        EXPECT_TRUE(said(read_more("rl: grpo\ntrl: {" + key + ": 2}\n"), "CFG-PREFERENCE", "trl." + key))
            << key;
    EXPECT_TRUE(is_refused("rl: grpo\ntrl: {use_bias_correction_kl: false}\n"));
    EXPECT_TRUE(said(read_more("rl: grpo\nval_set_size: 2\n"), "CFG-PREFERENCE", "val_set_size"));
    EXPECT_TRUE(said(read_more("rl: grpo\ntrl: {loss_type: bnpo}\n"), "CFG-VALUE", "trl.loss_type"));
    EXPECT_TRUE(said(read_more("rl: grpo\ntrl: {loss_type: dr_grpo}\n"), "CFG-PREFERENCE",
                     "trl.max_completion_length"));
    EXPECT_FALSE(is_refused("rl: grpo\ntrl: {num_generations: 8, num_iterations: 1}\n"));
}

TEST(Preference, DropoutIsOffAndLengthsDoNotOrder) {
    const ConfigReading reading = read_more(
        "rl: dpo\nadapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_modules: [q_proj]\nlora_dropout: "
        "0.2\n"
        "group_by_length: true\n");
    EXPECT_EQ(reading.config.lora.dropout, 0) << "TRL's disable_dropout";
    EXPECT_FALSE(reading.config.group_by_length);
    EXPECT_TRUE(said(reading, "CFG-PREFERENCE", "lora_dropout"));
    EXPECT_TRUE(said(reading, "CFG-PREFERENCE", "group_by_length"));
}

TEST(Preference, TypesOfRowsBelongToTheMethod) {
    const auto fault = [](const std::string& rl, const std::string& type) {
        return said(read_more("rl: " + rl + "\ndatasets: [{path: owner/one, type: " + type + "}]\n"),
                    "CFG-DATASET-TYPE", "datasets.0.type") != nullptr;
    };
    for (const char* type :
         {"chatml", "llama3.ultra", "chat_template.default", "zephyr.nectar", "passthrough"})
        EXPECT_FALSE(fault("dpo", type)) << type;
    EXPECT_FALSE(fault("kto", "llama3.ultra"));
    EXPECT_FALSE(fault("orpo", "chat_template.argilla"));
    EXPECT_TRUE(fault("kto", "chatml"));
    EXPECT_TRUE(fault("orpo", "chatml.ultra"));
    EXPECT_TRUE(fault("dpo", "alpaca"));
    EXPECT_FALSE(has_error(
        read_more("rl: kto\ndatasets: [{path: owner/one, type: {field_completion: a, prompt_format: b}}]\n")
            .diagnostics));
    EXPECT_TRUE(said(read_more("rl: dpo\ndatasets: [{path: owner/one, type: {field_completion: a}}]\n"),
                     "KEY-UNKNOWN", "datasets.0.type.field_completion"));
}

}  // namespace
}  // namespace ringmaster
