#include "engine/optimizers/rule_optimizer.h"

#include <ATen/Parallel.h>

#include <cmath>

#include "engine/config/optimizer_arguments.h"
#include "engine/files/safetensors.h"
#include "engine/plan/memory/memory.h"
#include "tests/train/optimizer_runs.h"

namespace ringmaster {
namespace {

Config of(const std::string& name, const nlohmann::json& arguments = nlohmann::json::object()) {
    Config config = config_of(name);
    config.optim_args = arguments;
    config.learning_rate = 1e-3;
    return config;
}

std::vector<Config> all_rules() {
    return {of("sgd"),
            of("sgd", {{"momentum", 0.9}, {"nesterov", 1}}),
            of("adamw_hf"),
            of("rmsprop", {{"momentum", 0.9}, {"centered", 1}}),
            of("rmsprop_bnb_8bit"),
            of("lion_32bit"),
            of("lion_8bit"),
            of("ademamix", {{"t_alpha", 7}, {"t_beta3", 9}}),
            of("ademamix_8bit"),
            of("schedule_free_adamw"),
            of("adafactor"),
            of("came_pytorch"),
            of("muon")};
}

std::string called(const Config& config) {
    return config.optimizer + " " + config.optim_args.dump();
}

TEST(Rules, EveryMeshAndStageAndAfterAResumeTheyAreTheSameToTheLastBit) {
    for (const Config& config : all_rules()) {
        SCOPED_TRACE(called(config));
        expect_the_same_on_every_mesh(config, Precision::Float32, {{3, 3}});
        expect_the_same_on_every_mesh(config, Precision::Bf16Mixed, {{2, 1}});
    }
}

TEST(Rules, ExhaustiveTwentyUpdatesOnEveryMeshAndStageInAllPrecisions) {
    for (const Config& config : all_rules()) {
        SCOPED_TRACE(called(config));
        for (const Precision precision : {Precision::Float32, Precision::Bf16Mixed, Precision::Bf16Full})
            expect_the_same_on_every_mesh(config, precision, all_shards_and_stages(), 20);
    }
}

TEST(Rules, AreTheSameOnAnyNumberOfThreads) {
    for (const Config& config : all_rules()) {
        const int threads = at::get_num_threads();
        at::set_num_threads(1);
        const Outcome alone = trained(config, Precision::Float32, {}, true, "alone", 5);
        at::set_num_threads(3);
        const Outcome three = trained(config, Precision::Float32, {}, true, "three", 5);
        at::set_num_threads(threads);
        EXPECT_TRUE(alone.weights == three.weights) << called(config);
        EXPECT_TRUE(alone.states == three.states) << called(config);
    }
}

/// Finds the last element of this rank's part of a parameter, in the weights and in the optimizer's states.
struct LastElement {
    Parameters& parameters;
    size_t parameter;
    int64_t in_own;

    double of(const Flat& flat) const {
        return parameters.own_values(flat, parameter)[in_own].item<double>();
    }
    Optimizer::Element with_states_of(const Optimizer& optimizer) const {
        const int unit = parameters.unit_of(parameter);
        const int64_t in_slice = parameters.own_values(parameters.master(), parameter).storage_offset() +
                                 in_own - parameters.own_slice(parameters.master(), unit).storage_offset();
        const int64_t at = parameters.own_elements(parameter).begin + in_own;
        Optimizer::Element element{of(parameters.master()), 0, {}, parameter, at};
        for (const at::Tensor& state : optimizer.states_at({{parameter, unit, in_slice, in_own}}))
            element.states.push_back(state[0].item<double>());
        return element;
    }
};

/// Runs the same steps on every rank, and compares the parameters of which this rank holds elements.
void prove_updates(const Config& config, const Sharding& sharding) {
    Parameters parameters(ragged_model(), Precision::Float32, at::kCPU, sharding);
    parameters.initialize(ragged_model(), 3);
    const auto optimizer = make_optimizer(parameters, config);
    give_gradients(parameters, 1);
    optimizer->step(1e-3);
    int compared = 0;
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        const int64_t step = 2 + static_cast<int64_t>(i), own = parameters.own_elements(i).size();
        const LastElement last{parameters, i, own - 1};
        Optimizer::Element element;
        if (own > 0) element = last.with_states_of(*optimizer);
        give_gradients(parameters, step);
        if (own > 0) element.gradient = last.of(parameters.gradients());
        optimizer->step(1e-3);
        const auto change = own > 0 ? optimizer->change_of(element, step, 1e-3) : std::nullopt;
        if (!change) continue;
        ++compared;
        EXPECT_NEAR(last.of(parameters.master()) - element.weight, *change, 2e-7 + 1e-3 * std::abs(*change))
            << called(config) << " " << parameters.shapes()[i].name;
    }
    EXPECT_GE(compared, config.optimizer == "muon" ? 1 : 3);
}

TEST(Rules, ProveTheirUpdates) {
    for (const Config& config : all_rules()) {
        prove_updates(config, {});
        Mesh mesh;
        mesh.dp_shard = 2;
        run_ranks(mesh, [&](int, Groups& groups) { prove_updates(config, {3, groups}); });
    }
}

int64_t bytes_of(const fs::path& file) {
    const SafetensorsFile states(file);
    int64_t bytes = 0;
    for (const auto& [name, info] : states.tensors()) bytes += name == "run_numbers" ? 0 : info.bytes();
    return bytes;
}

TEST(Rules, TakeTheMemoryThatThePlanSays) {
    for (const Config& config : all_rules()) {
        Parameters parameters(ragged_model(), Precision::Float32, at::kCPU);
        const auto optimizer = make_optimizer(parameters, config);
        const fs::path file = folder("memory") / "states";
        optimizer->save(file);
        MemoryInputs in;
        in.model = ragged_model();
        const OptimizerStates states = optimizer_states(config);
        in.optimizer_states = states.kind;
        in.optimizer_rule = states.rule;
        in.optimizer_momentum = states.momentum;
        in.optimizer_centered = states.centered;
        EXPECT_EQ(optimizer_bytes(in), static_cast<double>(bytes_of(file))) << called(config);
    }
}

TEST(Rules, AveragedWeightsGiveWayToTheTrainedOnes) {
    Parameters parameters(ragged_model(), Precision::Float32, at::kCPU);
    parameters.initialize(ragged_model(), 3);
    const auto optimizer = make_optimizer(parameters, of("schedule_free_adamw"));
    for (int step = 1; step <= 3; ++step) {
        give_gradients(parameters, step);
        optimizer->step(1e-2);
    }
    const at::Tensor trained = parameters.master().values.clone();
    optimizer->use_averaged_weights(true);
    EXPECT_GT((parameters.master().values - trained).abs().max().item<double>(), 1e-4);
    optimizer->use_averaged_weights(false);
    EXPECT_LT((parameters.master().values - trained).abs().max().item<double>(), 1e-6);
}

}  // namespace
}  // namespace ringmaster
