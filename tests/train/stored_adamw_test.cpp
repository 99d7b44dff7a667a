#include "engine/train/stored_adamw.h"

#include <ATen/ATen.h>

#include <chrono>
#include <cmath>
#include <filesystem>
#include <fstream>

#include "engine/plan/memory.h"
#include "tests/support/gpu.h"
#include "tests/support/ranks.h"
#include "tests/support/tiny_model.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;

/// Parameters of whole blocks, of a part of one, and below 4,096 elements; most slices cut a block.
ModelConfig ragged_model() {
    ModelConfig model = tiny_model();
    model.hidden_size = 96;
    model.intermediate_size = 50;
    model.head_dim = 24;
    model.vocab_size = 331;
    return model;
}

Config config_of(const std::string& optimizer) {
    Config config;
    config.optimizer = optimizer;
    config.weight_decay = 0.1;
    config.adam_beta2 = 0.95;
    return config;
}

/// Gradients of a step that depend on the parameter and the element alone.
void give_gradients(Parameters& parameters, int64_t step) {
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        const FlatRange own = parameters.own_elements(i);
        const at::Tensor all = at::arange(parameters.shapes()[i].size(), at::kDouble);
        const at::Tensor values = at::sin(all * (0.37 + 0.01 * static_cast<double>(i)) + static_cast<double>(step)) *
                                  at::exp(at::cos(all * 0.011) * 4 - 6);
        parameters.own_values(parameters.gradients(), i).copy_(values.narrow(0, own.begin, own.size()));
    }
}

std::string contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

fs::path folder(const std::string& name) {
    const fs::path made = fs::temp_directory_path() / ("ringmaster-states-" + name + std::to_string(getpid()));
    fs::create_directories(made);
    return made;
}

struct Outcome {
    std::string states, weights;
};

/// Steps 1 to `half` and then, from what was saved, the others.
Outcome trained(const Config& config, Precision precision, const Sharding& sharding, bool writes,
                const std::string& name, int64_t half, at::Device device = at::kCPU) {
    const fs::path dir = folder(name);
    const auto make = [&] { return Parameters(ragged_model(), precision, device, sharding); };
    Parameters before = make();
    before.initialize(ragged_model(), 3);
    const auto optimizer = make_optimizer(before, config);
    const auto step = [&](Parameters& parameters, Optimizer& with, int64_t at) {
        give_gradients(parameters, at);
        with.step(1e-3);
    };
    for (int64_t s = 1; s <= half; ++s) step(before, *optimizer, s);
    optimizer->save(dir / "half", writes);
    save_weights(before, dir.string(), before.master().values.scalar_type(), writes);
    if (Groups* groups = before.sharding_groups()) groups->world().barrier();
    Parameters after = make();
    after.load(dir.string());
    const auto resumed = make_optimizer(after, config);
    resumed->load(dir / "half", half);
    for (int64_t s = half + 1; s <= 5; ++s) step(after, *resumed, s);
    if (Groups* groups = after.sharding_groups()) groups->world().barrier();
    resumed->save(dir / "states", writes);
    save_weights(after, dir.string(), after.master().values.scalar_type(), writes);
    if (!writes) return {};
    return {contents(dir / "states"), contents(dir / "model.safetensors")};
}

class StoredAdamWOn : public testing::TestWithParam<std::tuple<const char*, Precision>> {};

TEST_P(StoredAdamWOn, EveryMeshAndStageAndAfterAResumeItIsTheSameToTheLastBit) {
    const auto& [optimizer, precision] = GetParam();
    const Config config = config_of(optimizer);
    const Outcome whole = trained(config, precision, {}, true, "whole", 5);
    const Outcome resumed = trained(config, precision, {}, true, "resumed", 2);
    EXPECT_EQ(whole.states, resumed.states);
    EXPECT_EQ(whole.weights, resumed.weights);
    for (const int shards : {2, 3, 5}) {
        for (const int stage : {1, 2, 3}) {
            Outcome sharded;
            Mesh mesh;
            mesh.dp_shard = shards;
            run_ranks(mesh, [&](int rank, Groups& groups) {
                const Outcome of_rank = trained(config, precision, {stage, groups}, rank == 0, "sharded", 2);
                if (rank == 0) sharded = of_rank;
            });
            EXPECT_TRUE(whole.states == sharded.states) << shards << " shards, stage " << stage;
            EXPECT_TRUE(whole.weights == sharded.weights) << shards << " shards, stage " << stage;
        }
    }
}

INSTANTIATE_TEST_SUITE_P(Optimizers, StoredAdamWOn,
                         testing::Combine(testing::Values("adamw_bnb_8bit", "paged_adamw_32bit",
                                                          "adamw_torch_8bit", "adamw_torch_4bit"),
                                          testing::Values(Precision::Float32, Precision::Bf16Mixed,
                                                          Precision::Bf16Full)));

