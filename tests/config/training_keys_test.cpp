// Tests the training keys beyond the schedule: an optimizer's options, learning rates of some parameters, and
// how a run ends.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "engine/config/edit.h"
#include "engine/config/noise.h"
#include "engine/config/optimizer_arguments.h"
#include "tests/config/reading.h"

namespace ringmaster {
namespace {

const Diagnostic* found(const ConfigReading& reading, const std::string& code, const std::string& key) {
    const auto it = std::find_if(reading.diagnostics.begin(), reading.diagnostics.end(),
                                 [&](const Diagnostic& d) { return d.code == code && d.key == key; });
    return it == reading.diagnostics.end() ? nullptr : &*it;
}

bool has_error(const ConfigReading& reading) {
    return std::any_of(reading.diagnostics.begin(), reading.diagnostics.end(),
                       [](const Diagnostic& d) { return d.severity == Severity::Error; });
}

TEST(TrainingKeys, OptimArgsAreReadAsAMappingAndAsAText) {
    for (const char* said :
         {"optim_args: {momentum: 0.9, nesterov: true}\n", "optim_args: momentum=0.9, nesterov=True\n"}) {
        const ConfigReading reading = read(std::string(kBase) + "optimizer: sgd\n" + said);
        EXPECT_FALSE(has_error(reading)) << said;
        EXPECT_EQ(optimizer_argument(reading.config, "momentum"), 0.9);
        EXPECT_EQ(optimizer_argument(reading.config, "nesterov"), 1);
        EXPECT_EQ(optimizer_argument(reading.config, "dampening"), 0);
    }
}

TEST(TrainingKeys, DefaultsAreThoseOfTheOptimizersLibrary) {
    EXPECT_EQ(read(std::string(kBase) + "optimizer: muon\n").config.adam_beta1, 0.95);
    EXPECT_EQ(
        read(std::string(kBase) + "optimizer: muon\nadam_beta2: 0.9\nadam_beta1: 0.8\n").config.adam_beta1,
        0.8);
    EXPECT_EQ(read(std::string(kBase) + "optimizer: came_pytorch\n").config.adam_epsilon, 1e-30);
    const Config came = read(std::string(kBase) + "optimizer: came_pytorch\nadam_beta3: 0.99\n").config;
    EXPECT_EQ(optimizer_argument(came, "beta3"), 0.99);
    EXPECT_EQ(read(std::string(kBase) + "optimizer: ademamix\noptim_args: {beta1: 0.8}\n").config.adam_beta1,
              0.8);
}

struct Case {
    const char* text;
    const char* code;
    const char* key;
    bool is_error;

