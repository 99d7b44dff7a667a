#include "engine/plan/time/simulate.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <random>
#include <set>
#include <sstream>

#include "engine/layout/layout.h"
#include "engine/layout/pair_counts.h"
#include "engine/plan/plan_request.h"
#include "engine/plan/time/step_time.h"
#include "engine/plan/time/timeline.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

const std::vector<std::string> kLayouts = {"batch_ring",  "batch_zigzag",  "batch_stripe", "varlen_llama3",
                                           "varlen_ring", "varlen_zigzag", "balanced"};

Speeds round_speeds() {
    Speeds speeds;
    speeds.flops = speeds.attention_forward = speeds.attention_backward = 1e12;
    speeds.memory = 1e15;
    speeds.inside_node = speeds.across_nodes = 1e18;
    return speeds;
}

Plan cpu_plan(const std::string& more, int ranks) {
    PlanRequest request;
    request.device = Device::Cpu;
    return plan_of(more, ranks, request);
}

double brute_force_cells(const Spans& queries, const Spans& keys, const AttentionMask& mask) {
    const auto document = [&](int64_t at) {
        return std::upper_bound(mask.documents.begin(), mask.documents.end(), at) - mask.documents.begin();
    };
    double cells = 0;
    for (const Span& query : queries)
        for (int64_t p = query.begin; p < query.end; p += query.step)
            for (const Span& key : keys)
                for (int64_t s = key.begin; s < key.end; s += key.step)
                    cells +=
                        s <= p && (mask.window == 0 || p - s < mask.window) && document(s) == document(p);
    return cells;
}

TEST(StepCosts, CellsAndKeysBetweenTwoRanksAreThoseCountedOneByOne) {
    for (const RingAttnFunc func : {RingAttnFunc::BatchRing, RingAttnFunc::BatchZigzag,
                                    RingAttnFunc::BatchStripe, RingAttnFunc::Balanced}) {
        for (const AttentionMask& mask :
             {AttentionMask{}, AttentionMask{{}, 1}, AttentionMask{{}, 7}, AttentionMask{{}, 20},
              AttentionMask{{3, 17, 40, 64}, 0}, AttentionMask{{30, 64}, 9}}) {
            const int64_t window = mask.window;
            const Layout layout = make_layout(func, 64, 4, 1, mask);
            for (const Spans& queries : layout.ranks) {
                for (const Spans& keys : layout.ranks) {
                    EXPECT_EQ(cells_between(queries, keys, mask), brute_force_cells(queries, keys, mask))
                        << to_string(func) << " window " << window;
                    EXPECT_LE(keys_between(queries, keys, mask), double(count_tokens(keys)));
                    // Keys in a stripe's gaps are counted too.
                    if (func == RingAttnFunc::BatchStripe && window > 0) continue;
                    EXPECT_EQ(keys_between(queries, keys, mask) == 0,
                              brute_force_cells(queries, keys, mask) == 0)
                        << to_string(func) << " window " << window;
                }
            }
        }
    }
}

TEST(StepCosts, HopsTogetherAreExactlyARanksWork) {
    for (const std::string& layout : kLayouts) {
        for (const int ranks : {2, 8, 128}) {
            const Plan plan =
                cpu_plan("sequence_len: 65536\ncontext_parallel_size: " + std::to_string(ranks) +
                             "\nring_attn_func: " + layout + "\n",
                         ranks);
            ASSERT_TRUE(plan.time) << said(plan);
            const StepCosts costs = step_costs(plan, round_speeds());
            const std::vector<int64_t> work = work_of_ranks(plan);
            for (const ColumnCosts& column : costs.columns) {
                double forward_s = 0;
                for (const HopCosts& hop : column.hops) forward_s += hop.forward_s;
                const double cells = double(work[static_cast<size_t>(column.ring_rank)]);
                EXPECT_NEAR(forward_s, 4 * cells * 4096 / 1e12, 1e-9 * forward_s) << layout << " " << ranks;
            }
        }
    }
}

