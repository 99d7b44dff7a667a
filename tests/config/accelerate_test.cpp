#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/config/precision.h"
#include "tests/config/reading.h"

namespace ringmaster {
namespace {

using testing::HasSubstr;

/// Holds the file that accelerate's guide to sequence parallelism shows for 2 GPUs.
const std::string kGuide =
    "distributed_type: DEEPSPEED\n"
    "deepspeed_config:\n"
    "  deepspeed_config_file: path/to/ds_config.json\n"
    "machine_rank: 0\n"
    "num_machines: 1\n"
    "num_processes: 2\n"
    "parallelism_config:\n"
    "  parallelism_config_dp_replicate_size: 1\n"
    "  parallelism_config_dp_shard_size: 1 # Must satisfy: 1 × 1 × 2 = 2 num_processes\n"
    "  parallelism_config_sp_size: 2\n"
    "  parallelism_config_sp_backend: deepspeed\n"
    "  parallelism_config_sp_seq_length_is_variable: true\n"
    "  parallelism_config_sp_attn_implementation: sdpa\n";

std::string file_of(const std::string& sizes, const std::string& rest = "num_processes: 4\n") {
    return "distributed_type: MULTI_GPU\n" + rest + "parallelism_config:\n" + sizes;
}

ConfigReading read_with_accelerate(const std::string& axolotl, const std::string& accelerate,
                                   ReadOptions options = {}) {
    const TemporaryFolder folder;
    options.accelerate_file = folder.write("accelerate.yaml", accelerate);
    return read(axolotl, options);
}

TEST(Accelerate, TheGuidesFilePlansTwoRanksOfAllToAll) {
    const ConfigReading reading = read(kGuide);
    EXPECT_TRUE(reading.readable);
    EXPECT_FALSE(has_error(reading.diagnostics)) << all_said(reading);
    EXPECT_TRUE(reading.config.accelerate_only);
    EXPECT_EQ(reading.config.ranks, 2);
    EXPECT_EQ(reading.config.nodes, 1);
    EXPECT_EQ(reading.config.context_parallel_size, 2);
    EXPECT_EQ(reading.config.ulysses_size, 2);
    EXPECT_EQ(reading.config.dp_shard_size, 1);
    EXPECT_EQ(reading.config.attn_implementation, "sdpa");
    EXPECT_EQ(reading.config.padding.fixed_length, std::nullopt);
    EXPECT_EQ(said(reading, "ACC-DEEPSPEED")->severity, Severity::Warning);
    EXPECT_EQ(said(reading, "ACC-DEEPSPEED")->line, 3);
    EXPECT_THAT(said(reading, "ACC-PLAN-ONLY")->message, HasSubstr("base_model, datasets, sequence_len"));
    EXPECT_EQ(list_of(reading, "parallelism_config"), "used");
    EXPECT_EQ(list_of(reading, "machine_rank"), "no_effect");
    EXPECT_EQ(list_of(reading, "context_parallel_size"), "") << "it stands in no file";
}

TEST(Accelerate, RingIsContextParallelWithoutUlysses) {
    const ConfigReading reading = read(file_of("  parallelism_config_cp_size: 4\n"));
    EXPECT_EQ(reading.config.context_parallel_size, 4);
    EXPECT_EQ(reading.config.ulysses_size, 1);
    const ConfigReading bare = read(file_of("  cp_size: 4\n"));
    EXPECT_EQ(bare.config.context_parallel_size, 4) << "without the long prefix";
}

TEST(Accelerate, RingAndAllToAllExcludeEachOther) {
    const ConfigReading reading =
        read(file_of("  parallelism_config_cp_size: 2\n  parallelism_config_sp_size: 2\n"));
    const Diagnostic* found = said(reading, "ACC-EXCLUSIVE");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->severity, Severity::Error);
    EXPECT_EQ(found->line, 5);
    EXPECT_THAT(found->message, HasSubstr("mutually exclusive"));
    EXPECT_THAT(found->hint, HasSubstr("context_parallel_size: 4 with ulysses_size: 2"));
}

TEST(Accelerate, SizesAreAtLeastOneAndTensorParallelismIsRefused) {
    EXPECT_EQ(said(read(file_of("  parallelism_config_sp_size: 0\n")), "CFG-RANGE")->line, 4);
    EXPECT_EQ(said(read(file_of("  parallelism_config_tp_size: 2\n")), "KEY-UNSUPPORTED")->line, 4);
    EXPECT_FALSE(has_error(read(file_of("  parallelism_config_tp_size: 1\n")).diagnostics));
    EXPECT_EQ(said(read(file_of("  parallelism_config_sp_sise: 2\n")), "KEY-UNKNOWN")->line, 4);
    EXPECT_THAT(
        said(read(file_of("  cp_size: 1\n", "num_proceses: 2\n")), "KEY-UNKNOWN", "num_proceses")->hint,
        HasSubstr("num_processes"));
}

TEST(Accelerate, KeysOfOlderReleasesHaveNoEffect) {
    const ConfigReading reading =
        read(file_of("  cp_size: 1\n", "ipex_config: {ipex: true}\nxpu_config: {}\n"));
    EXPECT_FALSE(has_error(reading.diagnostics)) << all_said(reading);
    EXPECT_EQ(list_of(reading, "ipex_config"), "no_effect");
}

TEST(Accelerate, AFixedLengthMustDivideAndIsKept) {
    const auto fixed = [](const std::string& length, const std::string& variable) {
        return read(file_of("  parallelism_config_sp_size: 4\n  parallelism_config_sp_seq_length: " + length +
                            "\n  parallelism_config_sp_seq_length_is_variable: " + variable + "\n"));
    };
    EXPECT_EQ(fixed("256", "false").config.padding.fixed_length, 256);
    EXPECT_EQ(fixed("256", "false").config.sequence_len, 256);
    EXPECT_EQ(fixed("256", "true").config.padding.fixed_length, std::nullopt);
    const ConfigReading odd = fixed("255", "false");
    ASSERT_NE(said(odd, "ACC-SEQ-LENGTH"), nullptr);
    EXPECT_EQ(said(odd, "ACC-SEQ-LENGTH")->line, 5);
    EXPECT_THAT(said(odd, "ACC-SEQ-LENGTH")->hint, HasSubstr("252 or 256"));
    EXPECT_NE(said(fixed("", "false"), "ACC-SEQ-LENGTH"), nullptr) << "none given";
}

TEST(Accelerate, QuotedBooleansAreReadAsTheyAreMeant) {
    for (const char* no : {"false", "'false'", "\"False\"", "'no'", "no", "0", "FALSE"}) {
        const ConfigReading reading =
            read(file_of("  parallelism_config_sp_size: 2\n  parallelism_config_sp_seq_length: 64\n"
                         "  parallelism_config_sp_seq_length_is_variable: " +
                         std::string(no) + "\n"));
        EXPECT_EQ(reading.config.padding.fixed_length, 64) << no;
    }
}

TEST(Accelerate, RowsMustFitIntoTheFixedLength) {
    const std::string accelerate = file_of(
        "  parallelism_config_sp_size: 2\n  parallelism_config_sp_seq_length: 64\n"
        "  parallelism_config_sp_seq_length_is_variable: false\n");
    const ConfigReading reading = read_with_accelerate(kBase + "sequence_len: 100\n", accelerate);
    ASSERT_NE(said(reading, "ACC-SEQ-LENGTH"), nullptr);
    EXPECT_THAT(said(reading, "ACC-SEQ-LENGTH")->hint, HasSubstr("sequence_len: 64"));
    EXPECT_EQ(said(read_with_accelerate(kBase + "sequence_len: 60\n", accelerate), "ACC-SEQ-LENGTH"),
              nullptr);
}

TEST(Accelerate, OverridesTheFilesSizesAndSaysSo) {
    const ConfigReading reading = read_with_accelerate(kBase + "sequence_parallel_degree: 4\n", kGuide);
    EXPECT_FALSE(has_error(reading.diagnostics)) << all_said(reading);
    EXPECT_FALSE(reading.config.accelerate_only);
    EXPECT_EQ(reading.config.context_parallel_size, 2);
    EXPECT_EQ(reading.config.ulysses_size, 2);
    EXPECT_EQ(reading.config.ranks, 2);
    const Diagnostic* found = said(reading, "ACC-OVERRIDES", "sequence_parallel_degree");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->severity, Severity::Info);
    EXPECT_EQ(found->line, kBaseLines + 1);
    EXPECT_THAT(found->message, HasSubstr("is 4 in the file, but"));
    EXPECT_THAT(found->message, HasSubstr("accelerate.yaml"));
}