    friend std::ostream& operator<<(std::ostream& to, const Case& of) { return to << of.text; }
};

class TrainingMistakes : public testing::TestWithParam<Case> {};

TEST_P(TrainingMistakes, AreFoundAndTheirFixWorks) {
    const std::string text = std::string(kBase) + GetParam().text;
    const ConfigReading reading = read(text);
    const Diagnostic* finding = found(reading, GetParam().code, GetParam().key);
    ASSERT_NE(finding, nullptr) << text;
    EXPECT_EQ(finding->severity == Severity::Error, GetParam().is_error) << text;
    for (const Fix& fix : finding->fixes) {
        const ConfigReading fixed = read(apply_fix(text, fix));
        EXPECT_FALSE(has_error(fixed)) << apply_fix(text, fix);
        EXPECT_EQ(found(fixed, GetParam().code, GetParam().key), nullptr) << apply_fix(text, fix);
    }
}

INSTANTIATE_TEST_SUITE_P(
    All, TrainingMistakes,
    testing::Values(
        Case{"optimizer: sgd\noptim_args: {nesterov: true}\n", "CFG-OPTIMIZER", "optim_args", true},
        Case{"optimizer: sgd\noptim_args: {speed: 3}\n", "KEY-UNSUPPORTED", "optim_args", true},
        Case{"optimizer: sgd\noptim_args: {momentum: fast}\n", "CFG-RANGE", "optim_args", true},
        Case{"optimizer: sgd\noptim_args: [1]\n", "CFG-TYPE", "optim_args", true},
        Case{"optimizer: adamw_bnb_8bit\noptim_args: {eps: 1e-6}\n", "CFG-OPTIMIZER", "optim_args", false},
        Case{"optimizer: adamw_torch_8bit\noptim_args: {block_size: 128}\n", "KEY-UNSUPPORTED", "optim_args",
             true},
        Case{"adam_beta3: 0.9\n", "CFG-OPTIMIZER", "adam_beta3", false},
        Case{"embedding_lr: 0.1\nlr_scheduler: rex\n", "CFG-OPTIMIZER", "embedding_lr", true},
        Case{"embedding_lr: 0.1\noptimizer: muon\n", "CFG-OPTIMIZER", "embedding_lr", false},
        Case{"lr_groups: [{name: a, modules: [q_proj]}]\n", "CFG-TYPE", "lr_groups.0", true},
        Case{"lr_groups: [{name: a, modules: [q_proj], lr: 0.1}]\nloraplus_lr_ratio: 2\n", "CFG-OPTIMIZER",
             "lr_groups", true},
        Case{"loraplus_lr_ratio: 2\nweight_decay: 0.1\n", "CFG-OPTIMIZER", "weight_decay", false},
        Case{"unfrozen_parameters: ['(']\n", "CFG-VALUE", "unfrozen_parameters", true},
        Case{"early_stopping_patience: 2\nsave_steps: 4\neval_steps: 2\n", "CFG-OPTIMIZER",
             "early_stopping_patience", true},
        Case{"early_stopping_patience: 2\nval_set_size: 0.1\nsave_steps: 3\neval_steps: 2\n", "CFG-OPTIMIZER",
             "early_stopping_patience", true},
        Case{"load_best_model_at_end: true\n", "CFG-OPTIMIZER", "load_best_model_at_end", false},
        Case{"metric_for_best_model: eval_accuracy\nval_set_size: 0.1\n", "CFG-OPTIMIZER",
             "metric_for_best_model", true},
        Case{"metric_for_best_model: eval_ppl\ngreater_is_better: true\nval_set_size: 0.1\nsave_steps: 4\n"
             "eval_steps: 2\nload_best_model_at_end: true\n",
             "CFG-OPTIMIZER", "metric_for_best_model", true},
        Case{"greater_is_better: true\nval_set_size: 0.1\nsave_steps: 4\neval_steps: 2\n"
             "load_best_model_at_end: true\n",
             "CFG-OPTIMIZER", "greater_is_better", true},
        Case{"noisy_embedding_alpha: 5\n", "CFG-DEPRECATED", "noisy_embedding_alpha", false},
        Case{"noisy_embedding_alpha: 5\nneftune_noise_alpha: 5\n", "CFG-CONFLICT", "noisy_embedding_alpha",
             true},
        Case{"neftune_noise_alpha: -1\n", "CFG-RANGE", "neftune_noise_alpha", true},
        Case{"group_by_length: true\nsample_packing: true\n", "CFG-OPTIMIZER", "group_by_length", false},
        Case{"tokenizer_use_mistral_common: true\nspecial_tokens: {pad_token: a}\n", "CFG-CONFLICT",
             "special_tokens", true},
        Case{"tokenizer_use_mistral_common: true\nchat_template: chatml\n", "CFG-CONFLICT", "chat_template",
             true},
        Case{"tokenizer_config: owner/Magistral-2\ntokens: [a]\n", "CFG-CONFLICT", "tokens", true},
        Case{"tokenizer_config: owner/Magistral-2\n", "CFG-VALUE", "base_model", false},
        Case{"tokenizer_use_mistral_common: true\neot_tokens: [a]\n", "CFG-CONFLICT", "eot_tokens", false}));

TEST(TrainingKeys, UnslothsCheckpointsAreOffloadedOnes) {
    const ConfigReading reading = read(std::string(kBase) + "gradient_checkpointing: unsloth\n");
    EXPECT_FALSE(has_error(reading));
    EXPECT_TRUE(reading.config.gradient_checkpointing);
    EXPECT_TRUE(reading.config.activation_offloading);
}

TEST(TrainingKeys, MistralCommonIsTakenForMagistralUnlessTheFileSaysNo) {
    const auto asked = [](const std::string& text) {
        return read(std::string(kBase) + text).config.tokenization.contains("tokenizer_use_mistral_common");
    };
    EXPECT_TRUE(asked("tokenizer_config: mistralai/Magistral-Small-2509\n"));
    EXPECT_FALSE(
        asked("tokenizer_config: mistralai/Magistral-Small-2509\ntokenizer_use_mistral_common: false\n"));
    EXPECT_FALSE(asked("tokenizer_config: mistralai/Mistral-Small\n"));
    EXPECT_TRUE(asked("tokenizer_use_mistral_common: true\n"));
}

TEST(TrainingKeys, EarlyStoppingTakesTheBestModel) {
    const ConfigReading reading = read(
        std::string(kBase) + "early_stopping_patience: 2\nval_set_size: 0.1\nsave_steps: 4\neval_steps: 2\n");
    EXPECT_FALSE(has_error(reading));
    EXPECT_EQ(reading.config.early_stopping_patience, 2);
    EXPECT_TRUE(reading.config.load_best_model_at_end);
}

TEST(TrainingKeys, TheBestModelIsChosenByTheLossAsInTransformers) {
    const std::string evaluates = std::string(kBase) + "val_set_size: 0.1\nsave_steps: 4\neval_steps: 2\n";
    for (const char* said : {"metric_for_best_model: loss\n", "metric_for_best_model: eval_loss\n",
                             "greater_is_better: false\n", ""}) {
        const ConfigReading reading = read(evaluates + said);
        EXPECT_FALSE(has_error(reading)) << said;
        EXPECT_FALSE(reading.config.load_best_model_at_end) << said;
    }
    EXPECT_FALSE(
        has_error(read(evaluates + "greater_is_better: true\n")));  // nothing asks for the best model
    EXPECT_TRUE(has_error(read(evaluates + "early_stopping_patience: 2\ngreater_is_better: true\n")));
    // axolotl turns this off only if the value is False; an empty value is None.
    EXPECT_TRUE(read(evaluates + "load_best_model_at_end:\n").config.load_best_model_at_end);
    EXPECT_FALSE(has_error(read(std::string(kBase) + "metric_for_best_model: eval_accuracy\n")));
}

TEST(TrainingKeys, NoiseCountsTheLengthThatAxolotlPadsTo) {
    const auto rule = [](const std::string& said) {
        return noise_rule(read(std::string(kBase) + "neftune_noise_alpha: 5\n" + said).config);
    };
    EXPECT_EQ(rule("").alpha, 5);
    EXPECT_EQ(rule("").length_multiple, 64);
    EXPECT_EQ(rule("pad_to_multiple_of: 8\n").length_multiple, 8);
    EXPECT_EQ(rule("pad_to_sequence_len: false\n").length_multiple, 1);
    EXPECT_EQ(rule("pad_to_sequence_len: true\n").length_multiple, 64);
    EXPECT_EQ(rule("optimizer: sgd\noptim_args: {momentum: 0.9}\n").alpha, 5);
    EXPECT_EQ(noise_rule(read(kBase).config).alpha, 0);
    EXPECT_DOUBLE_EQ(noise_limit({5, 64}, 100, 32), 5 / std::sqrt(128.0 * 32));
}

}  // namespace
}  // namespace ringmaster