/// Returns the bytes that a zigzag ring of 8 GPUs with 8,192 tokens each, 32 heads of 128 and 8 key/value
/// heads in bfloat16 moves for work other than attention itself.
double joined_bytes(const std::string& more) {
    PlanRequest request;
    request.device = Device::Cuda;
    const Plan plan =
        plan_text(config_text("sequence_len: 65536\ncontext_parallel_size: 8\nbf16: true\n" + more,
                              "meta-llama/Llama-3.1-8B"),
                  8, request);
    EXPECT_TRUE(plan.ok()) << said(plan);
    Speeds speeds = round_speeds();
    speeds.memory = 1;
    speeds.flops = speeds.attention_forward = speeds.attention_backward = 1e30;
    double bytes = 0;
    for (const ColumnCosts& column : step_costs(plan, speeds).columns) {
        for (const HopCosts& hop : column.hops) bytes += hop.forward_s + hop.backward_s;
    }
    return bytes;
}

TEST(StepCosts, AGpusRingPaysForTheBytesThatJoiningMoves) {
    // All queries of a rank see its keys and those of an earlier rank; half of the queries see those of a
    // later rank. Over 8 ranks, this makes 36 + 28 / 2 times a rank's queries. They are read in 2 bytes as
    // parts of the output, and as many keys as parts of their gradients. Each of the 8 outputs is written in
    // 2 bytes and needs no sum, because 8 parts are joined at once. The gradient of queries has 9 parts,
    // because half of a rank's own heads come last. Its sum, in 4 bytes, is written after 8 parts and read
    // with the ninth. The gradients of keys have 9 parts too, but their sum is the result: it is written, and
    // half of it is read and written again.
    const double Q = 8192.0 * 32 * 128, K = 8192.0 * 8 * 128, seen = 36 + 28 / 2.0;
    const double out = 2 * (seen + 8) * Q, dq = out + 8 * 8 * Q;
    const double keys = 2 * (2 * seen + 8 * (4 + 8 / 2)) * K;
    EXPECT_NEAR(joined_bytes("ring_attn_func: batch_zigzag\n") / (out + dq + keys), 1, 1e-3);
    EXPECT_LT(joined_bytes("ulysses_size: 8\n"), 1) << "one call computes all";
}

// A score is 4 bytes. In the forward pass, the product writes it, tanh reads and writes it, and the maximum
// reads it. The subtraction and the exponential read and write it, the sum reads it, and it is rounded to 2
// bytes, which the next product reads. In the backward pass, it is written, passes tanh, the subtraction and
// the exponential, is rounded, and is read by a product. The gradient of probabilities is written, then read
// and written by a subtraction, a multiplication and the cap's slope, each with another operand. It is then
// rounded and read by two products. Blocks of 16 heads have 512 queries and 1,024 keys; half of each query's
// last block is hidden.
TEST(StepCosts, BlocksOfScoresPayForTheirPassesOverMemory) {
    constexpr double kTokens = 65536, kHeads = 16, kHeadDim = 256;
    PlanRequest request;
    request.device = Device::Cuda;
    const Plan plan = plan_text(config_text("sequence_len: 65536\n", "google/gemma-2-9b"), 1, request);
    ASSERT_TRUE(plan.ok()) << said(plan);
    Speeds speeds = round_speeds();
    speeds.memory = 1;
    speeds.flops = 1e30;
    // These costs depend on the other speeds only.
    speeds.attention_forward = speeds.attention_backward = 1;
    const HopCosts hop = step_costs(plan, speeds).columns.at(0).hops.at(0);
    const double scores = kHeads * kTokens * (kTokens + 1) / 2 * (1 + 512 / kTokens);
    const double forward = 4 + 8 + 4 + 8 + 8 + 4 + (4 + 2) + 2;
    const double backward = 4 + 8 + 8 + 8 + (4 + 2) + 2 + 4 + 8 + 12 + 12 + (4 + 2) + 2 * 2;
    // For each 1,024 or 512 · 2 scores, rows of D numbers are moved. The output's sums are scaled and added
    // to, and dq's sums are added to. Keys are read, and their gradients are written, then read and added.
    const double rows = kHeadDim / 1024;
    EXPECT_NEAR(hop.forward_s / (scores * (forward + rows * (8 + 8 + 2 * 2))), 1, 1e-3);
    EXPECT_NEAR(hop.backward_s / (scores * (backward + rows * (8 + 3 * 2 + 2 * (4 + 12)))), 1, 1e-3);
}

