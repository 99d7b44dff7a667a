// Tests that `rl` and its keys give the settings that axolotl 0.19 passes to TRL.
#include <gtest/gtest.h>

#include "tests/config/reading.h"

namespace ringmaster {
namespace {

Preference preference(const std::string& lines) {
    return read_more(lines).config.preference;
}

/// Returns whether a key is refused. Ignores the error about the type of kBase's rows, which hold no answers.
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

TEST(Preference, UnknownMethodsAreRefused) {
    const ConfigReading reading = read_more("rl: ebft\n");
    EXPECT_TRUE(said(reading, "CFG-PREFERENCE", "rl"));
    EXPECT_FALSE(reading.config.preference.on() || reading.config.policy);
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

/// Returns a file that samples completions, with `more` keys of trl.
std::string sampling(const std::string& more = "", const std::string& rl = "grpo") {
    return "rl: " + rl + "\nsequence_len: 512\ntrl: {reward_funcs: [rewards.exact, pack.rewards.short], " +
           "max_completion_length: 64" + (more.empty() ? "" : ", " + more) + "}\n";
}

SamplingRule rule_of(const std::string& lines) {
    return read_more(lines).config.sampling.value();
}

TEST(Sampling, DefaultsAreTrlsAndTheFileReplacesThem) {
    EXPECT_FALSE(read_more("rl: grpo\n").config.sampling) << "without reward functions the rows are rollouts";
    const SamplingRule plain = rule_of(sampling());
    EXPECT_EQ(plain.generations, 8);
    EXPECT_EQ(plain.top_k, 0);
    EXPECT_EQ(plain.top_p, 1);
    EXPECT_EQ(plain.scale, RewardScale::Group);
    EXPECT_FALSE(plain.by_function);
    EXPECT_EQ(plain.functions, (std::vector<std::string>{"rewards.exact", "pack.rewards.short"}));
    EXPECT_EQ(plain.weights, (std::vector<double>{1, 1}));
    EXPECT_EQ(read_more(sampling()).config.policy->answer_tokens, 64);
    const SamplingRule all =
        rule_of(sampling("num_generations: 4, top_k: 20, top_p: 0.9, scale_rewards: batch, "
                         "reward_weights: [1, 0.5], multi_objective_aggregation: normalize_then_sum"));
    EXPECT_EQ(all.generations, 4);
    EXPECT_EQ(all.top_k, 20);
    EXPECT_EQ(all.top_p, 0.9);
    EXPECT_EQ(all.scale, RewardScale::Batch);
    EXPECT_EQ(all.weights, (std::vector<double>{1, 0.5}));
    EXPECT_TRUE(all.by_function);
    EXPECT_EQ(rule_of(sampling("scale_rewards: false")).scale, RewardScale::None) << "as in axolotl";
    EXPECT_EQ(rule_of(sampling("scale_rewards: true")).scale, RewardScale::Group);
    EXPECT_EQ(rule_of(sampling("num_generations: 0")).generations, 8) << "axolotl passes no 0 on";
    EXPECT_TRUE(rule_of(sampling("", "gdpo")).by_function) << "axolotl's default under gdpo";
}

TEST(Sampling, WhatIsNotBuiltIsRefusedByItsKey) {
    const auto refused = [](const std::string& lines, const std::string& key) {
        const ConfigReading reading = read_more(lines);
        const Diagnostic* found = said(reading, "CFG-SAMPLING", key);
        return found && found->severity == Severity::Error;
    };
    for (const char* line : {"min_p: 0.1", "repetition_penalty: 1.1", "generation_kwargs: {seed: 1}",
                             "generation_batch_size: 32", "steps_per_generation: 2", "async_prefetch: true",
                             "reward_weights: [1]"}) {
        const std::string text = line, key = "trl." + text.substr(0, text.find(':'));
        EXPECT_TRUE(refused(sampling(line), key)) << line;
    }
    for (const char* line :
         {"beta: 0", "beta: 0.04", "min_p: 0", "repetition_penalty: 1.0", "generation_kwargs: {}",
          "async_prefetch: false", "num_iterations: 1", "reward_weights: []"})
        EXPECT_FALSE(is_refused(sampling(line))) << line;
    for (const char* line : {"num_iterations: 2", "mask_truncated_completions: true", "num_generations: 1",
                             "top_p: 0", "top_k: -1", "scale_rewards: sometimes"})
        EXPECT_TRUE(is_refused(sampling(line))) << line;
    EXPECT_TRUE(refused(sampling() + "sample_packing: true\n", "sample_packing"));
    EXPECT_TRUE(refused(sampling("multi_objective_aggregation: sum_then_normalize", "gdpo"),
                        "trl.multi_objective_aggregation"));
    EXPECT_TRUE(refused("rl: gdpo\n", "trl.reward_funcs"));
    EXPECT_TRUE(refused("rl: grpo\ntrl: {reward_funcs: [rewards.exact]}\n", "trl.max_completion_length"));
    EXPECT_TRUE(
        refused("rl: grpo\nsequence_len: 64\ntrl: {reward_funcs: [rewards.exact], "
                "max_completion_length: 64}\n",
                "trl.max_completion_length"))
        << "a prompt needs room too";
    for (const char* functions : {"rewards.exact", "[owner/reward-model]", "[exact]", "[1]"})
        EXPECT_TRUE(refused(
            std::string("rl: grpo\ntrl: {max_completion_length: 8, reward_funcs: ") + functions + "}\n",
            "trl.reward_funcs"))
            << functions;
}

TEST(Sampling, SomebodyElsesSamplerIsNotUsedAndSaidSo) {
    const ConfigReading reading = read_more(sampling("use_vllm: true, vllm_mode: colocate"));
    EXPECT_FALSE(is_refused(sampling("use_vllm: true")));
    ASSERT_TRUE(said(reading, "CFG-SAMPLING", "trl.use_vllm"));
    EXPECT_EQ(said(reading, "CFG-SAMPLING", "trl.use_vllm")->severity, Severity::Info);
    EXPECT_FALSE(said(read_more(sampling("use_vllm: false")), "CFG-SAMPLING", "trl.use_vllm"));
    EXPECT_TRUE(said(read_more(sampling("log_completions: true")), "CFG-SAMPLING", "trl.log_completions"));
}

TEST(Sampling, AServerIsNamedByTheKeysOfVllm) {
    const auto server = [](const std::string& more) {
        return rule_of(sampling("use_vllm: true, " + more)).server;
    };
    const auto given = server(
        "vllm_mode: server, vllm_server_host: gpu-7.example, vllm_server_port: 8001, "
        "vllm_server_timeout: 60, vllm_reload_command: reload it");
    ASSERT_TRUE(given);
    EXPECT_EQ(given->address(), "http://gpu-7.example:8001");
    EXPECT_EQ(given->timeout, 60);
    EXPECT_EQ(given->reload_command, "reload it");
    EXPECT_TRUE(given->corrects) << "TRL's defaults";
    EXPECT_EQ(given->ratio, ImportanceRatio::SequenceMask);
    EXPECT_EQ(given->cap, 3);
    EXPECT_EQ(server("vllm_mode: server")->address(), "http://127.0.0.1:8000");
    EXPECT_EQ(server("vllm_mode: server, vllm_server_timeout: 0")->timeout, 240);
    EXPECT_EQ(server("vllm_server_host: '::1'")->address(), "http://[::1]:8000")
        << "older files have no mode";
    const auto other = server(
        "vllm_server_port: 1, vllm_importance_sampling_correction: false, "
        "vllm_importance_sampling_mode: token_truncate, vllm_importance_sampling_cap: 2");
    EXPECT_FALSE(other->corrects);
    EXPECT_EQ(other->ratio, ImportanceRatio::TokenTruncate);
    EXPECT_EQ(other->cap, 2);
    EXPECT_FALSE(server("vllm_mode: colocate, vllm_server_port: 8000"));
    EXPECT_FALSE(rule_of(sampling("vllm_mode: server")).server) << "use_vllm decides";
    for (const char* wrong :
         {"vllm_server_host: http://gpu", "vllm_server_host: 'gpu:8000'", "vllm_server_host: ''",
          "vllm_server_host: [gpu]", "vllm_server_port: 0", "vllm_server_port: 65536",
          "vllm_server_timeout: -1", "vllm_reload_command: [a]", "vllm_importance_sampling_mode: tokens",
          "vllm_importance_sampling_cap: 0", "vllm_importance_sampling_correction: maybe"})
        EXPECT_TRUE(is_refused(sampling(std::string("use_vllm: true, vllm_mode: server, ") + wrong)))
            << wrong;
    EXPECT_TRUE(is_refused(sampling("use_vllm: true, vllm_mode: somewhere")));
    EXPECT_TRUE(said(read_more(sampling("use_vllm: true, vllm_mode: server, vllm_lora_sync: true")),
                     "CFG-SAMPLING", "trl.vllm_lora_sync"));
}

/// Returns a file with a server of completions, with `more` keys of trl.
std::string served(const std::string& more) {
    return sampling("use_vllm: true, vllm_mode: server, " + more);
}

TEST(Sampling, AServersAddressMayBeAUrl) {
    const auto url = [](const std::string& text) {
        return rule_of(served("vllm_server_base_url: '" + text + "'")).server->address();
    };
    EXPECT_EQ(url("https://gpu-7.example:8443/"), "https://gpu-7.example:8443");
    EXPECT_EQ(url("http://[::1]:80/v/2"), "http://[::1]:80/v/2");
    EXPECT_EQ(url("https://10.0.0.1"), "https://10.0.0.1");
    EXPECT_TRUE(rule_of(sampling("use_vllm: true, vllm_server_base_url: 'https://gpu'")).server)
        << "as a host, it means the mode server";
    for (const char* wrong : {"gpu:8000", "ftp://gpu", "https://", "https://user:secret@gpu", "https://gpu:0",
                              "https://gpu:70000", "https://gpu:8x", "https://gpu?key=secret",
                              "https://gpu/a#b", "https://gpu/a b", "https://[gpu]", "https://[::1",
                              "https://gpu/../x", "https://gpu:", "https://::1", ""}) {
        const ConfigReading reading = read_more(served("vllm_server_base_url: '" + std::string(wrong) + "'"));
        const Diagnostic* found = said(reading, "CFG-SAMPLING", "trl.vllm_server_base_url");
        ASSERT_TRUE(found) << wrong;
        EXPECT_EQ(found->severity, Severity::Error) << wrong;
        EXPECT_EQ(found->message.find("secret"), std::string::npos) << "a password is not repeated";
    }
    EXPECT_TRUE(said(read_more(served("vllm_server_base_url: 'https://gpu', vllm_server_port: 1")),
                     "CFG-SAMPLING", "trl.vllm_server_port"));
}

TEST(Sampling, AnApiKeyIsNamedAndNeverWritten) {
    const auto server = [](const std::string& more) {
        return *rule_of(served("vllm_server_base_url: 'https://gpu', " + more)).server;
    };
    EXPECT_EQ(server("vllm_server_api_key_env: GPU_KEY").key_variable, "GPU_KEY");
    EXPECT_EQ(server("vllm_server_api_key_file: key.txt").key_file, "/files/key.txt");
    EXPECT_EQ(server("vllm_server_ca_file: ~/ca.pem").ca_file.find('~'), std::string::npos);
    const auto found = [](const std::string& more, const std::string& key, Severity severity) {
        const ConfigReading reading = read_more(served(more));
        for (const Diagnostic& one : reading.diagnostics) {
            EXPECT_EQ(one.message.find("sk-secret"), std::string::npos) << one.message;
            if (one.key == "trl." + key && one.code == "CFG-SAMPLING" && one.severity == severity)
                return true;
        }
        return false;
    };
    const std::string https = "vllm_server_base_url: 'https://gpu', ";
    EXPECT_TRUE(found("vllm_server_api_key: sk-secret", "vllm_server_api_key", Severity::Error));
    EXPECT_TRUE(
        found(https + "vllm_server_api_key_env: sk-secret", "vllm_server_api_key_env", Severity::Error));
    EXPECT_TRUE(found(https + "vllm_server_api_key_env: A, vllm_server_api_key_file: b",
                      "vllm_server_api_key_file", Severity::Error));
    EXPECT_TRUE(found("vllm_server_api_key_env: A", "vllm_server_api_key_env", Severity::Warning))
        << "http is not encrypted";
    EXPECT_FALSE(found(https + "vllm_server_api_key_env: A", "vllm_server_api_key_env", Severity::Warning));
    EXPECT_TRUE(found("vllm_server_ca_file: x", "vllm_server_ca_file", Severity::Warning));
    EXPECT_TRUE(found(https + "vllm_server_ca_file: nowhere", "vllm_server_ca_file", Severity::Warning));
}

constexpr char kFromFolder[] =
    "base_model: NousResearch/Llama-3.2-1B\nlearning_rate: 0.0001\nmicro_batch_size: 1\n"
    "gradient_accumulation_steps: 1\noutput_dir: out\nbf16: auto\nwarmup_steps: 10\nrl: grpo\n"
    "trl: {rollout_folder: incoming}\n";

TEST(RolloutFolder, NamesWhereRowsComeFromWhileTheRunTrains) {
    const ConfigReading reading = read(kFromFolder + std::string("max_steps: 5\n"));
    EXPECT_FALSE(has_error(reading.diagnostics));
    ASSERT_TRUE(reading.config.policy && reading.config.policy->folder);
    EXPECT_EQ(reading.config.policy->folder->path, "/files/incoming");
    EXPECT_EQ(reading.config.policy->folder->timeout, 3600);
    EXPECT_TRUE(reading.config.curriculum_sampling) << "rows are trained in the order in which they come";
    EXPECT_TRUE(gets_rows_while_training(reading.config));
    const ConfigReading other =
        read_set(kFromFolder + std::string("max_steps: 5\n"), "trl.rollout_timeout", "7");
    EXPECT_EQ(other.config.policy->folder->timeout, 7);
    EXPECT_FALSE(read_more("rl: grpo\n").config.policy->folder);
    EXPECT_FALSE(gets_rows_while_training(read_more("rl: grpo\n").config));
}

TEST(RolloutFolder, RefusesWhatCannotHoldForRowsThatCome) {
    const auto found = [](const std::string& lines, const std::string& key, Severity severity) {
        const ConfigReading reading = read(kFromFolder + lines);
        const Diagnostic* one = said(reading, "ROLLOUT-FOLDER", key);
        return one && one->severity == severity;
    };
    EXPECT_TRUE(found("", "max_steps", Severity::Error));
    const std::string steps = "max_steps: 5\n";
    EXPECT_TRUE(found(steps + "datasets: [{path: owner/rows}]\n", "datasets", Severity::Error));
    EXPECT_TRUE(found(steps + "sample_packing: true\n", "sample_packing", Severity::Error));
    EXPECT_TRUE(
        found(steps + "dataset_exact_deduplication: true\n", "dataset_exact_deduplication", Severity::Error));
    EXPECT_FALSE(found(steps + "dataset_exact_deduplication: false\n", "dataset_exact_deduplication",
                       Severity::Error));
    EXPECT_TRUE(found(steps + "curriculum_sampling: false\n", "curriculum_sampling", Severity::Warning));
    EXPECT_FALSE(found(steps + "curriculum_sampling: true\n", "curriculum_sampling", Severity::Warning));
    EXPECT_TRUE(found(steps + "group_by_length: true\n", "group_by_length", Severity::Warning));
    const auto set = [&](const std::string& path, const std::string& value) {
        return read_set(kFromFolder + steps, path, value);
    };
    EXPECT_TRUE(said(set("trl.reward_funcs", "[a.b]"), "ROLLOUT-FOLDER", "trl.reward_funcs"));
    EXPECT_TRUE(said(set("trl.rollout_folder", "''"), "ROLLOUT-FOLDER", "trl.rollout_folder"));
    EXPECT_TRUE(said(set("trl.rollout_folder", "/etc/hostname"), "ROLLOUT-FOLDER", "trl.rollout_folder"));
    EXPECT_TRUE(has_error(set("trl.rollout_folder", "[1]").diagnostics));
    EXPECT_TRUE(has_error(set("trl.rollout_timeout", "0").diagnostics));
    EXPECT_TRUE(
        said(read_more("rl: grpo\ntrl: {rollout_timeout: 4}\n"), "ROLLOUT-FOLDER", "trl.rollout_timeout"));
    EXPECT_TRUE(
        said(read_more("rl: grpo\ntrl: {rollout_folders: x}\n"), "CFG-PREFERENCE", "trl.rollout_folders"));
}

TEST(Sampling, UnknownKeysOfTrlAreNamed) {
    EXPECT_EQ(
        said(read_more(sampling("num_generation: 4")), "CFG-PREFERENCE", "trl.num_generation")->severity,
        Severity::Error);
    EXPECT_EQ(said(read_more(sampling("colour: 4")), "CFG-PREFERENCE", "trl.colour")->severity,
              Severity::Warning);
    EXPECT_FALSE(said(read_more(sampling("vllm_server_port: 4")), "CFG-PREFERENCE", "trl.vllm_server_port"));
}

TEST(Sampling, ATypeIsAFunctionOfTheUsers) {
    const auto fault = [](const std::string& type) {
        return said(read_more(sampling() + "datasets: [{path: owner/one, type: " + type + "}]\n"),
                    "CFG-DATASET-TYPE", "datasets.0.type") != nullptr;
    };
    EXPECT_FALSE(fault("rewards.questions"));
    EXPECT_FALSE(fault("''"));
    EXPECT_TRUE(fault("alpaca"));
    EXPECT_TRUE(fault("{field_instruction: a}"));
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
    EXPECT_EQ(
        said(read_more("rl: dpo\ndatasets: [{path: owner/one, type: llama3.argilla}]\n"), "CFG-DATASET-TYPE")
            ->hint,
        "type: llama3.default");
    EXPECT_FALSE(has_error(
        read_more("rl: kto\ndatasets: [{path: owner/one, type: {field_completion: a, prompt_format: b}}]\n")
            .diagnostics));
    EXPECT_TRUE(said(read_more("rl: dpo\ndatasets: [{path: owner/one, type: {field_completion: a}}]\n"),
                     "KEY-UNKNOWN", "datasets.0.type.field_completion"));
}

}  // namespace
}  // namespace ringmaster
