/// Runs an optimizer on given gradients, on one rank and sharded over several.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "engine/optimizers/optimizer.h"
#include "tests/support/ranks.h"
#include "tests/support/tiny_model.h"

namespace ringmaster {

namespace fs = std::filesystem;

/// Returns a model that has parameters with whole and with partial blocks of states, and parameters with
/// fewer than 4,096 elements. Most ranks' slices begin or end inside a block.
inline ModelConfig ragged_model() {
    ModelConfig model = tiny_model();
    model.num_layers = 1;
    model.hidden_size = 96;
    model.intermediate_size = 50;
    model.head_dim = 24;
    model.vocab_size = 331;
    return model;
}

inline Config config_of(const std::string& optimizer) {
    Config config;
    config.optimizer = optimizer;
    config.weight_decay = 0.1;
    config.adam_beta2 = 0.95;
    return config;
}

/// Sets the gradients of a step. They depend only on the step, the parameter and the element, not on how
/// parameters are sharded.
inline void give_gradients(Parameters& parameters, int64_t step) {
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        const FlatRange own = parameters.own_elements(i);
        const at::Tensor all = at::arange(parameters.shapes()[i].size(), at::kDouble);
        const at::Tensor values =
            at::sin(all * (0.37 + 0.01 * static_cast<double>(i)) + static_cast<double>(step)) *
            at::exp(at::cos(all * 0.011) * 4 - 6);
        parameters.own_values(parameters.gradients(), i).copy_(values.narrow(0, own.begin, own.size()));
    }
}

inline std::string contents(const fs::path& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
}

inline fs::path folder(const std::string& name) {
    const fs::path made =
        fs::temp_directory_path() / ("ringmaster-states-" + name + std::to_string(getpid()));
    fs::create_directories(made);
    return made;
}

struct Outcome {
    std::string states, weights;
};

/// Takes steps 1 to `half`, saves weights and states, and takes the remaining steps from the saved ones.
/// Returns the contents of the final files; they are empty unless `writes`.
inline Outcome trained(const Config& config, Precision precision, const Sharding& sharding, bool writes,
                       const std::string& name, int64_t half, at::Device device = at::kCPU,
                       int64_t updates = 5) {
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
    for (int64_t s = half + 1; s <= updates; ++s) step(after, *resumed, s);
    if (Groups* groups = after.sharding_groups()) groups->world().barrier();
    resumed->save(dir / "states", writes);
    save_weights(after, dir.string(), after.master().values.scalar_type(), writes);
    if (!writes) return {};
    return {contents(dir / "states"), contents(dir / "model.safetensors")};
}

struct ShardsAndStage {
    int shards, stage;
};

inline std::vector<ShardsAndStage> all_shards_and_stages() {
    std::vector<ShardsAndStage> all;
    for (const int shards : {2, 3, 5})
        for (const int stage : {1, 2, 3}) all.push_back({shards, stage});
    return all;
}

/// Expects states and weights on every mesh, with and without a resume, to equal those of a run on one rank
/// byte by byte.
inline void expect_the_same_on_every_mesh(const Config& config, Precision precision,
                                          const std::vector<ShardsAndStage>& meshes, int64_t updates = 5) {
    const auto end = [&](const Sharding& sharding, bool writes, const std::string& name, int64_t half) {
        return trained(config, precision, sharding, writes, name, half, at::kCPU, updates);
    };
    const Outcome whole = end({}, true, "whole", updates);
    const Outcome resumed = end({}, true, "resumed", updates * 2 / 5);
    EXPECT_TRUE(whole.states == resumed.states) << "after a resume";
    EXPECT_TRUE(whole.weights == resumed.weights) << "after a resume";
    for (const auto [shards, stage] : meshes) {
        Outcome sharded;
        Mesh mesh;
        mesh.dp_shard = shards;
        run_ranks(mesh, [&, stage = stage](int rank, Groups& groups) {
            const Outcome of_rank = end({stage, groups}, rank == 0, "sharded", updates * 2 / 5);
            if (rank == 0) sharded = of_rank;
        });
        EXPECT_TRUE(whole.states == sharded.states) << shards << " shards, stage " << stage;
        EXPECT_TRUE(whole.weights == sharded.weights) << shards << " shards, stage " << stage;
    }
}

}  // namespace ringmaster
