#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/plan/resolve/plan_json.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

using nlohmann::json;
using testing::HasSubstr;

std::vector<std::string> names(const json& object) {
    std::vector<std::string> all;
    for (const auto& [name, value] : object.items()) all.push_back(name);
    return all;
}

Plan example() {
    return plan_of(
        "context_parallel_size: 2\nring_attn_func: batch_zigzag\nsequence_len: 1001\nmax_steps: 5\n"
        "micro_batch_size: 1\ngradient_accumulation_steps: 2\n",
        4);
}

TEST(PlanJson, HasTheNamesOfTheContract) {
    const json plan = plan_to_json(example());
    EXPECT_THAT(names(plan),
                testing::IsSupersetOf({"ok", "verdict", "ranks", "nodes", "mesh", "zero_stage",
                                       "context_parallel", "batch", "sequence", "memory", "time",
                                       "diagnostics", "keys", "device", "config", "model", "data"}));
    EXPECT_THAT(names(plan["mesh"]),
                testing::UnorderedElementsAre("dp_replicate", "dp_shard", "ring", "ulysses", "expert"));
    EXPECT_THAT(names(plan["context_parallel"]),
                testing::UnorderedElementsAre("size", "valid_sizes", "layout", "heads_k_stride"));
    EXPECT_THAT(names(plan["batch"]),
                testing::IsSupersetOf({"micro", "accumulation", "global", "global_without_cp",
                                       "tokens_per_step", "steps_per_epoch", "total_steps"}));
    EXPECT_THAT(names(plan["sequence"]),
                testing::UnorderedElementsAre("length", "padded_length", "per_rank", "chunks"));
    EXPECT_THAT(names(plan["memory"]),
                testing::UnorderedElementsAre("device_bytes", "fits", "host_bytes", "host_capacity_bytes",
                                              "disk_bytes", "disk_capacity_bytes", "basis", "largest_tensors",
                                              "per_rank"));
    EXPECT_THAT(names(plan["memory"]["per_rank"][0]),
                testing::UnorderedElementsAre("rank", "weights", "gradients", "optimizer", "activations",
                                              "workspace", "logits", "communication", "runtime", "total",
                                              "total_low", "total_high", "host", "disk"));
    EXPECT_THAT(names(plan["time"]),
                testing::UnorderedElementsAre("step_s", "compute_s", "comm_s", "exposed_comm_s", "basis"));
    EXPECT_THAT(names(plan["diagnostics"][0]),
                testing::UnorderedElementsAre("severity", "code", "key", "line", "message", "hint",
                                              "parameters", "fixes"));
    EXPECT_EQ(plan["context_parallel"]["layout"], "batch_zigzag");
    EXPECT_EQ(plan["time"]["basis"], "assumed");
    EXPECT_EQ(plan["memory"]["per_rank"].size(), 4u);
    EXPECT_TRUE(plan["ok"].get<bool>());
    EXPECT_TRUE(plan["batch"]["steps_per_epoch"].is_null());
}

TEST(PlanJson, WhatIsUnknownIsNull) {
    const json unknown = plan_to_json(plan_text(config_text("", "someone/unheard-of"), 2));
    EXPECT_TRUE(unknown["memory"].is_null());
    EXPECT_TRUE(unknown["time"].is_null());
    EXPECT_TRUE(unknown["model"].is_null());
    EXPECT_TRUE(unknown["batch"]["total_steps"].is_null());
    const json accelerate =
        plan_to_json(plan_text("distributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: 2\n", 0));
    EXPECT_TRUE(accelerate["sequence"]["length"].is_null());
    EXPECT_TRUE(accelerate["sequence"]["per_rank"].is_null());
    EXPECT_TRUE(accelerate["batch"]["tokens_per_step"].is_null());
}

TEST(PlanJson, WritingAndReadingKeepsEverything) {
    Plan plan = example();
    plan.data = {"/run/tokens.safetensors", "", 12, 0};
    for (const Plan& each :
         {plan, plan_text(config_text("", "someone/unheard-of"), 2), plan_of("context_parallel_size: 3\n", 2),
          plan_text("distributed_type: MULTI_GPU\nnum_machines: 1\nnum_processes: 2\n", 0)}) {
        EXPECT_EQ(plan_to_json(plan_from_json(plan_to_json(each))), plan_to_json(each));
    }
}

