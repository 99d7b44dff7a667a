#include "engine/optimizers/stored_adamw.h"

#include <ATen/ATen.h>

#include <cmath>
#include <ctime>
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>

#include "engine/plan/memory/memory.h"
#include "tests/support/gpu.h"
#include "tests/train/optimizer_runs.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;

class StoredAdamWOn : public testing::TestWithParam<std::tuple<const char*, Precision>> {};

TEST_P(StoredAdamWOn, EveryMeshAndStageAndAfterAResumeItIsTheSameToTheLastBit) {
    const auto& [optimizer, precision] = GetParam();
    expect_the_same_on_every_mesh(config_of(optimizer), precision, {{2, 1}, {3, 2}, {5, 3}});
}

TEST_P(StoredAdamWOn, ExhaustiveAllMeshesAndStages) {
    const auto& [optimizer, precision] = GetParam();
    expect_the_same_on_every_mesh(config_of(optimizer), precision, all_shards_and_stages());
}

INSTANTIATE_TEST_SUITE_P(Optimizers, StoredAdamWOn,
                         testing::Combine(testing::Values("adamw_bnb_8bit", "paged_adamw_32bit",
                                                          "adamw_torch_8bit", "adamw_torch_4bit"),
                                          testing::Values(Precision::Float32, Precision::Bf16Mixed,
                                                          Precision::Bf16Full)));

/// Ranks that share a block must use one scale. If each rank scaled only its own part, the codes would
/// differ.
TEST(CutBlocks, AreThoseThatSlicesCut) {
    Mesh mesh;
    mesh.dp_shard = 3;
    run_ranks(mesh, [&](int rank, Groups& groups) {
        Parameters parameters(ragged_model(), Precision::Float32, at::kCPU, {1, groups});
        std::vector<int64_t> blocks;
        for (const ParameterShape& shape : parameters.shapes())
            blocks.push_back(shape.size() < 4096 ? 0 : 256);
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
        const Optimizer::Element element{old,
                                         last(parameters.gradients()),
                                         {states[0][at].item<double>(), states[1][at].item<double>()},
                                         i};
        const std::optional<double> change = optimizer.change_of(element, 2, 1e-3);
        ASSERT_TRUE(change.has_value());
        EXPECT_NEAR(last(parameters.master()) - old, *change, 1e-7 + 1e-3 * std::abs(*change));
    }
}

/// After the first update, the moments are (1 - beta) times the gradient and its square. A parameter's last
/// block is shorter if the parameter's size is not a multiple of the block size.
TEST(StoredAdamW, KeepsTheMomentsOfEveryBlockWithinACode) {
    for (const char* name : {"adamw_bnb_8bit", "adamw_torch_8bit", "adamw_torch_4bit"}) {
        const Config config = config_of(name);
        Parameters parameters(ragged_model(), Precision::Float32, at::kCPU);
        parameters.initialize(ragged_model(), 3);
        StoredAdamW optimizer(parameters, config, *find_optimizer(config.optimizer));
        give_gradients(parameters, 1);
        optimizer.step(1e-3);
        for (size_t i = 0; i < parameters.shapes().size(); ++i) {
            const at::Tensor all = at::arange(parameters.shapes()[i].size(), at::kLong);
            const at::Tensor gradients = parameters.own_values(parameters.gradients(), i).to(at::kDouble);
            const at::Tensor expected[] = {gradients * (1 - config.adam_beta1),
                                           gradients.square() * (1 - config.adam_beta2)};
            for (const size_t s : {size_t{0}, size_t{1}}) {
                const StoredState& state = optimizer.state(i, s);
                const at::Tensor off = (state.values_at(all).to(at::kDouble) - expected[s]).abs();
                const at::Tensor allowed =
                    state.roundings_at(all).to(at::kDouble) * 1.001 + expected[s].abs() * 1e-5;
                EXPECT_TRUE((off <= allowed + 1e-30).all().item<bool>())
                    << name << ", " << parameters.shapes()[i].name << ", state " << s;
                if (!state.in_codes()) continue;
                const at::Tensor largest = expected[s].abs().max();
                EXPECT_LE(state.roundings_at(all).max().item<double>(), largest.item<double>() * 0.25)
                    << name;
            }
        }
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

/// Holds an optimizer of about 25 million weights, so that updates read memory and not a cache.
class TimedOptimizer {
  public:
    explicit TimedOptimizer(const std::string& name) : config_(config_of(name)) {
        model_.hidden_size = 1024;
        model_.intermediate_size = 4096;
        model_.vocab_size = 64;
        parameters_.emplace(model_, Precision::Float32, at::kCPU);
        parameters_->initialize(model_, 1);
        optimizer_ = make_optimizer(*parameters_, config_);
        parameters_->gradients().values.normal_();
        update();
    }
    /// Updates once and keeps the minimum of the updates' processor time. Unlike wall time, processor time
    /// excludes other programs.
    void update() {
        const std::clock_t start = std::clock();
        optimizer_->step(1e-3);
        best_ = std::min(best_, double(std::clock() - start) / CLOCKS_PER_SEC);
    }
    double best() const { return best_; }

  private:
    ModelConfig model_ = tiny_model();
    Config config_;
    std::optional<Parameters> parameters_;
    std::unique_ptr<Optimizer> optimizer_;
    double best_ = 1e9;
};

TEST(StoredAdamW, ExhaustiveUpdateTakesAtMostHalfAsLongAgainAsThatOfNumbers) {
    TimedOptimizer numbers("adamw_torch");
    for (const char* name : {"adamw_bnb_8bit", "adamw_torch_8bit", "adamw_torch_4bit"}) {
        TimedOptimizer codes(name);
        for (int i = 0; i < 25; ++i) {  // measured in turns, because other programs share the memory
            numbers.update();
            codes.update();
        }
        std::printf("%s: %.2f ms, of numbers %.2f ms, %.2f times\n", name, codes.best() * 1e3,
                    numbers.best() * 1e3, codes.best() / numbers.best());
        EXPECT_LT(codes.best(), 1.5 * numbers.best()) << name;
    }
}

}  // namespace
}  // namespace ringmaster