/// With infinitely fast links, ranks wait only for slower ranks, so a step takes as long as the slowest rank
/// works.
TEST(Simulate, WithEndlessLinksTheStepIsTheSlowestRanksWork) {
    for (const std::string& layout : kLayouts) {
        const Plan plan = cpu_plan(
            "sequence_len: 32768\ncontext_parallel_size: 8\ngradient_accumulation_steps: 3\n"
            "ring_attn_func: " +
                layout + "\n",
            8);
        ASSERT_TRUE(plan.time) << said(plan);
        const SimulatedStep step = simulate_step(step_costs(plan, round_speeds()));
        EXPECT_NEAR(step.time.step_s, step.time.compute_s, 1e-3 * step.time.step_s) << layout;
        // A causal sequence takes 6·N·s operations, and 12 for each cell, head dimension and layer, if
        // attention's backward pass takes twice as many as its forward pass (Narayanan et al. 2021,
        // appendix). Here the backward pass takes 2.5 times as many.
        const std::vector<int64_t> work = work_of_ranks(plan);
        const double cells = double(*std::max_element(work.begin(), work.end()));
        const double flops = 6 * active_parameters(*plan.model) * double(plan.sequence.per_rank) +
                             12 * cells * query_width(*plan.model) * double(plan.model->num_layers);
        EXPECT_GT(step.time.compute_s, 3 * flops / 1e12) << layout;
        EXPECT_LT(step.time.compute_s, 3 * flops / 1e12 * 3.5 / 3) << layout;
    }
}

TEST(Simulate, AStepIsNeverShorterThanItsPartsNorThanWithFasterLinks) {
    for (const std::string& layout : kLayouts) {
        for (const int ulysses : {1, 2, 8}) {
            const Plan plan = cpu_plan("sequence_len: 16384\ncontext_parallel_size: 8\nulysses_size: " +
                                           std::to_string(ulysses) + "\nring_attn_func: " + layout + "\n",
                                       16);
            ASSERT_TRUE(plan.ok()) << said(plan);
            double before = 0;
            for (const double link : {1e14, 1e12, 1e10, 1e8}) {
                Speeds speeds = round_speeds();
                speeds.inside_node = speeds.across_nodes = link;
                const SimulatedStep step = simulate_step(step_costs(plan, speeds));
                EXPECT_GE(step.time.step_s, before * (1 - 1e-9)) << layout << " " << ulysses << " " << link;
                EXPECT_DOUBLE_EQ(step.time.step_s, step.time.compute_s + step.time.exposed_comm_s);
                EXPECT_LE(step.time.exposed_comm_s, step.time.comm_s * (1 + 1e-9));
                for (const RankTime& rank : step.ranks)
                    EXPECT_NEAR(rank.compute_s + rank.exposed_s, step.time.step_s, 1e-6 * step.time.step_s);
                before = step.time.step_s;
            }
        }
    }
}

/// On any instruction set, a core does some tens of float32 operations per nanosecond, and at least half as
/// many in bfloat16, which it may widen.
TEST(Speeds, AProcessorWithoutBfloat16IsNotAssumedToCrawl) {
    const Speeds whole = assumed_speeds(Device::Cpu, Precision::Float32, 2, 2);
    EXPECT_GT(whole.flops, 2e10);
    EXPECT_GT(whole.attention_backward, 2e10);
    const Speeds narrow = assumed_speeds(Device::Cpu, Precision::Bf16Mixed, 2, 2);
    EXPECT_GT(narrow.flops, whole.flops / 2);
    EXPECT_GE(narrow.attention_forward, whole.attention_forward);
}