TEST(Accelerate, NamesTheOtherFilesLineInTheMessage) {
    const ConfigReading reading = read_with_accelerate(kBase, file_of("  parallelism_config_sp_size: no\n"));
    const Diagnostic* found = said(reading, "CFG-TYPE");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->line, 0);
    EXPECT_THAT(found->message, HasSubstr("accelerate.yaml line 4"));
}

TEST(Accelerate, TheEnvironmentWinsOverTheFileAndSetOverBoth) {
    ReadOptions options;
    options.environment = {
        {"PARALLELISM_CONFIG_SP_SIZE", "4"}, {"PARALLELISM_CONFIG_CP_SIZE", ""}, {"PATH", "/bin"}};
    const ConfigReading reading = read_with_accelerate(kBase, kGuide, options);
    EXPECT_EQ(reading.config.context_parallel_size, 4);
    EXPECT_EQ(reading.config.ulysses_size, 4);
    EXPECT_THAT(said(reading, "ACC-ENV-OVERRIDES")->message, HasSubstr("the environment wins"));
    options.set = {{"context_parallel_size", "8"}, {"ulysses_size", "2"}};
    const ConfigReading set = read_with_accelerate(kBase, kGuide, options);
    EXPECT_EQ(set.config.context_parallel_size, 8);
    EXPECT_EQ(set.config.ulysses_size, 2);
    const ConfigReading alone =
        read_more("context_parallel_size: 2\n", {{}, "", {{"PARALLELISM_CONFIG_CP_SIZE", "4"}}, ""});
    EXPECT_EQ(alone.config.context_parallel_size, 4);
    EXPECT_THAT(said(alone, "ACC-OVERRIDES")->message, HasSubstr("the environment"));
    const ConfigReading odd = read_more(
        "", {{}, "", {{"PARALLELISM_CONFIG_SP_SIE", "4"}, {"PARALLELISM_CONFIG_CP_SIZE", "\xff"}}, ""});
    EXPECT_EQ(said(odd, "ACC-ENVIRONMENT")->severity, Severity::Warning);
    EXPECT_NE(said(odd, "CFG-TYPE"), nullptr);
}