/// A scale that each rank takes of its own part of a block gives other codes.
TEST(CutBlocks, AreThoseThatSlicesCut) {
    Mesh mesh;
    mesh.dp_shard = 3;
    run_ranks(mesh, [&](int rank, Groups& groups) {
        Parameters parameters(ragged_model(), Precision::Float32, at::kCPU, {1, groups});
        std::vector<int64_t> blocks;
        for (const ParameterShape& shape : parameters.shapes()) blocks.push_back(shape.size() < 4096 ? 0 : 256);
        const CutBlocks cuts(parameters, blocks, 2);
        EXPECT_FALSE(cuts.none());
        for (size_t i = 0; i < blocks.size(); ++i) {
            const FlatRange own = parameters.own_elements(i);
            int64_t next = 0;
            for (const CutBlocks::Stretch& stretch : cuts.stretches(i)) {
                EXPECT_EQ(stretch.begin, next) << "rank " << rank;
                next += stretch.count;
                const bool is_whole = stretch.cut < 0 && blocks[i] > 0 && stretch.count > 0;
                EXPECT_TRUE(!is_whole || (own.begin + stretch.begin) % blocks[i] == 0);
            }
            EXPECT_EQ(next, own.size());
        }
    });
}

TEST(StoredAdamW, TakesTheMemoryThatThePlanSays) {
    for (const char* name : {"adamw_bnb_8bit", "adamw_torch_8bit", "adamw_torch_4bit"}) {
        const OptimizerKind& kind = *find_optimizer(name);
        const Config config = config_of(name);
        Parameters parameters(ragged_model(), Precision::Float32, at::kCPU);
        const StoredAdamW optimizer(parameters, config, kind);
        double bytes = 0;
        for (size_t i = 0; i < parameters.shapes().size(); ++i) {
            for (const size_t s : {size_t{0}, size_t{1}}) {
                const StoredState& state = optimizer.state(i, s);
                bytes += static_cast<double>(state.stored().nbytes());
                if (state.in_codes()) bytes += static_cast<double>(state.scales().nbytes());
            }
        }
        MemoryInputs in;
        in.model = ragged_model();
        in.optimizer_states = kind.states;
        EXPECT_EQ(optimizer_bytes(in), bytes) << name;
    }
}

TEST(StoredAdamW, ProvesItsOwnUpdate) {
    const Config config = config_of("adamw_bnb_8bit");
    Parameters parameters(ragged_model(), Precision::Float32, at::kCPU);
    parameters.initialize(ragged_model(), 3);
    StoredAdamW optimizer(parameters, config, *find_optimizer(config.optimizer));
    give_gradients(parameters, 1);
    optimizer.step(1e-3);
    const at::Tensor before = parameters.master().values.clone();
    std::vector<Optimizer::Place> places;
    for (size_t i = 0; i < parameters.shapes().size(); ++i)
        places.push_back({i, parameters.unit_of(i), 0, parameters.shapes()[i].size() - 1});
    const std::vector<at::Tensor> states = optimizer.states_at(places);
    give_gradients(parameters, 2);
    optimizer.step(1e-3);
    for (size_t i = 0; i < places.size(); ++i) {
        const auto last = [&](const Flat& flat) { return parameters.own_values(flat, i)[-1].item<double>(); };
        const double old = parameters.own_values({before, false}, i)[-1].item<double>();
        const auto at = static_cast<int64_t>(i);
        const Optimizer::Element element{
            old, last(parameters.gradients()), {states[0][at].item<double>(), states[1][at].item<double>()}, i};
        const double change = optimizer.change_of(element, 2, 1e-3);
        EXPECT_NEAR(last(parameters.master()) - old, change, 1e-7 + 1e-3 * std::abs(change));
    }
}

TEST(StoredAdamW, GpuCodesAreThoseOfTheCpu) {
    ASSERT_TRUE(has_gpu());
    for (const char* name : {"adamw_bnb_8bit", "paged_adamw_8bit", "adamw_torch_8bit", "adamw_torch_4bit"}) {
        Config config = config_of(name);
        config.optimizer_offloading = name[0] == 'p';
        Outcome here = trained(config_of(name), Precision::Float32, {}, true, "here", 5);
        Outcome there = trained(config, Precision::Float32, {}, true, "there", 5, at::Device(at::kCUDA, 0));
        ASSERT_EQ(here.states.size(), there.states.size());
        size_t other = 0;
        for (size_t i = 0; i < here.states.size(); ++i) other += here.states[i] != there.states[i] ? 1 : 0;
        EXPECT_LT(other, here.states.size() / 50) << "bytes that differ, low ones of numbers among them";
    }
}

double seconds_of(const std::string& name, int repeats) {
    ModelConfig model = tiny_model();
    model.hidden_size = 1024;
    model.intermediate_size = 4096;
    model.vocab_size = 64;
    Config config = config_of(name);
    Parameters parameters(model, Precision::Float32, at::kCPU);
    parameters.initialize(model, 1);
    const auto optimizer = make_optimizer(parameters, config);
    parameters.gradients().values.normal_();
    optimizer->step(1e-3);
    double best = 1e9;
    for (int i = 0; i < repeats; ++i) {
        const auto start = std::chrono::steady_clock::now();
        optimizer->step(1e-3);
        best = std::min(best, std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count());
    }
    return best;
}

TEST(StoredAdamW, ExhaustiveUpdateTakesAtMostHalfAsLongAgainAsThatOfNumbers) {
    const double numbers = seconds_of("adamw_torch", 15);
    for (const char* name : {"adamw_bnb_8bit", "adamw_torch_8bit", "adamw_torch_4bit"}) {
        const double codes = seconds_of(name, 15);
        std::printf("%s: %.2f ms, of numbers %.2f ms, %.2f times\n", name, codes * 1e3, numbers * 1e3,
                    codes / numbers);
        EXPECT_LT(codes, 1.5 * numbers);
    }
}

}  // namespace
}  // namespace ringmaster
