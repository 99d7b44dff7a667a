// Proves that ranks of a ring that send latents in place of keys and values compute what one rank computes,
// and that they send nothing but latents.
#include <gtest/gtest.h>

#include "engine/layout/attention_schedule.h"
#include "engine/plan/memory/sent_latents.h"
#include "tests/model/learning.h"

namespace ringmaster {
namespace {

ModelConfig latent_model(int64_t query_rank) {
    ModelConfig model = tiny_model();
    model.model_type = "deepseek_v3";
    model.num_kv_heads = model.num_heads;
    model.latent = {
        .query_rank = query_rank, .rank = 12, .rotary_width = 4, .plain_width = 8, .value_width = 10};
    model.head_dim = 12;
    model.ropes.resize(1);
    model.ropes[0].rotary_dim = 4;
    return model;
}

/// Returns the number of bytes that all ranks send: latents in the forward pass, in its repetition and in the
/// backward pass, and their gradients.
int64_t bytes_of_latents(const Case& of) {
    std::vector<Spans> spans;
    const Layout layout = make_layout(of.layout, kTokens, of.mesh.ring, 1, of.mask, 1);
    for (int rank = 0; rank < of.mesh.ring; ++rank) spans.push_back(ring_spans(layout, rank, 1));
    const int64_t passes = of.kept.checkpointing && !of.kept.attention ? 3 : 2;
    int64_t tokens = 0;
    for (int rank = 0; rank < of.mesh.ring; ++rank)
        for (const Stage& stage : make_ring_schedule(spans, rank, of.mask).stages)
            for (const KeyExchange& exchange : stage.exchanges)
                tokens += passes * count_keys(exchange.sent) + exchange.received;
    const int64_t micro_batches = 2, rows = 2;
    return micro_batches * rows * of.model.num_layers * tokens * (12 + 4) * 4;
}

void expect_alike(Case of, int ring) {
    SCOPED_TRACE(std::to_string(ring) + " ranks, layout " + to_string(of.layout));
    const Learned one = learn(of, 1);
    of.mesh = ring_mesh(ring);
    ASSERT_EQ(sent_latent_width(of.model, {ring}), 16);
    const Learned some = learn(of, 1);
    EXPECT_NEAR(some.loss / one.loss, 1, 1e-6);
    EXPECT_LT((some.gradients - one.gradients).norm().item<double>(),
              1e-6 * one.gradients.norm().item<double>());
    EXPECT_LT((some.logprobs - one.logprobs).abs().max().item<double>(), 1e-5);
    EXPECT_EQ(some.sent_bytes, bytes_of_latents(of));
}

TEST(SentLatents, TeachWhatOneRankLearns) {
    for (const RingAttnFunc layout : {RingAttnFunc::BatchRing, RingAttnFunc::BatchZigzag,
                                      RingAttnFunc::BatchStripe, RingAttnFunc::VarlenZigzag}) {
        Case of{latent_model(layout == RingAttnFunc::BatchZigzag ? 0 : 10)};
        of.layout = layout;
        expect_alike(of, 2);
        of.mask.documents = {7, 30, kTokens};
        of.kept = {true};
        expect_alike(of, 3);
        of.kept = {true, true, 7};
        expect_alike(of, 2);
    }
}

TEST(SentLatents, AreKeysAndValuesWhereProductsVary) {
    const ModelConfig model = latent_model(0);
    EXPECT_EQ(sent_latent_width(model, {.ring = 4}), 16);
    EXPECT_EQ(sent_latent_width(model, {.ring = 1}), 0);
    EXPECT_EQ(sent_latent_width(model, {.ring = 4, .ulysses = 2}), 0);
    EXPECT_EQ(sent_latent_width(model, {.ring = 4, .gathered_heads = 1}), 0);
    EXPECT_EQ(sent_latent_width(model, {.ring = 4, .chunks = 2}), 0);
    EXPECT_EQ(sent_latent_width(model, {.ring = 4, .varies = true}), 0);
    EXPECT_EQ(sent_latent_width(tiny_model(), {.ring = 4}), 0);
    Lora drops;
    drops.r = 4;
    drops.dropout = 0.1;
    EXPECT_TRUE(products_vary({}, drops));
    EXPECT_FALSE(products_vary({}, {}));
    EXPECT_TRUE(products_vary({.format = WeightFormat::Int8}, {}));
}

}  // namespace
}  // namespace ringmaster
