// Proves that what the forward pass keeps changes memory and time, but never a loss or a gradient.
#include <ATen/ATen.h>
#include <ATen/record_function.h>
#include <gtest/gtest.h>

#include <mutex>

#include "engine/config/precision.h"
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
    model.qk_norm = qwen3 ? QkNorm::PerHead : QkNorm::None;
    model.qkv_bias = model.mlp_bias = !qwen3;
    return model;
}

struct Learned {
    double loss = 0;
    at::Tensor gradients;  ///< sum over all ranks
};

/// Computes loss and gradients on the mesh's ranks. On GPUs, all ranks share the first GPU.
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
        const at::Tensor own_ids = ids.to(device).index_select(1, shard.places());
        const MicroBatch batch{own_ids, own_ids};
        double loss = 0;
        for (const bool first : {true, false})  // an accumulation of two micro-batches
            loss += decoder.forward_backward(batch, shard, 0.01, first, [](int) {});
        const std::lock_guard lock(mutex);
        learned.loss += loss;
        const at::Tensor own = parameters.gradients().values.cpu();
        learned.gradients = learned.gradients.defined() ? learned.gradients + own : own.clone();
    };
    device.is_cpu() ? run_ranks(mesh, rank) : run_ranks_on_gpu(mesh, rank);
    return learned;
}

/// Counts how often, in a step of one row, the host reads a number from the device and so waits for it.
int readings(int64_t tokens) {
    at::NoGradGuard no_grad;
    const ModelConfig model = tiny_model();
    Parameters parameters(model, Precision::Float32, at::kCPU);
    parameters.initialize(model, 1);
    Decoder decoder(model, parameters, {});
    Groups groups = make_groups({}, 0, Mesh(), GroupOptions());
    const Layout layout = make_layout(RingAttnFunc::BatchZigzag, tokens, 1, 1, {});
    SequenceShard shard(groups, model, layout, {}, tokens, 0, at::kCPU);
    const at::Tensor ids = at::randint(0, 61, {1, tokens}, at::kLong);
    static int count;
    count = 0;
    const auto note = [](const at::RecordFunction& call) -> std::unique_ptr<at::ObserverContext> {
        count += std::string(call.name()) == "aten::_local_scalar_dense";
        return nullptr;
    };
    const auto handle = at::addThreadLocalCallback(at::RecordFunctionCallback(note));
    decoder.forward_backward({ids, ids}, shard, 0.01, true, [](int) {});
    at::removeCallback(handle);
    return count;
}

TEST(Head, IsReadOnceHoweverManyChunksItHas) {
    EXPECT_GE(readings(100), 1);
    EXPECT_EQ(readings(2500), readings(100));
}

/// Returns the gradients of the head and of a layer's MLP, all in bfloat16, for a row of equal tokens. Each
/// token adds the same gradient.
std::array<at::Tensor, 3> gradients_of_equal_tokens(const Kept& kept) {
    constexpr int64_t kRow = 600;
    const at::NoGradGuard no_grad;
    const ModelConfig model = tiny_model();
    Parameters parameters(model, Precision::Bf16Full, at::kCPU);
    parameters.initialize(model, 1);
    Decoder decoder(model, parameters, kept);
    Groups groups = make_groups({}, 0, Mesh(), GroupOptions());
    const Layout layout = make_layout(RingAttnFunc::BatchZigzag, kRow, 1, 1, {});
    SequenceShard shard(groups, model, layout, {}, kRow, 0, at::kCPU);
    const at::Tensor ids = at::full({1, kRow}, 7, at::kLong);
    decoder.forward_backward({ids, ids}, shard, 1.0 / kRow, true, [](int) {});
    const ModelTensors& gradients = parameters.weight_gradients();
    const LayerTensors& layer = gradients.layers.at(0);
    return {gradients.head_vc.to(at::kDouble), layer.at(LoraSite::GateUp).weight_oc.to(at::kDouble),
            layer.at(LoraSite::Down).weight_oc.to(at::kDouble)};
}

void expect_as_at_once(const Kept& one_by_one) {
    const auto at_once = gradients_of_equal_tokens({}), ours = gradients_of_equal_tokens(one_by_one);
    for (size_t i = 0; i < at_once.size(); ++i)
        EXPECT_LT((ours[i] - at_once[i]).norm().item<double>(), 0.01 * at_once[i].norm().item<double>()) << i;
}

// A bfloat16 sum stops growing once an addend is 1/512 of the sum.
TEST(Kept, GradientsOfManyPiecesAreAddedUpInFloat32) {
    Kept chunks, tiles;
    chunks.loss_chunk_tokens = 1;
    tiles.mlp_tile_tokens = 1;
    expect_as_at_once(chunks);
    expect_as_at_once(tiles);
}

TEST(Kept, NoChoiceOfItChangesALossOrAGradient) {
    const Kept choices[] = {{true, false, 0},           {true, true, 0},  {false, false, 5},
                            {true, false, 7},           {true, true, 24}, {false, false, 1000},
                            {false, false, 0, false, 5}};
    Mesh ring = ring_mesh(2), ulysses, both = ring_mesh(2);
    ulysses.ulysses = both.ulysses = 2;
    for (const Precision precision : {Precision::Float32, Precision::Bf16Mixed, kFp16Mixed}) {
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
                    // In mixed precision, each loss chunk's product is rounded to bfloat16 (an error of 2^-9)
                    // before it is added. Hundreds of small chunks therefore accumulate more rounding errors
                    // than one chunk.
                    const bool is_chunked = kept.loss_chunk_tokens < Kept().loss_chunk_tokens;
                    const double roundings = is_chunked && precision != Precision::Float32 ? 1e-3 : 0;
                    EXPECT_LT((less.gradients - all.gradients).norm().item<double>() / norm,
                              bound + roundings);
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
