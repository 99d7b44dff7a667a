#include "engine/plan/measured.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/resolve/plan_json.h"
#include "engine/plan/speeds.h"
#include "engine/plan/time/step_time.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

constexpr double kGiB = 1 << 30;

Calibration calibration() {
    Calibration made;
    made.host = "here";
    made.device = "cpu";
    made.cores = 4;
    made.float32 = {400e9, 300e9, 200e9};
    made.bfloat16 = {800e9, 600e9, 500e9};
    made.memory = 20e9;
    made.link = 2e9;
    made.latency_s = 30e-6;
    made.measured_at = 1.7e9;
    return made;
}

PlanRequest on_cpu() {
    PlanRequest request;
    request.device = Device::Cpu;
    request.machine_cores = 4;
    return request;
}

const std::string kConfig = "sequence_len: 8192\nring_attn_func: batch_zigzag\ncontext_parallel_size: 2\n";

Measurement measured(const Plan& plan, double beyond_states, double slower) {
    Measurement made = measurement_for(plan);
    const RankMemory& rank = plan.memory->per_rank.front();
    made.states_bytes = double(rank.weights + rank.gradients + rank.optimizer);
    made.predicted_bytes = double(rank.total - rank.runtime);
    made.peak_bytes = made.states_bytes + beyond_states * (made.predicted_bytes - made.states_bytes);
    made.assumed_compute_s = plan.time->compute_s;
    made.compute_s = slower * plan.time->compute_s;
    made.exposed_comm_s = 0.5;
    made.comm_s = 0.75;
    made.step_s = made.compute_s + made.exposed_comm_s;
    made.measured_at = 1.7e9;
    return made;
}

TEST(Calibration, ItsFiguresMakeTheTimeAndAreNamed) {
    PlanRequest request = on_cpu();
    request.calibrations = {calibration()};
    const Plan plan = plan_of(kConfig, 2, request);
    EXPECT_TRUE(plan.time->measured);
    const SpeedsOfPlan found = speeds_of(request, plan);
    EXPECT_DOUBLE_EQ(found.speeds.flops, 400e9);  // half of the bfloat16 figure for all cores
    EXPECT_DOUBLE_EQ(found.speeds.attention_backward, 250e9);
    EXPECT_DOUBLE_EQ(found.speeds.inside_node, 2e9);
    ASSERT_TRUE(find(plan, "TIME-MEASURED"));
    EXPECT_THAT(find(plan, "TIME-MEASURED")->message,
                testing::HasSubstr("measured on here (cpu) on 2023-11-1"));
    EXPECT_FALSE(find(plan, "TIME-ASSUMED"));
    EXPECT_EQ(plan_to_json(plan)["time"]["basis"], "measured");
}

TEST(Calibration, IsNotUsedForOtherDevicesOrMachines) {
    PlanRequest request = on_cpu();
    request.calibrations = {calibration()};
    request.nodes = 2;
    EXPECT_TRUE(find(plan_of(kConfig, 2, request), "TIME-ASSUMED")) << "other nodes were not measured";
    request.nodes = 1;
    request.device = Device::Cuda;
    EXPECT_TRUE(find(plan_of(kConfig, 2, request), "TIME-ASSUMED")) << "a GPU was not measured";
    Calibration gpu = calibration();
    gpu.device = "NVIDIA H100";
    request.calibrations.push_back(gpu);
    EXPECT_TRUE(find(plan_of(kConfig, 2, request), "TIME-ASSUMED")) << "planned for GPUs that are not here";
    request.devices_seen = 2;
    EXPECT_TRUE(find(plan_of(kConfig, 2, request), "TIME-MEASURED"));
}

TEST(Calibration, WithoutALinkSeveralRanksStayAssumed) {
    PlanRequest request = on_cpu();
    Calibration alone = calibration();
    alone.link = alone.latency_s = std::nullopt;
    request.calibrations = {alone};
    const Plan plan = plan_of(kConfig, 2, request);
    EXPECT_FALSE(plan.time->measured);
    EXPECT_THAT(find(plan, "TIME-MEASURED")->message, testing::HasSubstr("the links' speed is assumed"));
    EXPECT_TRUE(plan_of("sequence_len: 8192\n", 1, request).time->measured);
}

TEST(Calibration, JsonGoesThereAndBackAndDamageIsNamed) {
    const nlohmann::json json = calibration_to_json(calibration());
    EXPECT_EQ(calibration_to_json(calibration_from_json(json, "x")), json);
    nlohmann::json damaged = json;
    damaged["memory_bytes_per_s"] = 0;
    EXPECT_THROW(calibration_from_json(damaged, "x"), Error);
    damaged.erase("link_latency_s");
    EXPECT_THROW(calibration_from_json(damaged, "x"), Error);
    const Measurement one = measured(plan_of(kConfig, 2, on_cpu()), 1.2, 2);
    EXPECT_EQ(measurement_to_json(measurement_from_json(measurement_to_json(one))), measurement_to_json(one));
}