/// Computed by hand: zigzag's hops are equal, so a hop's keys are hidden if they take no longer than a hop.
TEST(Simulate, KeysHideBehindAHopUntilTheLinkIsSlowerThanIt) {
    const Plan plan =
        cpu_plan("sequence_len: 65536\ncontext_parallel_size: 4\nring_attn_func: batch_zigzag\n", 4);
    Speeds speeds = round_speeds();
    const StepCosts endless = step_costs(plan, speeds);
    const HopCosts& hop = endless.columns[0].hops[1];
    const double bytes = 65536 / 4 * 2 * 8 * 128 * 2.0;  // a rank's keys and values, in bfloat16
    const auto attention_waits = [&](double link) {
        Speeds slow = speeds;
        slow.inside_node = link;
        StepCosts costs = step_costs(plan, slow);
        costs.embedding = costs.layer = costs.head = {};
        return simulate_step(costs).time.exposed_comm_s;
    };
    EXPECT_EQ(attention_waits(1.5 * 3 * bytes / hop.forward_s), 0);
    EXPECT_GT(attention_waits(0.5 * bytes / hop.forward_s), 0);
}

TEST(Simulate, GradientsHideBehindTheBackwardButForTheLastUnits) {
    const Plan plan = cpu_plan("sequence_len: 8192\n", 8);
    Speeds speeds = round_speeds();
    speeds.inside_node = 1e12;
    const StepCosts costs = step_costs(plan, speeds);
    const SimulatedStep step = simulate_step(costs);
    EXPECT_NEAR(step.time.exposed_comm_s, costs.layer.reduce_s + costs.embedding.reduce_s,
                1e-6 * step.time.step_s);
    // If the link is extremely slow, almost all transfers come after the first unit's computation.
    speeds.inside_node = 1e6;
    const StepCosts slow = step_costs(plan, speeds);
    const double all =
        slow.embedding.reduce_s + double(slow.layers) * slow.layer.reduce_s + slow.head.reduce_s;
    EXPECT_NEAR(simulate_step(slow).time.step_s / all, 1, 0.01);
}

TEST(Simulate, ShardedStatesGatherAheadAndReduceAsTheyCome) {
    const std::string fsdp = "sequence_len: 8192\ngradient_checkpointing: true\nfsdp_version: 2\n";
    Speeds speeds = round_speeds();
    speeds.inside_node = 3e10;
    const Plan whole = cpu_plan("sequence_len: 8192\ngradient_checkpointing: true\n", 8);
    const Plan sharded = cpu_plan(fsdp + "fsdp_config:\n  reshard_after_forward: true\n", 8);
    ASSERT_EQ(sharded.zero_stage, 3) << said(sharded);
    const StepCosts costs = step_costs(sharded, speeds);
    EXPECT_GT(costs.layer.gather_s, 0);
    EXPECT_NEAR(costs.layer.reduce_s * 2, step_costs(whole, speeds).layer.reduce_s, 1e-9);
    // At stage 3, at least the first gathers and the last reduction are exposed.
    const SimulatedStep step = simulate_step(costs);
    EXPECT_GE(step.time.exposed_comm_s,
              costs.embedding.gather_s + costs.layer.gather_s + costs.embedding.reduce_s - 1e-9);
}

TEST(Simulate, WhatLiesInHostMemoryCostsWhatComputationDoesNotHide) {
    PlanRequest request;
    request.device = Device::Cuda;
    const std::string kept = "sequence_len: 65536\ngradient_checkpointing: true\n";
    const Plan plan = plan_of(kept + "activation_offloading: true\n", 1, request);
    Speeds speeds = round_speeds();
    const double kept_s = simulate_step(step_costs(plan_of(kept, 1, request), speeds)).time.step_s;
    const double bytes = 65536.0 * 4096 * 2;
    const StepCosts fast = step_costs(plan, (speeds.host_link = 1e12, speeds));
    EXPECT_NEAR(fast.checkpoint_copy_s, bytes / 1e12, 1e-12);
    // Nothing hides the copies of the last layer's checkpoint, which leaves and returns at once.
    EXPECT_NEAR(simulate_step(fast).time.step_s, kept_s + 2 * fast.checkpoint_copy_s, 1e-6 * kept_s);
    const StepCosts slow = step_costs(plan, (speeds.host_link = 1e6, speeds));
    EXPECT_NEAR(simulate_step(slow).time.step_s / (2 * 32 * bytes / 1e6), 1, 0.01);
}