TEST(Accelerate, SetReachesAFileGivenAlone) {
    const ConfigReading reading = read_set(kGuide, "parallelism_config.parallelism_config_sp_size", "4");
    EXPECT_EQ(reading.config.context_parallel_size, 4);
    EXPECT_EQ(read_set(kGuide, "num_processes", "8").config.ranks, 8);
    EXPECT_EQ(read_set(kGuide, "context_parallel_size", "8").config.context_parallel_size, 8);
    EXPECT_EQ(read_set(kGuide, "sequence_len", "4096").config.sequence_len, 4096);
}

TEST(Accelerate, RulesThatOnlyAccelerateNeedsAreWarnings) {
    const ConfigReading ring = read(file_of("  parallelism_config_cp_size: 4\n"));
    EXPECT_EQ(said(ring, "ACC-FSDP2")->severity, Severity::Warning);
    const ConfigReading fsdp2 = read(
        "distributed_type: FSDP\nfsdp_config: {fsdp_version: 2}\nnum_processes: 4\n"
        "parallelism_config: {parallelism_config_cp_size: 4}\n");
    EXPECT_EQ(said(fsdp2, "ACC-FSDP2"), nullptr);
    EXPECT_EQ(fsdp2.config.zero_stage_asked, 3);
    const ConfigReading replicas =
        read(file_of("  parallelism_config_cp_size: 2\n  parallelism_config_dp_replicate_size: 2\n"));
    EXPECT_EQ(said(replicas, "ACC-REPLICAS")->severity, Severity::Warning);
    const ConfigReading all_to_all = read(file_of("  parallelism_config_sp_size: 2\n"));
    EXPECT_EQ(said(all_to_all, "ACC-DEEPSPEED")->severity, Severity::Warning);
}