TEST(Measured, TheVeryRunsFiguresReplaceTheEstimate) {
    PlanRequest request = on_cpu();
    const Plan before = plan_of(kConfig, 2, request);
    const Measurement run = measured(before, 1.1, 3);
    request.measurements = {run};
    const Plan after = plan_of(kConfig, 2, request);
    const RankMemory& rank = after.memory->per_rank.front();
    EXPECT_NEAR(double(rank.total - rank.runtime), run.peak_bytes, 16);
    EXPECT_EQ(after.memory->basis, MemoryBasis::Measured);
    EXPECT_EQ(plan_to_json(after)["memory"]["basis"], "measured");
    EXPECT_LT(rank.total_high - rank.total_low,
              0.6 * double(before.memory->per_rank[0].total_high - before.memory->per_rank[0].total_low));
    EXPECT_DOUBLE_EQ(after.time->step_s, run.step_s);
    EXPECT_TRUE(after.time->measured);
    EXPECT_TRUE(find(after, "MEM-MEASURED") && find(after, "TIME-MEASURED"));
}

TEST(Measured, AnotherLengthAndMeshAreRecalibrated) {
    PlanRequest request = on_cpu();
    const std::string longer =
        "sequence_len: 32768\nring_attn_func: batch_zigzag\ncontext_parallel_size: 4\n";
    const Plan cold = plan_of(longer, 4, request);
    request.measurements = {measured(plan_of(kConfig, 2, request), 1.25, 2)};
    const Plan warm = plan_of(longer, 4, request);
    const RankMemory &a = cold.memory->per_rank.front(), &b = warm.memory->per_rank.front();
    EXPECT_EQ(warm.memory->basis, MemoryBasis::Recalibrated);
    EXPECT_EQ(a.weights, b.weights);
    EXPECT_EQ(a.optimizer, b.optimizer);
    const auto beyond = [](const RankMemory& m) {
        return double(m.total - m.runtime - m.weights - m.gradients - m.optimizer);
    };
    EXPECT_NEAR(beyond(b) / beyond(a), 1.25, 1e-6);
    EXPECT_LT(double(b.total_high - b.total_low) / double(b.total),
              double(a.total_high - a.total_low) / double(a.total));
    EXPECT_NEAR(warm.time->compute_s / cold.time->compute_s, 2, 1e-9);
    EXPECT_FALSE(warm.time->measured) << "the links were not";
}

TEST(Measured, OtherOptionsModelsAndVersionsSayNothing) {
    PlanRequest request = on_cpu();
    Measurement run = measured(plan_of(kConfig, 2, request), 1.25, 2);
    request.measurements = {run};
    EXPECT_EQ(plan_of(kConfig + "gradient_checkpointing: true\n", 2, request).memory->basis,
              MemoryBasis::Formula);
    EXPECT_EQ(plan_text(config_text(kConfig, "meta-llama/Llama-3.2-1B"), 2, request).memory->basis,
              MemoryBasis::Formula);
    EXPECT_EQ(plan_of(kConfig + "bf16: false\n", 2, request).memory->basis, MemoryBasis::Formula);
    request.nodes = 2;
    EXPECT_EQ(plan_of(kConfig, 2, request).memory->basis, MemoryBasis::Formula);
    request.nodes = 1;
    run.version = "0.0.1";
    request.measurements = {run};
    EXPECT_EQ(plan_of(kConfig, 2, request).memory->basis, MemoryBasis::Formula);
}

TEST(Measured, TheNearestLengthCountsAndTheNewestOfEqualOnes) {
    PlanRequest request = on_cpu();
    const auto length = [](int64_t tokens) { return "sequence_len: " + std::to_string(tokens) + "\n"; };
    Measurement small = measured(plan_of(length(1024), 1, request), 1.1, 2);
    Measurement large = measured(plan_of(length(65536), 1, request), 1.3, 2);
    Measurement newer = large;
    newer.run = "another mesh";
    newer.measured_at += 10;
    newer.peak_bytes += kGiB;
    request.measurements = {small, newer, large};
    const Plan plan = plan_of(length(32768), 1, request);
    EXPECT_EQ(recalibration_of(request, plan)->from->peak_bytes, newer.peak_bytes);
    EXPECT_EQ(recalibration_of(request, plan_of(length(2048), 1, request))->from->length, 1024);
}

}  // namespace
}  // namespace ringmaster
