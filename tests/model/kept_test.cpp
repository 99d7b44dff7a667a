// What is kept of the forward changes memory and time, never a loss or a gradient.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <mutex>

#include "engine/model/decoder.h"
#include "tests/support/gpu.h"
#include "tests/support/ranks.h"
#include "tests/support/tiny_model.h"

namespace ringmaster {
namespace {

constexpr int64_t kTokens = 24;

ModelConfig tiny_qwen(bool qwen3) {
    ModelConfig model = tiny_model();
    model.model_type = qwen3 ? "qwen3" : "qwen2";
    model.qk_norm = qwen3;
    model.qkv_bias = model.mlp_bias = !qwen3;
    return model;
}

struct Learned {
    double loss = 0;
    at::Tensor gradients;  ///< of all ranks together
};

/// On a GPU all ranks share the first one.
Learned learn(const ModelConfig& model, const Mesh& mesh, const Kept& kept, Precision precision,
              at::Device device = at::kCPU) {
    at::manual_seed(5);
    const at::Tensor ids = at::randint(0, 61, {2, kTokens}, at::kLong);
    const Layout layout = make_layout(RingAttnFunc::BatchZigzag, kTokens, mesh.ring, mesh.ulysses, {});
    Learned learned;
    std::mutex mutex;
    const auto rank = [&](int, Groups& groups) {
        const at::NoGradGuard no_grad;
        Parameters parameters(model, precision, device);
        parameters.initialize(model, 1);
        Decoder decoder(model, parameters, kept);
        SequenceShard shard(groups, model, layout, {}, kTokens, 0, device);
        const at::Tensor own_ids = ids.to(device).index_select(1, shard.places_t);
        const MicroBatch batch{own_ids, own_ids};
        double loss = 0;
        for (const bool first : {true, false})  // an accumulation of two
            loss += decoder.forward_backward(batch, shard, 0.01, first, [](int) {});
        const std::lock_guard lock(mutex);
        learned.loss += loss;
        const at::Tensor own = parameters.gradients().values.cpu();
        learned.gradients = learned.gradients.defined() ? learned.gradients + own : own.clone();
    };
    device.is_cpu() ? run_ranks(mesh, rank) : run_ranks_on_gpu(mesh, rank);
    return learned;
}

TEST(Kept, NoChoiceOfItChangesALossOrAGradient) {
    const Kept choices[] = {{true, false, 0}, {true, true, 0},  {false, false, 5},
                            {true, false, 7}, {true, true, 24}, {false, false, 1000},
                            {false, false, 0, false, 5}};
    Mesh ring = ring_mesh(2), ulysses, both = ring_mesh(2);
    ulysses.ulysses = both.ulysses = 2;
    for (const Precision precision : {Precision::Float32, Precision::Bf16Mixed}) {
        const double bound = precision == Precision::Float32 ? 1e-6 : 1e-3;
        for (const bool qwen3 : {false, true}) {
            const ModelConfig model = tiny_qwen(qwen3);
            for (const Mesh& mesh : {Mesh{}, ring, ulysses, both}) {
                const Learned all = learn(model, mesh, {}, precision);
                const double norm = all.gradients.norm().item<double>();
                ASSERT_GT(norm, 0.01);
                for (const Kept& kept : choices) {
                    const Learned less = learn(model, mesh, kept, precision);
                    EXPECT_NEAR(less.loss / all.loss, 1, bound);
                    EXPECT_LT((less.gradients - all.gradients).norm().item<double>() / norm, bound);
                }
            }
        }
    }
}

TEST(KeptGpu, RanksOnOneDeviceLearnWhatACpuRankLearns) {
    ASSERT_TRUE(has_gpu());
    const at::Device device(at::kCUDA, 0);
    Mesh ulysses, both = ring_mesh(2);
    ulysses.ulysses = both.ulysses = 2;
    for (const Precision precision : {Precision::Float32, Precision::Bf16Mixed}) {
        const double bound = precision == Precision::Float32 ? 1e-4 : 3e-2;
        for (const bool qwen3 : {false, true}) {
            const ModelConfig model = tiny_qwen(qwen3);
            const Learned truth = learn(model, {}, {}, precision);
            const double norm = truth.gradients.norm().item<double>();
            for (const Mesh& mesh : {Mesh{}, ring_mesh(2), ring_mesh(4), ulysses, both}) {
                for (const Kept& kept : {Kept{}, Kept{true, true, 7, true}}) {
                    const Learned ours = learn(model, mesh, kept, precision, device);
                    EXPECT_NEAR(ours.loss / truth.loss, 1, bound);
                    EXPECT_LT((ours.gradients - truth.gradients).norm().item<double>() / norm, bound);
                }
            }
        }
    }
}

}  // namespace
}  // namespace ringmaster
