// Tests that the outputs of a sequence split over ranks equal those of one rank, in the sequence's order.
#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <mutex>

#include "engine/model/decoder.h"
#include "engine/model/gather.h"
#include "tests/support/ranks.h"
#include "tests/support/tiny_model.h"

namespace ringmaster {
namespace {

struct Gathered {
    at::Tensor logprobs_bs, logits_bkv;
};

constexpr int64_t kRows = 2, kTokens = 22, kKept = 5;

/// Returns what rank 0 gathers: log-probabilities of all tokens and the logits of the last kKept tokens.
Gathered run(const Mesh& mesh, RingAttnFunc func) {
    at::manual_seed(5);
    const at::Tensor ids = at::randint(0, 61, {kRows, kTokens}, at::kLong);
    at::Tensor labels = at::randint(0, 61, {kRows, kTokens}, at::kLong);
    labels.narrow(1, 3, 4).fill_(-100);
    const ModelConfig model = tiny_model();
    const int64_t padded = padded_length(func, kTokens, mesh.ring, mesh.ulysses);
    AttentionMask mask;
    mask.documents = {7, 15, kTokens};
    const Layout layout = make_layout(func, padded, mesh.ring, mesh.ulysses, mask);
    Gathered gathered;
    std::mutex mutex;
    run_ranks(mesh, [&](int rank, Groups& groups) {
        const at::NoGradGuard no_grad;
        Parameters parameters(model, Precision::Float32, at::kCPU);
        parameters.initialize(model, 1);
        Decoder decoder(model, parameters, {});
        SequenceShard shard(groups, model, layout, mask, kTokens, 0, at::kCPU);
        const auto own = [&](const at::Tensor& x, int64_t filler) {
            at::Tensor whole = at::full({kRows, padded}, filler, at::kLong);
            whole.narrow(1, 0, kTokens).copy_(x);
            return whole.index_select(1, shard.places());
        };
        const Outputs outputs = decoder.forward({own(ids, 0), own(labels, -100)}, shard, kTokens - kKept);
        // Puts the logits of this rank's last tokens at the tokens' places; the other places hold zeros.
        at::Tensor logits = at::zeros({kRows, shard.places().size(0), 61});
        const at::Tensor kept = at::nonzero(shard.places().ge(kTokens - kKept)).squeeze(1);
        if (kept.numel() > 0) logits.index_copy_(1, kept, outputs.logits_bkv);
        const Gathered mine{gather_tokens(groups, layout, outputs.logprobs_bt, kTokens),
                            gather_tokens(groups, layout, logits, kTokens).narrow(1, kTokens - kKept, kKept)};
        EXPECT_NEAR(outputs.loss_sum, -outputs.logprobs_bt.sum().item<double>(), 1e-4);
        const std::lock_guard lock(mutex);
        if (rank == 0) gathered = mine;
    });
    return gathered;
}

TEST(Outputs, OfASplitSequenceAreThoseOfOneRank) {
    const Gathered whole = run({}, RingAttnFunc::BatchRing);
    EXPECT_EQ(whole.logprobs_bs.narrow(1, 3, 4).abs().max().item<float>(), 0) << "no label, no probability";
    EXPECT_LT(whole.logprobs_bs.narrow(1, 8, 8).max().item<float>(), 0);
    for (const RingAttnFunc func :
         {RingAttnFunc::BatchZigzag, RingAttnFunc::BatchStripe, RingAttnFunc::Balanced}) {
        for (const auto& [ring, ulysses] : {std::pair{2, 1}, {3, 1}, {1, 2}, {2, 2}}) {
            Mesh mesh;
            mesh.ring = ring;
            mesh.ulysses = ulysses;
            const Gathered split = run(mesh, func);
            EXPECT_EQ(split.logprobs_bs.sizes(), whole.logprobs_bs.sizes()) << "padding is undone";
            EXPECT_LT((split.logprobs_bs - whole.logprobs_bs).abs().max().item<float>(), 1e-5);
            EXPECT_LT((split.logits_bkv - whole.logits_bkv).abs().max().item<float>(), 1e-5);
        }
    }
}

}  // namespace
}  // namespace ringmaster