TEST(StepCosts, TheCpuUpdatesWhatItsMemoryHolds) {
    PlanRequest request;
    request.device = Device::Cuda;
    const std::string text = "sequence_len: 8192\ndeepspeed:\n  zero_optimization:\n    stage: 1\n";
    Speeds speeds = round_speeds();
    speeds.host_link = 1e9;
    speeds.host_memory = 1e10;
    const Plan here = plan_of(text, 8, request);
    const Plan away = plan_of(text + "    offload_optimizer:\n      device: cpu\n", 8, request);
    const double eighth = double(parameter_count(*here.model)) / 8;
    const StepCosts costs = step_costs(away, speeds);
    const double update_bytes = 4 * 4 + 2 * 2 * 4;
    EXPECT_NEAR(step_costs(here, speeds).update_s, update_bytes * eighth / speeds.memory, 1e-3);
    EXPECT_NEAR(costs.update_s, update_bytes * eighth / 1e10 + 2 * eighth / 1e9, 1e-3) << "and new weights";
    const double layer = double(unit_sizes(*away.model).layer);
    EXPECT_NEAR(costs.layer.leave_s, 4 * layer / 8 / 1e9, 1e-6);
    EXPECT_EQ(costs.layer.fetch_s, 0);
}

TEST(Simulate, WeightsFromTheHostCostWhatComputationDoesNotHide) {
    PlanRequest request;
    request.device = Device::Cuda;
    const std::string text = "sequence_len: 65536\ngradient_checkpointing: true\n";
    const Plan plan = plan_of(text + "fsdp_config: {offload_params: true}\n", 1, request);
    Speeds speeds = round_speeds();
    speeds.host_memory = speeds.memory;
    const double kept_s = simulate_step(step_costs(plan_of(text, 1, request), speeds)).time.step_s;
    speeds.host_link = 1e13;
    const StepCosts fast = step_costs(plan, speeds);
    const double layer = double(unit_sizes(*plan.model).layer);
    EXPECT_NEAR(fast.layer.fetch_s, 2 * layer / 1e13, 1e-9);
    // Nothing hides the first and last units' copies.
    const double exposed = simulate_step(fast).time.step_s - kept_s;
    EXPECT_GE(exposed, fast.embedding.fetch_s + fast.layer.fetch_s);
    EXPECT_LT(exposed, 2 * (fast.embedding.fetch_s + fast.embedding.leave_s + fast.layer.fetch_s));
    speeds.host_link = 1e5;
    const StepCosts slow = step_costs(plan, speeds);
    double copies_s = 0;
    for (const UnitCosts& unit : {slow.embedding, slow.head}) copies_s += unit.fetch_s + unit.leave_s;
    copies_s += 32 * (2 * slow.layer.fetch_s + slow.layer.leave_s);
    EXPECT_NEAR(simulate_step(slow).time.step_s / copies_s, 1, 0.05);
}

TEST(Simulate, FewColumnsStandForManyRanks) {
    for (const std::string& layout : kLayouts) {
        const auto time_on = [&](int ranks) {
            Speeds speeds = round_speeds();
            speeds.inside_node = 1e13;
            const Plan plan = cpu_plan("sequence_len: " + std::to_string(ranks * 4096) +
                                           "\ncontext_parallel_size: " + std::to_string(ranks) +
                                           "\nring_attn_func: " + layout + "\n",
                                       ranks);
            const SimulatedStep step = simulate_step(step_costs(plan, speeds));
            return step.time.step_s / double(ranks);
        };
        // With twice the ranks and tokens, a rank's attention doubles and the rest stays the same.
        EXPECT_NEAR(time_on(256) / time_on(64), 1, 0.35) << layout;
        EXPECT_NEAR(time_on(65) / time_on(64), 1, 0.03) << layout;
    }
}

TEST(Simulate, MicroBatchesAreAsManyTimesTheWork) {
    const auto plan = [](int accumulation) {
        return cpu_plan("sequence_len: 8192\ncontext_parallel_size: 2\ngradient_accumulation_steps: " +
                            std::to_string(accumulation) + "\n",
                        4);
    };
    const auto step_s = [&](int accumulation) {
        return simulate_step(step_costs(plan(accumulation), round_speeds())).time.compute_s;
    };
    EXPECT_NEAR(step_s(5) - step_s(4), step_s(2) - step_s(1), 1e-9 * step_s(5));
}

