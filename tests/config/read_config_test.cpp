#include "engine/config/read_config.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/config/precision.h"
#include "tests/config/reading.h"

namespace ringmaster {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json fields_of(const ConfigReading& reading) {
    json fields = config_to_json(reading.config);
    fields.erase("lines");
    return fields;
}

TEST(ReadConfig, BothGenerationsOfKeysGiveTheSameConfig) {
    const ConfigReading now = read_more(
        "context_parallel_size: 4\nattn_implementation: flash_attention_2\n"
        "heads_k_stride: 1\nring_attn_func:\nsequence_len: 8192\n");
    const ConfigReading before = read_more(
        "sequence_parallel_degree: 4\nflash_attention: true\n"
        "heads_k_stride: 1\nring_attn_func:\nsequence_len: 8192\n");
    EXPECT_EQ(fields_of(now), fields_of(before));
    EXPECT_EQ(now.config.context_parallel_size, 4);
    EXPECT_EQ(now.config.attn_implementation, "flash_attention_2");
    EXPECT_EQ(now.config.ring_attn_func, RingAttnFunc::Default);
    EXPECT_FALSE(has_error(now.diagnostics)) << all_said(now);
    EXPECT_FALSE(has_error(before.diagnostics)) << all_said(before);
}

TEST(ReadConfig, EachOldAttentionSwitchHasItsNewName) {
    for (const auto& [flag, name] :
         std::vector<std::pair<std::string, std::string>>{{"xformers_attention", "xformers"},
                                                          {"sdp_attention", "sdpa"},
                                                          {"eager_attention", "eager"},
                                                          {"flex_attention", "flex_attention"},
                                                          {"sage_attention", "sage"},
                                                          {"flash_attention", "flash_attention_2"}}) {
        EXPECT_EQ(read_more(flag + ": true\n").config.attn_implementation, name);
        EXPECT_EQ(read_more(flag + ": false\n").config.attn_implementation, "");
    }
}

TEST(ReadConfig, ReadsEveryKeyOfTraining) {
    const ConfigReading reading = read(
        "base_model: a/b\ntokenizer_config: c/d\nreinit_weights: true\n"
        "datasets: [{path: a/b, type: completion, field: body}]\n"
        "test_datasets: [{path: a/t, type: completion}]\n"
        "sequence_len: 4096\nsample_packing: false\npad_to_sequence_len: true\nexcess_length_strategy: "
        "truncate\n"
        "micro_batch_size: 2\ngradient_accumulation_steps: 3\nmax_steps: 20\nnum_epochs: 2.5\n"
        "curriculum_sampling: true\nseed: 7\noptimizer: adamw_torch\nlearning_rate: 1e-3\nlr_scheduler: "
        "linear\n"
        "warmup_steps: 4\nweight_decay: 0.1\nadam_beta1: 0.8\nadam_beta2: 0.9\nadam_epsilon: "
        "1e-6\nmax_grad_norm: 0.5\n"
        "gradient_checkpointing: true\noutput_dir: out\nsave_steps: 5\nsave_total_limit: 2\nlogging_steps: "
        "3\n"
        "eval_steps: 10\neval_batch_size: 4\ncontext_parallel_size: 2\nulysses_size: 2\ndp_shard_size: 2\n"
        "dp_replicate_size: 3\nheads_k_stride: 2\nring_attn_func: batch_zigzag\nbf16: full\nddp_timeout: 90\n"
        "special_tokens: {pad_token: <pad>, eos_token: null}\ntrain_on_inputs: true\nmin_sample_len: 3\n"
        "chat_template: chatml\neot_tokens: ['</s>']\ntrust_remote_code: true\nrevision_of_model: main\n");
    EXPECT_FALSE(has_error(reading.diagnostics)) << all_said(reading);
    EXPECT_TRUE(reading.keys.no_effect.empty() && reading.keys.unsupported.empty());
    const Config& c = reading.config;
    EXPECT_EQ(c.base_model, "a/b");
    EXPECT_EQ(c.tokenizer, "c/d");
    EXPECT_TRUE(c.reinit_weights && c.curriculum_sampling && c.gradient_checkpointing &&
                c.padding.to_sequence_len);
    EXPECT_EQ(c.datasets, json::parse(R"([{"path": "a/b", "type": "completion", "field": "body"}])"));
    EXPECT_EQ(c.test_datasets.size(), 1U);
    EXPECT_EQ(c.excess_length, ExcessLength::Truncate);
    EXPECT_EQ(c.sequence_len, 4096);
    EXPECT_EQ(c.micro_batch_size, 2);
    EXPECT_EQ(c.gradient_accumulation_steps, 3);
    EXPECT_EQ(c.max_steps, 20);
    EXPECT_EQ(c.num_epochs, 2.5);
    EXPECT_EQ(c.seed, 7);
    EXPECT_EQ(c.learning_rate, 1e-3);
    EXPECT_EQ(c.lr_scheduler, LrScheduler::Linear);
    EXPECT_EQ(c.warmup_steps, 4);
    EXPECT_EQ(c.weight_decay, 0.1);
    EXPECT_EQ(c.adam_beta1, 0.8);
    EXPECT_EQ(c.adam_beta2, 0.9);
    EXPECT_EQ(c.adam_epsilon, 1e-6);
    EXPECT_EQ(c.max_grad_norm, 0.5);
    EXPECT_EQ(c.output_dir, "/files/out");
    EXPECT_EQ(c.save_steps, 5);
    EXPECT_EQ(c.save_strategy, "steps");
    EXPECT_EQ(c.save_total_limit, 2);
    EXPECT_EQ(c.eval_steps, 10);
    EXPECT_EQ(c.eval_strategy, "steps");
    EXPECT_EQ(c.eval_batch_size, 4);
    EXPECT_EQ(c.logging_steps, 3);
    EXPECT_EQ(c.context_parallel_size, 2);
    EXPECT_EQ(c.ulysses_size, 2);
    EXPECT_EQ(c.dp_shard_size, 2);
    EXPECT_EQ(c.dp_replicate_size, 3);
    EXPECT_EQ(c.heads_k_stride, 2);
    EXPECT_EQ(c.ring_attn_func, RingAttnFunc::BatchZigzag);
    EXPECT_EQ(c.precision, Precision::Bf16Full);
    EXPECT_EQ(c.ddp_timeout, 90);
    EXPECT_EQ(c.special_tokens, (json{{"pad_token", "<pad>"}}));
    EXPECT_EQ(c.tokenization,
              json::parse(R"({"train_on_inputs": true, "min_sample_len": 3, "chat_template": "chatml",
        "eot_tokens": ["</s>"], "trust_remote_code": true, "revision_of_model": "main"})"));
    EXPECT_EQ(c.lines.at("datasets.0.field"), 4);
}

TEST(ReadConfig, PrecisionFollowsTheFourSpellings) {
    const auto precision = [](const std::string& text) {
        return read("base_model: a/b\n" + text).config.precision;
    };
    EXPECT_EQ(precision("bf16: true\n"), Precision::Bf16Mixed);
    EXPECT_EQ(precision("bf16: auto\n"), Precision::Bf16Mixed);
    EXPECT_EQ(precision("bf16: 'true'\n"), Precision::Bf16Mixed);
    EXPECT_EQ(precision("bf16: full\n"), Precision::Bf16Full);
    EXPECT_EQ(precision("bfloat16: true\n"), Precision::Bf16Full);
    EXPECT_EQ(precision("bf16: false\n"), Precision::Float32);
    EXPECT_EQ(precision("tf32: true\n"), Precision::Float32);
    EXPECT_EQ(precision("fp16: true\n"), kFp16Mixed);
    EXPECT_EQ(precision("fp16: true\nbf16: false\n"), kFp16Mixed);
    EXPECT_EQ(precision("fp16: true\nbf16: auto\n"), kFp16Mixed);
    EXPECT_EQ(precision("fp16: true\nbf16: true\n"), Precision::Bf16Mixed) << "as axolotl's resolve_dtype";
    EXPECT_EQ(precision("fp16: true\nbf16: full\n"), Precision::Bf16Full);
}

TEST(ReadConfig, ABatchSizeIsDividedIntoAccumulation) {
    const ConfigReading reading = read("micro_batch_size: 2\nbatch_size: 12\n");
    EXPECT_EQ(reading.config.gradient_accumulation_steps, 6);
    EXPECT_EQ(read("seed: 1\n").config.micro_batch_size, 1);
    EXPECT_EQ(read("gradient_accumulation_steps: 4\n").config.gradient_accumulation_steps, 4);
}

TEST(ReadConfig, SavingAndEvaluationFollowAxolotlsDefaults) {
    EXPECT_EQ(read_more("").config.save_strategy, "epoch");
    EXPECT_EQ(read_more("").config.save_total_limit, 4);
    EXPECT_EQ(read_more("").config.eval_strategy, "no");
    EXPECT_EQ(read_more("save_strategy: no\n").config.save_strategy, "no");
    EXPECT_EQ(read_more("save_strategy: 'no'\n").config.save_strategy, "no");
    EXPECT_EQ(read_more("saves_per_epoch: 2\n").config.save_strategy, "steps");
    EXPECT_EQ(read_more("save_steps: 0.1\n").config.save_steps, 0.1);
    EXPECT_EQ(read_more("save_strategy: steps\n").config.save_steps, 500);
    EXPECT_EQ(read_more("val_set_size: 0.05\n").config.eval_strategy, "epoch");
    EXPECT_EQ(read_more("val_set_size: 100\nevals_per_epoch: 4\n").config.evals_per_epoch, 4);
    EXPECT_EQ(read_more("val_set_size: 100\neval_strategy: steps\nlogging_steps: 7\n").config.eval_steps, 7);
    EXPECT_EQ(read_more("test_datasets: [{path: a/b}]\nevaluation_strategy: no\n").config.eval_strategy,
              "no");
}

TEST(ReadConfig, NegativeMaxStepsAndZeroClippingMeanNone) {
    EXPECT_EQ(read_more("max_steps: -1\n").config.max_steps, std::nullopt);
    EXPECT_EQ(read_more("max_steps: 0\n").config.max_steps, std::nullopt);
    EXPECT_EQ(read_more("max_grad_norm: 0\n").config.max_grad_norm, std::nullopt);
    EXPECT_EQ(read_more("max_grad_norm:\n").config.max_grad_norm, 1.0);
}

TEST(ReadConfig, PackingPadsUnlessTheFileSaysOtherwise) {
    EXPECT_TRUE(read_more("sample_packing: true\n").config.padding.to_sequence_len);
    EXPECT_FALSE(
        read_more("sample_packing: true\npad_to_sequence_len: false\n").config.padding.to_sequence_len);
    EXPECT_FALSE(read_more("").config.padding.to_sequence_len);
}

TEST(ReadConfig, LocalPathsBecomeAbsoluteAndHubIdsStay) {
    const TemporaryFolder folder;
    folder.write("rows.jsonl", "{}");
    folder.write("model/config.json", "{}");
    const std::string file = folder.write(
        "config.yaml",
        "base_model: model\ndatasets:\n  - path: rows.jsonl\n    type: completion\n  - path: owner/rows\n"
        "  - {path: json, data_files: [rows.jsonl, 'hf://x/y.json']}\n  - path: parts/*.parquet\n"
        "learning_rate: 1\noutput_dir: ~/out\ndataset_prepared_path: ../prepared\n");
    const ConfigReading reading = read_config(file);
    const Config& c = reading.config;
    EXPECT_FALSE(has_error(reading.diagnostics)) << all_said(reading);
    EXPECT_EQ(c.file, file);
    EXPECT_EQ(c.base_dir, folder.path());
    EXPECT_EQ(c.base_model, "model");
    EXPECT_EQ(c.model_dir, folder / "model");
    EXPECT_EQ(c.tokenizer, folder / "model");
    EXPECT_EQ(c.datasets[0]["path"], folder / "rows.jsonl");
    EXPECT_EQ(c.datasets[1]["path"], "owner/rows");
    EXPECT_EQ(c.datasets[2]["data_files"], (json{folder / "rows.jsonl", "hf://x/y.json"}));
    EXPECT_EQ(c.datasets[3]["path"], folder / "parts/*.parquet");
    EXPECT_EQ(c.output_dir, std::string(std::getenv("HOME")) + "/out");
    EXPECT_EQ(c.dataset_prepared_path, std::filesystem::path(folder.path()).parent_path() / "prepared");
}

TEST(ReadConfig, SetBehavesAsIfTheKeyStoodInTheFile) {
    for (const auto& [key, value] :
         std::vector<std::pair<std::string, std::string>>{{"sequence_len", "4096"},
                                                          {"sequence_len", "none at all"},
                                                          {"bf16", "full"},
                                                          {"adapter", "lora"},
                                                          {"sequnce_len", "1"},
                                                          {"save_strategy", "no"},
                                                          {"datasets.0.type", "alpaca"},
                                                          {"datasets.0.type", "odd"},
                                                          {"special_tokens", "{pad_token: x}"},
                                                          {"max_steps", "-1"},
                                                          {"context_parallel_size", "2"}}) {
        const bool nested = key.starts_with("datasets");
        const std::string line = key + ": " + value + "\n";
        const std::string in_file =
            nested ? "base_model: a/b\nlearning_rate: 1\ndatasets: [{path: a/b, type: " + value + "}]\n"
                   : "base_model: a/b\nlearning_rate: 1\ndatasets: [{path: a/b}]\n" + line;
        const ConfigReading written = read(in_file);
        const ConfigReading set =
            read_set("base_model: a/b\nlearning_rate: 1\ndatasets: [{path: a/b}]\n", key, value);
        EXPECT_EQ(fields_of(written), fields_of(set)) << line;
        ASSERT_EQ(written.diagnostics.size(), set.diagnostics.size())
            << line << all_said(written) << all_said(set);
        for (const Diagnostic& diagnostic : written.diagnostics) {
            const Diagnostic* same = said(set, diagnostic.code, diagnostic.key);
            ASSERT_NE(same, nullptr) << line << all_said(set);
            EXPECT_EQ(same->message, diagnostic.message);
            if (diagnostic.key == key) {
                EXPECT_EQ(same->line, 0);
            }
        }
        EXPECT_EQ(list_of(written, key), list_of(set, key)) << line;
    }
}

TEST(ReadConfig, SetWinsOverTheOtherGenerationsName) {
    const ConfigReading size =
        read_set(kBase + "sequence_parallel_degree: 4\n", "context_parallel_size", "2");
    EXPECT_EQ(size.config.context_parallel_size, 2);
    EXPECT_FALSE(has_error(size.diagnostics)) << all_said(size);
    const ConfigReading attention =
        read_set(kBase + "flash_attention: true\n", "attn_implementation", "sdpa");
    EXPECT_EQ(attention.config.attn_implementation, "sdpa");
    EXPECT_EQ(said(attention, "CFG-CONFLICT"), nullptr);
    EXPECT_EQ(list_of(attention, "flash_attention"), "no_effect");
    const ConfigReading flag = read_set(kBase + "attn_implementation: sdpa\n", "eager_attention", "true");
    EXPECT_EQ(flag.config.attn_implementation, "eager");
}

TEST(ReadConfig, AStreamIsOneDatasetInItsOwnOrder) {
    const std::string model = "base_model: a/b\nlearning_rate: 1\nmax_steps: 3\n";
    const ConfigReading named = read(model + "pretraining_dataset: owner/texts\n");
    EXPECT_FALSE(has_error(named.diagnostics)) << all_said(named);
    EXPECT_EQ(named.config.datasets,
              json::parse(
                  R"([{"path": "owner/texts", "type": "pretrain", "streamed": true, "pretraining": true}])"));
    EXPECT_TRUE(named.config.curriculum_sampling);
    EXPECT_EQ(list_of(named, "pretraining_dataset"), "used");
    const ConfigReading listed =
        read(model + "streaming: true\npretraining_dataset: [{path: a.jsonl, type: completion, skip: 2}]\n");
    EXPECT_FALSE(has_error(listed.diagnostics)) << all_said(listed);
    EXPECT_EQ(listed.config.datasets[0]["type"], "completion");
    const ConfigReading endless =
        read("base_model: a/b\nlearning_rate: 1\npretraining_dataset: a/b\nval_set_size: 0.1\n");
    EXPECT_NE(said(endless, "CFG-MISSING", "max_steps"), nullptr) << all_said(endless);
    EXPECT_NE(said(endless, "CFG-CONFLICT", "val_set_size"), nullptr) << all_said(endless);
    const ConfigReading idle =
        read(model + "pretraining_dataset: a/b\nval_set_size: 0.1\neval_strategy: 'no'\n");
    EXPECT_EQ(said(idle, "CFG-CONFLICT", "val_set_size")->severity, Severity::Warning);
    EXPECT_EQ(idle.config.val_set_size, 0) << "axolotl before 0.13 ignored it";
    const ConfigReading other = read(model + "pretraining_dataset: [{path: a/b, type: alpaca}]\n");
    EXPECT_NE(said(other, "CFG-DATASET-TYPE", "pretraining_dataset.0.type"), nullptr) << all_said(other);
}

TEST(ReadConfig, StreamingMakesDatasetsStreams) {
    const std::string asked = kBase + "streaming: true\nmax_steps: 3\n";
    const ConfigReading rows = read(asked + "sample_packing: true\n");
    EXPECT_FALSE(has_error(rows.diagnostics)) << all_said(rows);
    EXPECT_EQ(rows.config.datasets[0].value("streamed", false), true);
    EXPECT_FALSE(rows.config.datasets[0].contains("pretraining"));
    EXPECT_TRUE(rows.config.curriculum_sampling) << "the stream's order is the order of training";
    EXPECT_FALSE(read(kBase + "streaming: false\n").config.datasets[0].contains("streamed"));
    EXPECT_FALSE(rows.config.tokenization.contains("shuffle_merged_datasets"));
    EXPECT_EQ(read(asked + "curriculum_sampling: true\n").config.tokenization["shuffle_merged_datasets"],
              false);
    const ConfigReading pairs = read(asked + "rl: dpo\n");
    EXPECT_FALSE(pairs.config.datasets[0].contains("streamed")) << "axolotl reads pairs whole";
}

TEST(ReadConfig, WhatAxolotlRefusesInAStreamIsAFinding) {
    const std::string asked = kBase + "streaming: true\n";
    EXPECT_NE(said(read(asked), "CFG-MISSING", "max_steps"), nullptr);
    const std::string steps = asked + "max_steps: 3\n";
    for (const char* key :
         {"val_set_size: 0.1", "dataset_exact_deduplication: true", "dataset_shard_num: 2"}) {
        const ConfigReading reading = read(steps + key + "\n");
        const std::string name = std::string(key).substr(0, std::string(key).find(':'));
        const Diagnostic* found = said(reading, "CFG-CONFLICT", name);
        ASSERT_NE(found, nullptr) << all_said(reading);
        EXPECT_EQ(found->severity, Severity::Error);
        EXPECT_FALSE(found->fixes.empty());
    }
    const std::string model = "base_model: a/b\nlearning_rate: 1\nmax_steps: 3\nstreaming: true\n";
    for (const char* part : {"shards: 2", "split: 'train[:9]'"}) {
        const ConfigReading reading = read(model + "datasets: [{path: a/b, type: alpaca, " + part + "}]\n");
        const std::string name = std::string(part).substr(0, std::string(part).find(':'));
        EXPECT_NE(said(reading, "CFG-CONFLICT", "datasets.0." + name), nullptr) << all_said(reading);
    }
    const std::string two = "datasets: [{path: a/b, type: alpaca}, {path: a/c, type: alpaca}]\n";
    EXPECT_FALSE(has_error(read(model + two).diagnostics));
    EXPECT_NE(said(read(model + two + "sample_packing: true\n"), "CFG-CONFLICT", "streaming"), nullptr);
    EXPECT_NE(said(read(steps + "sample_packing: true\nexcess_length_strategy: truncate\n"), "CFG-CONFLICT",
                   "excess_length_strategy"),
              nullptr);
}

TEST(ReadConfig, LaterSetsWin) {
    ReadOptions options;
    options.set = {{"seed", "1"}, {"seed", "2"}};
    EXPECT_EQ(read_more("seed: 3\n", options).config.seed, 2);
}

TEST(ReadConfig, AMalformedSetIsAnUnusableArgument) {
    EXPECT_FALSE(read_set(kBase, "datasets.7.path", "x").readable);
    EXPECT_FALSE(read_set(kBase, "seed", "[1").readable);
    EXPECT_TRUE(read_set(kBase, "seed", "fast").readable) << "a wrong value, as in the file";
}

TEST(ReadConfig, ShardingIsAskedForByFsdpAndDeepspeed) {
    const TemporaryFolder folder;
    folder.write("zero2.json", R"({"zero_optimization": {"stage": 2}, "bf16": {"enabled": true}})");
    folder.write("odd.json", R"({"zero_optimization": {"stage": "three"}})");
    folder.write("broken.json", "{");
    const auto stage = [&](const std::string& text) {
        ReadOptions options;
        options.base_dir = folder.path();
        const ConfigReading reading = read_more(text, options);
        return has_error(reading.diagnostics) ? -1 : reading.config.zero_stage_asked;
    };
    EXPECT_EQ(stage(""), 0);
    EXPECT_EQ(stage("fsdp_version: 2\nfsdp_config: {reshard_after_forward: true}\n"), 3);
    EXPECT_EQ(stage("fsdp_config: {reshard_after_forward: false}\n"), 2);
    EXPECT_EQ(stage("fsdp_config: {fsdp_sharding_strategy: SHARD_GRAD_OP}\n"), 2);
    EXPECT_EQ(stage("fsdp: [full_shard, auto_wrap]\n"), 3);
    EXPECT_EQ(stage("fsdp: [shard_grad_op]\nfsdp_config: {offload_params: false}\n"), 2);
    EXPECT_EQ(stage("fsdp: []\nfsdp_config:\n"), 0);
    EXPECT_EQ(stage("deepspeed: zero2.json\n"), 2);
    EXPECT_EQ(stage("deepspeed: {zero_optimization: {stage: 1}}\n"), 1);
    EXPECT_EQ(stage("deepspeed: odd.json\n"), -1);
    EXPECT_EQ(stage("deepspeed: broken.json\n"), -1);
}

TEST(ReadConfig, AFileThatCannotBeReadIsSaidSo) {
    const TemporaryFolder folder;
    for (const std::string& path : {folder / "none.yaml", folder.path()}) {
        const ConfigReading reading = read_config(path);
        EXPECT_FALSE(reading.readable);
        ASSERT_EQ(reading.diagnostics.size(), 1U);
        EXPECT_EQ(reading.diagnostics[0].code, "CFG-FILE");
        EXPECT_THAT(reading.diagnostics[0].message, HasSubstr(path));
    }
    EXPECT_FALSE(read_config(folder.write("broken.yaml", "a: [")).readable);
    const ConfigReading huge = read_config(folder.write("huge.yaml", std::string((8 << 20) + 5, 'a')));
    EXPECT_FALSE(huge.readable);
    EXPECT_EQ(huge.diagnostics[0].code, "YAML-SIZE");
}

}  // namespace
}  // namespace ringmaster
