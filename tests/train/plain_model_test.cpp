// The plain model beside the decoder on one rank: two independent computations of the same gradients.
#include <gtest/gtest.h>

#include "engine/model/decoder.h"
#include "engine/train/mesh_pass.h"
#include "engine/train/plain_model.h"
#include "tests/support/ranks.h"
#include "tests/support/tiny_model.h"

namespace ringmaster {
namespace {

constexpr int64_t kTokens = 45, kVocabulary = 61;

struct Case {
    const char* name;
    ModelConfig model;
    Kept kept;
};

std::vector<Case> cases() {
    const ModelConfig llama = tiny_model();
    ModelConfig qwen2 = llama, qwen3 = llama, windowed = llama, dynamic = llama;
    qwen2.qkv_bias = qwen2.mlp_bias = qwen2.output_bias = qwen2.tie_word_embeddings = true;
    qwen3.qk_norm = QkNorm::PerHead;
    windowed.sliding_window = 7;
    dynamic.ropes[0].type = "dynamic";
    dynamic.ropes[0].factor = 2;
    dynamic.max_position_embeddings = 16;
    Kept in_parts;
    in_parts.mlp_tile_tokens = 11;
    in_parts.loss_chunk_tokens = 7;
    return {{"llama", llama, {}},        {"in chunks and tiles", llama, in_parts},
            {"tied, biases", qwen2, {}}, {"norms of q and k", qwen3, {}},
            {"window", windowed, {}},    {"dynamic rotary embedding", dynamic, {}}};
}

/// Two documents of random tokens, some labels left out.
struct Documents {
    std::vector<int32_t> ids, labels;

    Documents() {
        for (int64_t i = 0; i < kTokens; ++i) {
            ids.push_back(static_cast<int32_t>((i * 17 + i * i * 5) % kVocabulary));
            labels.push_back(i % 9 == 4 ? kNoLabel : ids.back());
        }
    }
    Row row() const { return {ids, labels, {kTokens / 3, kTokens}}; }
};

void expect_alike(const Parameters& parameters, const Flat& got, const Flat& plain, const char* name) {
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        const at::Tensor expected = parameters.own_values(plain, i);
        const double norm = expected.norm().item<double>();
        ASSERT_GT(norm, 0) << parameters.shapes()[i].name;
        EXPECT_LT((parameters.own_values(got, i) - expected).norm().item<double>() / norm, 1e-4)
            << name << ": " << parameters.shapes()[i].name;
    }
}

TEST(PlainModel, HasTheDecodersLossAndGradients) {
    const Documents data;
    for (const auto& [name, model, kept] : cases()) {
        Plan plan;
        plan.model = model;
        plan.context_parallel.layout = RingAttnFunc::BatchRing;
        plan.config.sample_packing = true;
        plan.config.sequence_len = kTokens;
        run_ranks(Mesh{}, [&](int, Groups& groups) {
            const at::NoGradGuard no_grad;
            TrainedModel trained(model, {}, Precision::Float32, at::kCPU);
            trained.weights.initialize(model, 1);
            MeshPass pass(plan, groups, trained, kept);
            const MeshPass::Result mesh = pass.forward_backward({{data.row()}}, 1, 0.02);
            std::vector<PlainDocument> documents;
            for (const Row& row : data.row().documents()) documents.push_back({row, kTokens - kTokens / 3});
            const PlainGradients plain =
                plain_gradients(model, trained, groups, documents, 0.02, [](int, const at::Tensor&) {});
            EXPECT_NEAR(mesh.loss_sum / plain.loss_sum, 1, 1e-5) << name;
            expect_alike(trained.weights, trained.weights.gradients(), plain.gradients, name);
        });
    }
}

}  // namespace
}  // namespace ringmaster
