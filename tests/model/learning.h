/// Lets the ranks of a mesh compute the loss and gradients of one batch of random tokens, so that tests can
/// compare them.
#pragma once

#include <ATen/ATen.h>

#include <mutex>

#include "engine/model/decoder.h"
#include "engine/model/gather.h"
#include "tests/support/ranks.h"
#include "tests/support/tiny_model.h"

namespace ringmaster {

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
    at::Tensor logprobs;   ///< log-probabilities of all labels, in the sequence's order
    at::Tensor logits;     ///< logits of the last tokens; undefined if there are several ranks
    double loss_alone = 0;
    /// Bytes that all ranks send in the forward and backward passes of two micro-batches of two rows.
    int64_t sent_bytes = 0;
};

inline Learned learn(const Case& of, int64_t chunks) {
    at::manual_seed(5);
    const at::Tensor ids = at::randint(0, 61, {2, kTokens}, at::kLong);
    at::Tensor labels = at::randint(0, 61, {2, kTokens}, at::kLong);
    labels.narrow(1, 3, 20).fill_(-100);
    const Layout layout = make_layout(of.layout, kTokens, of.mesh.ring, of.mesh.ulysses, of.mask, chunks);
    Learned learned;
    std::mutex mutex;
    run_ranks(of.mesh, [&](int rank, Groups& groups) {
        const at::NoGradGuard no_grad;
        Parameters parameters(of.model, Precision::Float32, at::kCPU);
        parameters.initialize(of.model, 1);
        Decoder decoder(of.model, parameters, of.kept);
        SequenceShard shard(groups, of.model, layout, of.mask, kTokens, 0, at::kCPU);
        const auto own = [&](const at::Tensor& x) { return x.index_select(1, shard.places()); };
        const MicroBatch batch{own(ids), own(labels)};
        double loss = 0;
        for (const bool first : {true, false})  // an accumulation of two micro-batches
            loss += decoder.forward_backward(batch, shard, 0.01, first, [](int) {});
        const int64_t sent_bytes = groups.take_totals().sent_bytes;
        const Outputs outputs = decoder.forward(batch, shard, kTokens - 30);
        const at::Tensor logprobs = gather_tokens(groups, layout, outputs.logprobs_bt, kTokens);
        const std::lock_guard lock(mutex);
        learned.loss += loss;
        learned.sent_bytes += sent_bytes;
        learned.loss_alone += outputs.loss_sum;
        const at::Tensor gradients = parameters.gradients().values;
        learned.gradients = learned.gradients.defined() ? learned.gradients + gradients : gradients.clone();
        if (rank == 0) learned.logprobs = logprobs;
        if (of.mesh.ranks() == 1) learned.logits = outputs.logits_bkv;
    });
    return learned;
}

}  // namespace ringmaster
