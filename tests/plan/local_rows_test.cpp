#include "engine/layout/local_rows.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/plan/plan_request.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class LocalRowsTest : public testing::Test {
  protected:
    void SetUp() override {
        dir_ = fs::temp_directory_path() / ("ringmaster-rows-" + std::to_string(::getpid()));
        fs::create_directories(dir_);
    }
    void TearDown() override { fs::remove_all(dir_); }

    std::string write(const std::string& name, const std::string& text) const {
        std::ofstream(dir_ / name) << text;
        return (dir_ / name).string();
    }
    /// Returns the number of rows of a file, or -1.
    int64_t count(const std::string& name, const std::string& text, const json& more = {}) const {
        Config config;
        json entry = {{"path", write(name, text)}, {"type", ""}};
        if (more.is_object()) entry.update(more);
        config.datasets.push_back(entry);
        const auto rows = count_local_rows(config);
        return rows ? rows->rows : -1;
    }

    fs::path dir_;
};

TEST_F(LocalRowsTest, LinesThatHoldSomethingAreRows) {
    EXPECT_EQ(count("a.jsonl", "{}\n{}\n"), 2);
    EXPECT_EQ(count("a.jsonl", "{}\n\n  \r\n{}"), 2)
        << "an empty line is none, a last one without newline is one";
    EXPECT_EQ(count("a.jsonl", ""), 0);
    EXPECT_EQ(count("a.json", "{\"a\": 1}\n{\"a\": 2}\n"), 2);
}

TEST_F(LocalRowsTest, ElementsOfAnArrayAreRows) {
    EXPECT_EQ(count("a.json", "[]"), 0);
    EXPECT_EQ(count("a.json", " \n[ {\"a\": [1, 2, {\"b\": 3}]},\n {\"t\": \"] , [ \\\" {\"} ]"), 2);
    EXPECT_EQ(count("a.json", "[1, \"two\", null]"), 3);
}

TEST_F(LocalRowsTest, OtherKindsOfDataAreNotCounted) {
    EXPECT_EQ(count("a.parquet", "x"), -1);
    EXPECT_EQ(count("a.data", "{}\n"), -1);
    EXPECT_EQ(count("a.data", "{}\n", {{"ds_type", "json"}}), 1);
    EXPECT_EQ(count("a.jsonl", "{}\n", {{"split", "train[:10%]"}}), -1);
    EXPECT_EQ(count("a.jsonl", "{}\n", {{"type", "completion"}}), -1) << "a long text is several rows";
    Config config;
    config.datasets.push_back({{"path", "someone/rows"}});
    EXPECT_FALSE(count_local_rows(config));
    config.datasets = json::array({{{"path", (dir_ / "absent.jsonl").string()}}});
    EXPECT_FALSE(count_local_rows(config));
    config.datasets = json::array({{{"path", dir_.string()}, {"ds_type", "json"}}});
    EXPECT_FALSE(count_local_rows(config)) << "a folder";
}

TEST_F(LocalRowsTest, DataFilesAreCountedTogether) {
    Config config;
    config.datasets.push_back(
        {{"path", "json"}, {"data_files", {write("a.jsonl", "{}\n{}\n"), write("b.jsonl", "{}\n")}}});
    EXPECT_EQ(count_local_rows(config)->rows, 3);
}

TEST_F(LocalRowsTest, TheValidationShareIsTakenAsTokenizingDoes) {
    Config config;
    EXPECT_EQ(training_rows(config, 101), 101);
    config.val_set_size = 0.05;
    EXPECT_EQ(training_rows(config, 101), 95) << "6 of 101, rounded up";
    config.val_set_size = 40;
    EXPECT_EQ(training_rows(config, 101), 61);
    EXPECT_EQ(training_rows(config, 40), 0);
}

