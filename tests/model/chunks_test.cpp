// Proves that a sequence computed in chunks, one after the other, gives the losses and gradients of the
// whole.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <mutex>

#include "engine/model/decoder.h"
#include "tests/support/ranks.h"
#include "tests/support/tiny_model.h"

namespace ringmaster {
namespace {

constexpr int64_t kTokens = 48;

struct Case {
    ModelConfig model = tiny_model();
    AttentionMask mask = {};
    Kept kept = {};
    Mesh mesh = {};
    RingAttnFunc layout = RingAttnFunc::BatchZigzag;
};

struct Learned {
    double loss = 0;
    at::Tensor gradients;  ///< sum over all ranks
    at::Tensor logits;     ///< of the last tokens, from rank 0 of one rank
    double loss_alone = 0;
};

Learned learn(const Case& of, int64_t chunk_tokens) {
    at::manual_seed(5);
    const at::Tensor ids = at::randint(0, 61, {2, kTokens}, at::kLong);
    at::Tensor labels = at::randint(0, 61, {2, kTokens}, at::kLong);
    labels.narrow(1, 3, 20).fill_(-100);
    const Layout layout = make_layout(of.layout, kTokens, of.mesh.ring, of.mesh.ulysses, of.mask);
    Kept kept = of.kept;
    kept.chunk_tokens = chunk_tokens;
    Learned learned;
    std::mutex mutex;
    run_ranks(of.mesh, [&](int rank, Groups& groups) {
        const at::NoGradGuard no_grad;
        Parameters parameters(of.model, Precision::Float32, at::kCPU);
        parameters.initialize(of.model, 1);
        Decoder decoder(of.model, parameters, kept);
        SequenceShard shard(groups, of.model, layout, of.mask, kTokens, 0, at::kCPU, chunk_tokens);
        const auto own = [&](const at::Tensor& x) { return x.index_select(1, shard.places()); };
        const MicroBatch batch{own(ids), own(labels)};
        double loss = 0;
        for (const bool first : {true, false})  // an accumulation of two micro-batches
            loss += decoder.forward_backward(batch, shard, 0.01, first, [](int) {});
        const Outputs outputs = decoder.forward(batch, shard, kTokens - 30);
        const std::lock_guard lock(mutex);
        learned.loss += loss;
        learned.loss_alone += outputs.loss_sum;
        const at::Tensor gradients = parameters.gradients().values;
        learned.gradients = learned.gradients.defined() ? learned.gradients + gradients : gradients.clone();
        if (rank == 0) learned.logits = outputs.logits_bkv;
    });
    return learned;
}

/// Expects that 2, 3 and more chunks learn what the whole sequence teaches.
void expect_alike(const Case& of, const std::string& what) {
    SCOPED_TRACE(what);
    const Learned whole = learn(of, 0);
    const double norm = whole.gradients.norm().item<double>();
    ASSERT_GT(norm, 0.01);
    const int64_t tokens = kTokens / of.mesh.ring;
    for (const int64_t chunks : {2, 3, 8}) {
        const Learned cut = learn(of, (tokens + chunks - 1) / chunks);
        EXPECT_NEAR(cut.loss / whole.loss, 1, 1e-6);
        EXPECT_NEAR(cut.loss_alone / whole.loss_alone, 1, 1e-6);
        EXPECT_LT((cut.gradients - whole.gradients).norm().item<double>() / norm, 1e-6) << chunks;
        EXPECT_LT((cut.logits - whole.logits).abs().max().item<double>(), 1e-5);
    }
}

ModelConfig qwen3() {
    ModelConfig model = tiny_model();
    model.model_type = "qwen3";
    model.qk_norm = QkNorm::PerHead;
    return model;
}

const Kept kChoices[] = {
    {}, {true}, {true, true}, {true, false, 5}, {true, false, 0, true}, {true, true, 7, true, 5}};

TEST(Chunks, LearnWhatTheWholeSequenceTeaches) {
    for (const ModelConfig& model : {tiny_model(), qwen3()})
        for (const Kept& kept : kChoices) {
            Case of{model};
            of.kept = kept;
            expect_alike(of, model.model_type);
        }
}

TEST(Chunks, SeeDocumentsAndWindows) {
    for (const int64_t window : {0, 5, 20}) {
        for (const bool packed : {false, true}) {
            Case of;
            of.kept.checkpointing = packed;
            if (window > 0) of.model.sliding_window = window;
            if (packed) of.mask.documents = {7, 30, kTokens};
            expect_alike(of, "window " + std::to_string(window));
        }
    }
}

TEST(Chunks, GoRoundARing) {
    for (const Kept& kept : {Kept{}, Kept{true, false, 0, true}}) {
        Case of;
        of.mesh = ring_mesh(2);
        of.layout = RingAttnFunc::BatchStripe;
        of.kept = kept;
        expect_alike(of, "stripe");
    }
}

}  // namespace
}  // namespace ringmaster