TEST(Accelerate, SaysWhereItsGuideContradictsItself) {
    const ConfigReading reading = read(
        "distributed_type: DEEPSPEED\nnum_processes: 8\nparallelism_config:\n"
        "  parallelism_config_dp_shard_size: 8\n  parallelism_config_sp_size: 8\n");
    const Diagnostic* found = said(reading, "ACC-PRODUCT");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->line, 4);
    EXPECT_THAT(found->message, HasSubstr("1 × 8 × 8 = 64"));
    EXPECT_EQ(reading.config.dp_shard_size, 8) << "whether the product fits is the plan's to say";
    EXPECT_EQ(said(read(kGuide), "ACC-PRODUCT"), nullptr);
}

TEST(Accelerate, StageAndPrecisionArriveWhereTheFileIsSilent) {
    const std::string zero3 =
        "distributed_type: DEEPSPEED\ndeepspeed_config: {zero_stage: 3, gradient_accumulation_steps: 4}\n"
        "mixed_precision: bf16\nnum_processes: 2\n";
    const ConfigReading alone = read(zero3);
    EXPECT_EQ(alone.config.zero_stage_asked, 3);
    EXPECT_EQ(alone.config.gradient_accumulation_steps, 4);
    EXPECT_EQ(alone.config.precision, Precision::Bf16Mixed);
    const ConfigReading beside =
        read_with_accelerate(kBase + "deepspeed: {zero_optimization: {stage: 1}}\n", zero3);
    EXPECT_EQ(beside.config.zero_stage_asked, 3) << "accelerate's wins";
    EXPECT_EQ(beside.config.gradient_accumulation_steps, 1) << "the file's stays";
    EXPECT_EQ(said(read("distributed_type: 'NO'\nmixed_precision: 'no'\n"), "KEY-UNSUPPORTED"), nullptr);
    EXPECT_EQ(read("distributed_type: no\nmixed_precision: fp16\n").config.precision, kFp16Mixed);
    EXPECT_NE(
        said(read("distributed_type: no\nmixed_precision: fp8\n"), "KEY-UNSUPPORTED", "mixed_precision"),
        nullptr);
}

TEST(Accelerate, ItsKeysInAnAxolotlFileAreUnknown) {
    const ConfigReading reading = read_more("num_processes: 2\n");
    EXPECT_FALSE(reading.config.accelerate_only);
    EXPECT_NE(said(reading, "KEY-UNKNOWN", "num_processes"), nullptr);
}

TEST(Accelerate, AMissingOrBrokenFileIsNotReadable) {
    ReadOptions options;
    options.accelerate_file = "/nowhere/accelerate.yaml";
    const ConfigReading missing = read_more("", options);
    EXPECT_FALSE(missing.readable);
    EXPECT_THAT(said(missing, "ACC-FILE")->message, HasSubstr("/nowhere/accelerate.yaml"));
    const ConfigReading broken = read_with_accelerate(kBase, "a: [");
    EXPECT_FALSE(broken.readable);
    EXPECT_THAT(said(broken, "YAML-SYNTAX")->message, HasSubstr("accelerate.yaml line"));
}

}  // namespace
}  // namespace ringmaster