// ------------------------------------------------------------------------------------------ the timeline

struct Trace {
    nlohmann::json json;
    std::map<std::pair<int, int>, std::vector<nlohmann::json>> rows;  // events by pid and tid
    std::map<std::pair<int, int>, std::string> names;
};

Trace trace_of(const Plan& plan, const PlanRequest& request) {
    std::ostringstream text;
    write_timeline(text, request, plan);
    Trace trace;
    trace.json = nlohmann::json::parse(text.str());
    for (const nlohmann::json& event : trace.json.at("traceEvents")) {
        const std::pair<int, int> row = {event.at("pid"), event.at("tid")};
        if (event.at("ph") == "X") trace.rows[row].push_back(event);
        if (event.at("name") == "thread_name") trace.names[row] = event.at("args").at("name");
    }
    return trace;
}

TEST(Timeline, ShowsEveryRankLayerAndHopWithoutOverlap) {
    PlanRequest request;
    request.device = Device::Cpu;
    request.nodes = 2;
    const Plan plan = plan_of(
        "sequence_len: 8192\ncontext_parallel_size: 4\nring_attn_func: batch_zigzag\n"
        "gradient_checkpointing: true\n",
        8, request);
    const Trace trace = trace_of(plan, request);
    EXPECT_EQ(trace.names.size(), 8U * 3);
    std::set<int> nodes;
    for (const auto& [row, name] : trace.names) nodes.insert(row.first);
    EXPECT_EQ(nodes.size(), 2U);
    for (const auto& [row, events] : trace.rows) {
        double until = 0;
        for (const nlohmann::json& event : events) {
            EXPECT_GE(event.at("ts").get<double>(), until - 0.01) << trace.names.at(row) << " " << event;
            until = std::max(until, event.at("ts").get<double>() + event.at("dur").get<double>());
        }
    }
    std::set<std::string> names;
    for (const nlohmann::json& event : trace.rows.at({1, 5 * 4})) names.insert(event.at("name"));
    for (const char* name : {"layer 0 hop 0 forward", "layer 31 hop 3 forward", "layer 7 hop 2 recomputed",
                             "layer 7 hop 2 backward", "head forward and backward", "update"})
        EXPECT_TRUE(names.count(name)) << name;
    EXPECT_EQ(trace.json.at("otherData").at("basis"), "assumed");
    EXPECT_EQ(trace.json.at("otherData").at("shown"), "all 8 ranks");
}

TEST(Timeline, EndsWhenThePlanSaysAndComputesWhatItSays) {
    PlanRequest request;
    request.device = Device::Cpu;
    const Plan plan = plan_of("sequence_len: 8192\ncontext_parallel_size: 4\n", 4, request);
    const Trace trace = trace_of(plan, request);
    double end = 0, busiest = 0;
    for (const auto& [row, events] : trace.rows) {
        double busy = 0;
        for (const nlohmann::json& event : events) {
            end = std::max(end, event.at("ts").get<double>() + event.at("dur").get<double>());
            busy += event.at("dur").get<double>();
        }
        if (trace.names.at(row).ends_with("compute")) busiest = std::max(busiest, busy);
    }
    EXPECT_NEAR(end / 1e6, plan.time->step_s, 0.02 * plan.time->step_s);
    EXPECT_NEAR(busiest / 1e6, plan.time->compute_s, 1e-4 * plan.time->compute_s);
}

TEST(Timeline, ManyRanksAreASelectionThatIsSaid) {
    PlanRequest request;
    request.device = Device::Cpu;
    const Plan plan = plan_of("sequence_len: 1048576\ncontext_parallel_size: 128\n", 1024, request);
    EXPECT_EQ(timeline_ranks(plan).size(), 32U);
    EXPECT_THAT(timeline_selection(plan), testing::HasSubstr("32 of 1,024 ranks"));
    EXPECT_EQ(trace_of(plan, request).names.size(), 32U * 3);
    EXPECT_EQ(timeline_ranks(plan_of("sequence_len: 8192\n", 64, request)).size(), 64U);
}

}  // namespace
}  // namespace ringmaster