TEST_F(LocalRowsTest, StepsFollowFromRowsEpochsAndTheGlobalBatch) {
    std::string lines;
    for (int i = 0; i < 101; ++i) lines += "{}\n";
    const std::string data = write("rows.jsonl", lines);
    const auto plan = [&](const std::string& more, PlanRequest request = {}) {
        return plan_text("base_model: Qwen/Qwen2.5-0.5B\ndatasets:\n  - path: " + data +
                             "\n    ds_type: json\n    type:\noutput_dir: /tmp/out\nmicro_batch_size: 2\n"
                             "gradient_accumulation_steps: 3\nsequence_len: 64\nlearning_rate: 0.001\n" +
                             more,
                         2, request);
    };
    const Plan two = plan("num_epochs: 2.5\n");
    EXPECT_TRUE(two.ok()) << said(two);
    EXPECT_EQ(two.batch.rows, 101);
    EXPECT_EQ(two.batch.global, 12);
    EXPECT_EQ(two.batch.tokens_per_step, 768);
    EXPECT_EQ(two.batch.steps_per_epoch, 9) << "the last rows are a smaller step";
    EXPECT_EQ(two.batch.total_steps, 23);
    EXPECT_TRUE(find(two, "DATA-ROWS-ESTIMATED"));
    EXPECT_EQ(plan("max_steps: 7\nnum_epochs: 2\n").batch.total_steps, 7);
    PlanRequest prepared;
    prepared.rows = 12;
    EXPECT_EQ(plan("", prepared).batch.steps_per_epoch, 1);
    EXPECT_FALSE(find(plan("", prepared), "DATA-ROWS-ESTIMATED"));
    prepared.rows = 0;
    EXPECT_TRUE(find(plan("", prepared), "DATA-EMPTY"));
    EXPECT_TRUE(find(plan("val_set_size: 500\n"), "DATA-EMPTY"));
    const std::string prompts = "rl: grpo\ntrl: {reward_funcs: [rewards.exact], max_completion_length: 8, ";
    const Plan groups = plan(prompts + "num_generations: 4}\n");
    EXPECT_EQ(groups.batch.global, 12) << "completions";
    EXPECT_EQ(groups.batch.steps_per_epoch, 34) << "3 prompts a step";
    EXPECT_TRUE(groups.ok()) << said(groups);
    const Plan broken = plan(prompts + "num_generations: 8}\n");
    ASSERT_TRUE(find(broken, "CFG-SAMPLING"));
    EXPECT_EQ(find(broken, "CFG-SAMPLING")->key, "trl.num_generations");
    EXPECT_EQ(find(broken, "CFG-SAMPLING")->fixes.at(0).edits.at(0).value, "2")
        << "2 rows × 2 ranks × 2 are a group of 8";
    const Plan coming = plan_text(
        "base_model: Qwen/Qwen2.5-0.5B\noutput_dir: /tmp/out\nmicro_batch_size: 2\nmax_steps: 4\n"
        "gradient_accumulation_steps: 3\nsequence_len: 64\nlearning_rate: 0.001\nrl: grpo\n"
        "trl: {rollout_folder: /in}\n",
        2);
    EXPECT_TRUE(coming.ok()) << said(coming);
    EXPECT_EQ(coming.batch.rows, 48) << "4 steps of 12 rows";
    EXPECT_EQ(coming.batch.steps_per_epoch, 4);
    EXPECT_EQ(coming.batch.total_steps, 4);
    ASSERT_TRUE(find(coming, "ROLLOUT-FOLDER"));
    EXPECT_NE(find(coming, "ROLLOUT-FOLDER")->message.find("the next 12 rows of the files in /in,"),
              std::string::npos);
    const std::string server = prompts + "num_generations: 4, use_vllm: true, vllm_mode: server";
    const auto message = [&](const std::string& keys) {
        const Plan served = plan(keys);
        EXPECT_TRUE(served.ok()) << said(served);
        return find(served, "CFG-SAMPLING") ? find(served, "CFG-SAMPLING")->message : "";
    };
    EXPECT_NE(message(server + "}\n").find("sequence_mask, with 3 as the cap"), std::string::npos)
        << message(server + "}\n");
    EXPECT_NE(message(server + ", vllm_importance_sampling_correction: false}\n").find("are not used"),
              std::string::npos);
    const Plan unsaved = plan(server +
                              "}\nreinit_weights: true\nadapter: lora\nlora_r: 8\nlora_alpha: 16\n"
                              "lora_target_modules: [q_proj]\n");
    ASSERT_TRUE(find(unsaved, "CFG-SAMPLING"));
    EXPECT_EQ(find(unsaved, "CFG-SAMPLING")->key, "reinit_weights") << "no file holds the base";
}

}  // namespace
}  // namespace ringmaster
