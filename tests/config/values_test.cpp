// Tests each rule about one key or two keys together: its code, its line, and the nearest value that works.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/config/edit.h"
#include "tests/config/reading.h"

namespace ringmaster {
namespace {

using testing::HasSubstr;

struct Rule {
    const char* text;  ///< lines after kBase
    const char* code;
    const char* key;
    int line;  ///< line within `text`
    Severity severity;
    const char* part;  ///< part of the message or the hint

    friend std::ostream& operator<<(std::ostream& to, const Rule& of) { return to << of.text; }
};

class ConfigRule : public testing::TestWithParam<Rule> {};

TEST_P(ConfigRule, IsSaidWithItsLine) {
    const Rule& rule = GetParam();
    const ConfigReading reading = read_more(rule.text);
    const Diagnostic* found = said(reading, rule.code, rule.key);
    ASSERT_NE(found, nullptr) << all_said(reading);
    EXPECT_EQ(found->line, kBaseLines + rule.line) << found->message;
    EXPECT_EQ(found->severity, rule.severity);
    EXPECT_THAT(found->message + " | " + found->hint, HasSubstr(rule.part));
}

constexpr Severity kError = Severity::Error;
constexpr Severity kWarning = Severity::Warning;
constexpr Severity kInfo = Severity::Info;

INSTANTIATE_TEST_SUITE_P(
    Types, ConfigRule,
    testing::Values(
        Rule{"weight_decay: fast\n", "CFG-TYPE", "weight_decay", 1, kError, "'fast'"},
        Rule{"weight_decay: -1\n", "CFG-RANGE", "weight_decay", 1, kError, "at least 0"},
        Rule{"weight_decay: .nan\n", "CFG-TYPE", "weight_decay", 1, kError, "number"},
        Rule{"weight_decay: 1e999\n", "CFG-TYPE", "weight_decay", 1, kError, "number"},
        Rule{"\nsequence_len: 0\n", "CFG-RANGE", "sequence_len", 2, kError, "at least 1"},
        Rule{"sequence_len: 99999999999999999999\n", "CFG-RANGE", "sequence_len", 1, kError, "64 bits"},
        Rule{"sequence_len: 512.5\n", "CFG-TYPE", "sequence_len", 1, kError, "whole number"},
        Rule{"sequence_len: [1]\n", "CFG-TYPE", "sequence_len", 1, kError, "a list"},
        Rule{"num_epochs: 0\n", "CFG-RANGE", "num_epochs", 1, kError, "above 0"},
        Rule{"adam_beta2: 1\n", "CFG-RANGE", "adam_beta2", 1, kError, "below 1"},
        Rule{"warmup_ratio: 1.5\n", "CFG-RANGE", "warmup_ratio", 1, kError, "at most 1"},
        Rule{"sample_packing: maybe\n", "CFG-TYPE", "sample_packing", 1, kError, "true or false"},
        Rule{"tokenizer_config: 5\n", "CFG-TYPE", "tokenizer_config", 1, kError, "quotes"},
        Rule{"ring_attn_func: batch_zigzga\n", "CFG-VALUE", "ring_attn_func", 1, kError, "batch_zigzag"},
        Rule{"excess_length_strategy: cut\n", "CFG-VALUE", "excess_length_strategy", 1, kError, "truncate"},
        Rule{"special_tokens: {pad: x}\n", "KEY-UNKNOWN", "special_tokens.pad", 1, kError, "pad_token"},
        Rule{"special_tokens: {pad_tokn: x}\n", "KEY-UNKNOWN", "special_tokens.pad_tokn", 1, kError,
             "pad_token"},
        Rule{"special_tokens: {eot_tokens: [x]}\n", "KEY-UNKNOWN", "special_tokens.eot_tokens", 1, kWarning,
             "axolotl ignores it too"},
        Rule{"special_tokens: {sep_token: x}\n", "KEY-UNKNOWN", "special_tokens.sep_token", 1, kWarning,
             "axolotl ignores it too"},
        Rule{"xformers_attention: ''\n", "CFG-TYPE", "xformers_attention", 1, kError,
             "leave xformers_attention out, or"},
        Rule{"special_tokens: {additional_special_tokens: a}\n", "CFG-TYPE",
             "special_tokens.additional_special_tokens", 1, kError, "list of tokens"},
        Rule{"seed: 1\nseed: 2\n", "CFG-DUPLICATE-KEY", "seed", 2, kWarning, "line 9"},
        Rule{"dp_shard_size: 0\n", "CFG-RANGE", "dp_shard_size", 1, kError, "at least 1"}));

INSTANTIATE_TEST_SUITE_P(
    Cadence, ConfigRule,
    testing::Values(Rule{"save_steps: 5\nsaves_per_epoch: 2\n", "CFG-CONFLICT", "saves_per_epoch", 2, kError,
                         "exclude each other"},
                    Rule{"save_steps: 5\nsave_strategy: epoch\n", "CFG-CONFLICT", "save_strategy", 2, kError,
                         "save_strategy: steps"},
                    Rule{"save_steps: 1.5\n", "CFG-RANGE", "save_steps", 1, kError, "save_steps: 1"},
                    Rule{"save_strategy: best\n", "CFG-EVAL", "save_strategy", 1, kWarning, "no checkpoint"},
                    Rule{"val_set_size: 0.1\neval_steps: 5\nevals_per_epoch: 1\n", "CFG-CONFLICT",
                         "evals_per_epoch", 3, kError, "exclude"},
                    Rule{"val_set_size: 0.1\nevals_per_epoch: 1\neval_strategy: epoch\n", "CFG-CONFLICT",
                         "eval_strategy", 3, kError, "steps"},
                    Rule{"eval_steps: 5\n", "CFG-EVAL", "eval_steps", 1, kWarning, "val_set_size"},
                    Rule{"evaluation_strategy: epoch\n", "CFG-DEPRECATED", "evaluation_strategy", 1, kWarning,
                         "eval_strategy"},
                    Rule{"val_set_size: 1\n", "CFG-RANGE", "val_set_size", 1, kError, "none would train"},
                    Rule{"val_set_size: 2.5\n", "CFG-RANGE", "val_set_size", 1, kError, "whole"},
                    Rule{"val_set_size: 0.1\ntest_datasets: [{path: owner/t, type: alpaca}]\n",
                         "CFG-CONFLICT", "test_datasets", 2, kError, "both say"}));

INSTANTIATE_TEST_SUITE_P(
    Training, ConfigRule,
    testing::Values(
        Rule{"warmup_ratio: 0.1\n", "CFG-WARMUP", "warmup_ratio", 1, kWarning, "wins over"},
        Rule{"lr_scheduler: constant\n", "CFG-WARMUP", "warmup_steps", 0, kWarning, "constant_with_warmup"},
        Rule{"lr_scheduler: cosin\n", "KEY-UNSUPPORTED", "lr_scheduler", 1, kError, "lr_scheduler: cosine"},
        Rule{"lr_scheduler: linear\ncosine_min_lr_ratio: 0.1\n", "CFG-SCHEDULE", "cosine_min_lr_ratio", 2,
             kWarning, "linear"},
        Rule{"optimizer: polora\n", "KEY-UNSUPPORTED", "optimizer", 1, kError, "optimizer: adamw_torch"},
        Rule{"gradient_checkpointing: true\nactivation_offloading: disk\n", "CFG-OFFLOAD",
             "activation_offloading", 2, Severity::Info, "not to its disk"},
        Rule{"deepspeed: {zero_optimization: {stage: 3, offload_param: {device: nvme}}}\n", "CFG-OFFLOAD",
             "deepspeed", 1, kWarning, "parameters with device nvme"},
        Rule{"activation_offloading: true\n", "CFG-CHECKPOINT", "activation_offloading", 1, kWarning,
             "gradient_checkpointing: true"},
        Rule{"selective_checkpointing: true\n", "CFG-CHECKPOINT", "selective_checkpointing", 1, kWarning,
             "gradient_checkpointing: true"},
        Rule{"gradient_checkpointing: true\nselective_checkpointing: {save: [attention, mm]}\n",
             "CFG-CHECKPOINT", "selective_checkpointing", 2, kWarning, "attention alone"},
        Rule{"tiled_mlp_num_shards: 4\n", "CFG-CHECKPOINT", "tiled_mlp_num_shards", 1, kWarning,
             "tiled_mlp: true"},
        Rule{"tiled_mlp: sometimes\n", "CFG-TYPE", "tiled_mlp", 1, kError, "true"},
        Rule{"tiled_mlp: true\ntiled_mlp_num_shards: 0\n", "CFG-RANGE", "tiled_mlp_num_shards", 2, kError,
             "1"},
        Rule{"bfloat16: true\n", "CFG-CONFLICT", "bfloat16", 1, kWarning, "wins over"},
        Rule{"fp16: true\n", "KEY-UNSUPPORTED", "fp16", 1, kError, "bf16: true"},
        Rule{"adapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_linear: true\n"
             "lora_modules_to_save: [lm_head, embed_tokens]\nfp16: true\n",
             "KEY-UNSUPPORTED", "fp16", 6, kError, "lora_modules_to_save"},
        Rule{"bf16: true\nfp16: true\n", "CFG-CONFLICT", "fp16", 2, kWarning, "wins over"},
        Rule{"bfloat16: true\nfp16: true\n", "CFG-CONFLICT", "fp16", 2, kError, "exclude each other"},
        Rule{"batch_size: 3\n", "CFG-CONFLICT", "batch_size", 1, kError, "1 × 1 = 1"},
        Rule{"batch_size: 1\n", "CFG-BATCH-KEYS", "batch_size", 1, kWarning, "axolotl refuses"}));

INSTANTIATE_TEST_SUITE_P(
    Parallel, ConfigRule,
    testing::Values(
        Rule{"sequence_parallel_degree: 4\n", "CFG-DEPRECATED", "sequence_parallel_degree", 1, kWarning,
             "context_parallel_size: 4"},
        Rule{"context_parallel_size: 2\nsequence_parallel_degree: 4\n", "CFG-CONFLICT",
             "sequence_parallel_degree", 2, kError, "line 9"},
        Rule{"flash_attention: true\n", "CFG-DEPRECATED", "flash_attention", 1, kWarning,
             "flash_attention_2"},
        Rule{"sdp_attention: true\nattn_implementation: eager\n", "CFG-CONFLICT", "sdp_attention", 1,
             kWarning, "eager"},
        Rule{"attn_implementation: flash\n", "CFG-VALUE", "attn_implementation", 1, kWarning,
             "flash_attention_2"},
        Rule{"context_parallel_size: 2\n", "CFG-FLASH", "context_parallel_size", 1, kWarning, "axolotl"},
        Rule{"context_parallel_size: 2\ndp_replicate_size: 2\ndp_shard_size: 1\n", "CFG-REPLICAS",
             "dp_replicate_size", 2, kWarning, "accelerate"},
        Rule{"dp_shard_size: 2\n", "CFG-SHARD", "dp_shard_size", 1, kWarning, "fsdp_config"},
        Rule{"sample_packing: true\nattn_implementation: sdpa\n", "CFG-SDPA-PACKING", "sample_packing", 1,
             kWarning, "here document boundaries are kept"},
        Rule{"sequence_len: 8192\ncontext_parallel_size: 4\n", "CFG-UPSTREAM", "context_parallel_size", 2,
             kInfo, "2048"},
        Rule{"context_parallel_size: 2\nring_attn_func: varlen_llama3\n", "CFG-VARLEN", "ring_attn_func", 2,
             kInfo, "packed rows"},
        Rule{"deepspeed: nowhere.json\n", "CFG-DEEPSPEED", "deepspeed", 1, kError, "/files/nowhere.json"},
        Rule{"deepspeed: zero3_bf16.json\n", "CFG-DEEPSPEED", "deepspeed", 1, kInfo, "stage 3"},
        Rule{"deepspeed: mine/zero2.json\n", "CFG-DEEPSPEED", "deepspeed", 1, kError, "/files/mine"},
        Rule{"deepspeed: deepspeed_configs/zero9.json\n", "CFG-DEEPSPEED", "deepspeed", 1, kError, "zero9"},
        Rule{"deepspeed: deepspeed_configs/zero2.json\n", "CFG-DEEPSPEED", "deepspeed", 1, kInfo, "stage 2"},
        Rule{"fsdp_config: {reshard_after_forward: true}\ndeepspeed: {zero_optimization: {stage: 2}}\n",
             "CFG-CONFLICT", "deepspeed", 2, kError, "line 9"},
        Rule{"fsdp: [full_shard]\n", "CFG-DEPRECATED", "fsdp", 1, kWarning, "fsdp_config"}));

INSTANTIATE_TEST_SUITE_P(
    Datasets, ConfigRule,
    testing::Values(Rule{"test_datasets:\n  - path: owner/t\n    type: sharegpt:instruct\n",
                         "CFG-DATASET-TYPE", "test_datasets.0.type", 3, kError, "type: sharegpt"},
                    Rule{"test_datasets:\n  - path: owner/t\n    type: {field_inptu: x}\n", "KEY-UNKNOWN",
                         "test_datasets.0.type.field_inptu", 3, kError, "field_input"},
                    Rule{"test_datasets:\n  - path: owner/t\n    type: bradley_terry.chat_template\n",
                         "CFG-DATASET-TYPE", "test_datasets.0.type", 3, kError, "compared or scored"},
                    Rule{"test_datasets:\n  - path: owner/t\n    type: alpaca_chat:load_qa\n",
                         "CFG-DATASET-TYPE", "test_datasets.0.type", 3, kError, "alpaca_chat.load_qa"},
                    Rule{"test_datasets:\n  - path: owner/t\n    trust_remote_code: true\n",
                         "KEY-UNSUPPORTED", "test_datasets.0.trust_remote_code", 3, kError, "no longer"},
                    Rule{"test_datasets:\n  - path: a.jsonl\n    ds_type: xml\n", "CFG-VALUE",
                         "test_datasets.0.ds_type", 3, kError, "parquet"},
                    Rule{"test_datasets:\n  - type: alpaca\n", "CFG-MISSING", "test_datasets.0", 2, kError,
                         "path"},
                    Rule{"test_datasets:\n  - path: owner/t\n    shards: 4\n    shards_idx: 4\n", "CFG-RANGE",
                         "test_datasets.0.shards_idx", 4, kError, "4 shards"},
                    Rule{"test_datasets:\n  - path: owner/t\n    field_mesages: x\n", "KEY-UNKNOWN",
                         "test_datasets.0.field_mesages", 3, kError, "field_messages"},
                    Rule{"test_datasets:\n  - path: owner/t\n    prompt_style: chat\n", "KEY-UNKNOWN",
                         "test_datasets.0.prompt_style", 3, kWarning, "axolotl ignores it too"},
                    Rule{"strict: true\ntest_datasets:\n  - path: owner/t\n    prompt_style: chat\n",
                         "KEY-UNKNOWN", "test_datasets.0.prompt_style", 4, kError, "not a key of a dataset"},
                    Rule{"test_datasets:\n  - path: rows.jsonl\n", "CFG-DATASET-MISSING",
                         "test_datasets.0.path", 2, kWarning, "/files/rows.jsonl"},
                    Rule{"test_datasets: {path: a}\n", "CFG-TYPE", "test_datasets", 1, kError, "a mapping"},
                    Rule{"test_datasets: [7]\n", "CFG-TYPE", "test_datasets.0", 1, kError, "entry"}));

TEST(Config, MicroBatchAboveOneUnderPackingIsOnlyRingFlashAttentionsRule) {
    const ConfigReading reading = read_set(
        kBase + "sample_packing: true\ncontext_parallel_size: 2\nattn_implementation: flash_attention_2\n",
        "micro_batch_size", "4");
    const Diagnostic* found = said(reading, "CFG-PACKED-BATCH", "micro_batch_size");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->severity, Severity::Warning);
    EXPECT_THAT(found->hint, HasSubstr("gradient_accumulation_steps: 4"));
    EXPECT_FALSE(has_error(reading.diagnostics)) << all_said(reading);
}

TEST(Config, MaxStepsMakesNumEpochsIdle) {
    for (const char* said : {"num_epochs: -1\nmax_steps: 20\n", "max_steps: 20\nnum_epochs: 0\n"}) {
        const ConfigReading reading = read_more(said);
        EXPECT_FALSE(has_error(reading.diagnostics)) << all_said(reading);
        EXPECT_EQ(reading.config.num_epochs, Config().num_epochs);
    }
    EXPECT_NE(said(read_more("num_epochs: -1\nmax_steps: -1\n"), "CFG-RANGE", "num_epochs"), nullptr);
}

TEST(Config, AMissingDeepSpeedFileHasAFixThatKeepsItsStage) {
    const std::string text = kBase + "deepspeed: /there/deepspeed_stage2.json\n";
    const ConfigReading reading = read(text);
    const Diagnostic* found = said(reading, "CFG-DEEPSPEED", "deepspeed");
    ASSERT_NE(found, nullptr);
    ASSERT_EQ(found->fixes.size(), 2u);
    EXPECT_EQ(read(apply_fix(text, found->fixes[0])).config.zero_stage_asked, 2);
    EXPECT_EQ(said(read_more("deepspeed: my.json\n"), "CFG-DEEPSPEED")->fixes.size(), 1u);
}

TEST(Config, NamesWhatIsMissing) {
    const ConfigReading reading = read("seed: 1\n");
    EXPECT_NE(said(reading, "CFG-MISSING", "base_model"), nullptr);
    EXPECT_NE(said(reading, "CFG-MISSING", "datasets"), nullptr);
    EXPECT_THAT(said(reading, "CFG-MISSING", "learning_rate")->hint, HasSubstr("2e-5"));
    EXPECT_EQ(said(read("seed: 1\ndataset_prepared_path: there\n"), "CFG-MISSING", "datasets"), nullptr);
}

TEST(Config, SaysWhereItsDefaultsDifferFromAxolotls) {
    const ConfigReading reading = read("base_model: a/b\ndatasets: [{path: a/b}]\nlearning_rate: 1\n");
    EXPECT_EQ(said(reading, "CFG-PRECISION")->severity, Severity::Info);
    EXPECT_EQ(said(reading, "CFG-WARMUP")->severity, Severity::Info);
    EXPECT_EQ(said(reading, "CFG-BATCH-KEYS")->severity, Severity::Warning);
    EXPECT_THAT(said(reading, "CFG-OUTPUT")->message, HasSubstr("/files/model-out"));
    EXPECT_FALSE(has_error(reading.diagnostics)) << all_said(reading);
}

TEST(Config, ABatchThatDoesNotDivideNamesTheNearestThatDoes) {
    const ConfigReading reading = read(
        "base_model: a/b\ndatasets: [{path: a/b}]\nlearning_rate: 1\nmicro_batch_size: 4\nbatch_size: 10\n");
    const Diagnostic* found = said(reading, "CFG-BATCH", "batch_size");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->line, 5);
    EXPECT_THAT(found->hint, HasSubstr("batch_size: 8 (gradient_accumulation_steps 2)"));
}

TEST(Config, ALongValueIsShownCutBetweenCharacters) {
    for (int shift = 0; shift < 3; ++shift) {
        std::string word(static_cast<std::size_t>(shift), 'x');
        for (int i = 0; i < 40; ++i) word += "…";
        const ConfigReading reading = read_more("weight_decay: " + word + "\n");
        EXPECT_NO_THROW(nlohmann::json(said(reading, "CFG-TYPE")->message).dump());
    }
}

TEST(Config, DiagnosticsAreOrderedByLine) {
    const ConfigReading reading = read("sequence_len: x\nseeed: 1\nnum_epochs: -1\nmicro_batch_size: y\n");
    int last = 0;
    for (const Diagnostic& diagnostic : reading.diagnostics) {
        if (diagnostic.line == 0) {
            last = std::numeric_limits<int>::max();
            continue;
        }
        EXPECT_GE(diagnostic.line, last) << all_said(reading);
        last = diagnostic.line;
    }
    EXPECT_EQ(reading.diagnostics.front().line, 1);
}

}  // namespace
}  // namespace ringmaster
