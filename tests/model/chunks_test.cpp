// Proves that a sequence computed in chunks, one after the other, gives the losses and gradients of the
// whole.
#include <gtest/gtest.h>

#include "tests/model/learning.h"

namespace ringmaster {
namespace {

/// Expects that 2, 3 and more chunks give the loss and gradients of the whole sequence.
void expect_alike(const Case& of, const std::string& what) {
    SCOPED_TRACE(what);
    const Learned whole = learn(of, 1);
    const double norm = whole.gradients.norm().item<double>();
    ASSERT_GT(norm, 0.01);
    for (const int64_t chunks : {2, 3, 8}) {
        const Learned cut = learn(of, chunks);
        EXPECT_NEAR(cut.loss / whole.loss, 1, 1e-6);
        EXPECT_NEAR(cut.loss_alone / whole.loss_alone, 1, 1e-6);
        EXPECT_LT((cut.gradients - whole.gradients).norm().item<double>() / norm, 1e-6) << chunks;
        EXPECT_LT((cut.logprobs - whole.logprobs).abs().max().item<double>(), 1e-5);
        if (!whole.logits.defined()) continue;
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

struct Split {
    const char* name;
    Mesh mesh;
    RingAttnFunc layout;
};
const Split kSplits[] = {{"stripe", ring_mesh(2), RingAttnFunc::BatchStripe},
                         {"zigzag", ring_mesh(2), RingAttnFunc::BatchZigzag},
                         {"contiguous", ring_mesh(3), RingAttnFunc::BatchRing},
                         {"llama3", ring_mesh(2), RingAttnFunc::VarlenLlama3},
                         {"documents", ring_mesh(2), RingAttnFunc::VarlenRing},
                         {"zigzag documents", ring_mesh(2), RingAttnFunc::VarlenZigzag},
                         {"ulysses", Mesh{.ulysses = 2}, RingAttnFunc::BatchRing},
                         {"2 x 2", Mesh{.ring = 2, .ulysses = 2}, RingAttnFunc::BatchZigzag}};

TEST(Chunks, AreSplitOverRanks) {
    for (const Split& split : kSplits) {
        Case of;
        of.mesh = split.mesh;
        of.layout = split.layout;
        expect_alike(of, split.name);
        of.kept = {true, false, 0, true};
        of.mask.documents = {7, 30, kTokens};
        of.model.sliding_window = 9;
        expect_alike(of, std::string(split.name) + ", packed");
    }
}

/// If a Ulysses group has more ranks than key heads, several ranks hold the same key head.
TEST(Chunks, ShareKeyHeads) {
    Case of;
    of.model.num_kv_heads = 1;
    of.mesh = Mesh{.ulysses = 2};
    of.layout = RingAttnFunc::BatchRing;
    of.kept = {true};
    expect_alike(of, "one key head");
}

}  // namespace
}  // namespace ringmaster