TEST(PlanJson, AFileIsWrittenWholeAndReadBack) {
    const std::filesystem::path dir =
        std::filesystem::temp_directory_path() / ("ringmaster-plan-" + std::to_string(::getpid()));
    std::filesystem::create_directories(dir);
    const std::string path = (dir / "plan.json").string();
    const Plan plan = example();
    write_plan(path, plan);
    write_plan(path, plan);
    EXPECT_EQ(plan_to_json(read_plan(path)), plan_to_json(plan));
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir), {}), 1) << "nothing is left aside";

    EXPECT_THROW(write_plan((dir / "absent" / "plan.json").string(), plan), Error);
    const auto failure = [](const std::string& file) {
        try {
            read_plan(file);
        } catch (const Error& error) {
            EXPECT_EQ(error.where, file);
            return error.failure;
        }
        return Failure::Unreachable;
    };
    EXPECT_EQ(failure((dir / "absent.json").string()), Failure::Usage);
    EXPECT_EQ(failure(dir.string()), Failure::Usage);
    std::filesystem::resize_file(path, 200);
    EXPECT_EQ(failure(path), Failure::Refused);
    std::ofstream(path) << "[1, 2]";
    EXPECT_EQ(failure(path), Failure::Refused);
    std::filesystem::remove_all(dir);
}

/// Removes each member in turn, and gives each member another type in turn; expects an error that names it.
void damage(const json& whole, const json::json_pointer& at, int& refused) {
    const json& value = whole.at(at);
    if (!value.is_object()) return;
    for (const auto& [name, member] : value.items()) {
        if (at.empty() && name == "ok") continue;  // follows from the diagnostics
        for (const bool take_away : {true, false}) {
            if (take_away && (name == "expert" || name == "chunks")) continue;  // older plans lack it
            json damaged = whole;
            if (take_away) {
                damaged.at(at).erase(name);
            } else {
                damaged.at(at)[name] = member.is_boolean() ? json("text") : json(true);
            }
            try {
                plan_from_json(damaged);
                ADD_FAILURE() << at.to_string() << "/" << name << (take_away ? " away" : " mistyped")
                              << " was taken";
            } catch (const Error& error) {
                ++refused;
                EXPECT_EQ(error.failure, Failure::Refused);
                EXPECT_THAT(error.text(), HasSubstr(name));
            }
        }
        damage(whole, at / name, refused);
    }
}

TEST(PlanJson, EveryDamagedMemberIsRefusedByName) {
    json plan = plan_to_json(example());
    plan.erase("config");
    json whole = plan_to_json(example());
    for (const char* part :
         {"mesh", "context_parallel", "batch", "sequence", "shared_prompts", "time", "keys", "data"}) {
        int refused = 0;
        damage(whole, json::json_pointer(std::string("/") + part), refused);
        EXPECT_GT(refused, 5) << part;
    }
    for (const auto& [name, member] : whole.items()) {
        const bool is_computed =
            name == "ok" || name == "nccl" || name == "attention" || name == "received_tokens";
        if (is_computed) continue;               // computed from other fields
        if (name == "shared_prompts") continue;  // older plans lack it
        json damaged = whole;
        damaged.erase(name);
        EXPECT_THROW(plan_from_json(damaged), Error) << name;
    }
}

/// The error names the field and the fault, because a user sees only the file's name otherwise.
TEST(PlanJson, ADamagedFileIsRefusedWithTheFieldAndWhatToDo) {
    const std::filesystem::path file = std::filesystem::temp_directory_path() /
                                       ("ringmaster-damaged-" + std::to_string(::getpid()) + ".json");
    const auto refusal = [&](const char* member, const json& value) {
        json damaged = plan_to_json(example());
        damaged["config"][member] = value;
        std::ofstream(file) << damaged;
        try {
            read_plan(file.string());
        } catch (const Error& error) {
            EXPECT_EQ(error.failure, Failure::Refused);
            EXPECT_EQ(error.where, file.string());
            EXPECT_THAT(error.hint, HasSubstr("ringmaster prepare"));
            return std::string(error.what());
        }
        return std::string("taken");
    };
    EXPECT_THAT(refusal("policy", {{"loss", "grpo"}}), HasSubstr("config.policy.by_sequence"));
    EXPECT_THAT(refusal("policy", 1), HasSubstr("config.policy"));
    EXPECT_THAT(refusal("seed", "one"), HasSubstr("config.seed"));
    std::filesystem::remove(file);
}

TEST(PlanJson, SizesThatWouldDivideByZeroAreRefused) {
    json plan = plan_to_json(example());
    plan["mesh"]["ring"] = 0;
    EXPECT_THROW(plan_from_json(plan), Error);
    EXPECT_THROW(plan_from_json(json(nullptr)), Error);
    EXPECT_THROW(plan_from_json(json::array()), Error);
}

}  // namespace
}  // namespace ringmaster
