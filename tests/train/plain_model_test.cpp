// Compares the plain model with the decoder on one rank. The two compute the same gradients independently.
#include <gtest/gtest.h>

#include "engine/check/plain_model.h"
#include "engine/model/decoder.h"
#include "engine/train/mesh_pass.h"
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
    ModelConfig gemma2 = llama, gemma3 = llama, olmo = llama, granite = llama, arcee = llama, glm = llama;
    gemma2.norms_outputs = gemma2.norm_adds_one = gemma2.tie_word_embeddings = true;
    gemma2.gate.activation = Activation::GeluTanh;
    gemma2.attention_scale = 0.4;
    gemma2.score_softcap = 1.5;
    gemma2.logit_softcap = 0.8;
    gemma2.embedding_multiplier = 5.6;
    gemma2.sliding_window = 6;
    gemma2.layers = {{6, 0}, {{}, 0}};
    gemma3 = gemma2;
    gemma3.score_softcap = gemma3.logit_softcap = 0;
    gemma3.qk_norm = QkNorm::PerHead;
    gemma3.ropes = {{}, {}};
    gemma3.ropes[1].theta = 100;
    gemma3.layers = {{6, 1}, {{}, 0}};
    olmo.norms_inputs = false;
    olmo.norms_outputs = true;
    olmo.qk_norm = QkNorm::Whole;
    granite.embedding_multiplier = 3;
    granite.residual_multiplier = 0.3;
    granite.logit_multiplier = 0.5;
    granite.attention_scale = 0.2;
    granite.layers = {{{}, -1}, {{}, 0}};  // as in SmolLM3, one layer has no rotary embedding
    arcee.gate = {Activation::Relu2, false};
    arcee.qk_norm = QkNorm::PerHead;
    arcee.qk_norm_after_rotary = true;
    glm.norms_outputs = glm.qkv_bias = true;
    glm.ropes[0].rotary_dim = 4;
    glm.ropes[0].interleaved = true;
    ModelConfig neox = llama;
    neox.num_kv_heads = neox.num_heads;
    neox.qkv_by_heads = neox.qkv_bias = neox.parallel_blocks = neox.parallel_norms = true;
    neox.layer_norms = neox.norm_biases = true;
    ModelConfig phi = llama;
    phi.ropes[0].rotary_dim = 6;
    phi.ropes[0].type = "longrope";
    phi.ropes[0].original_max_position_embeddings = 20;  // one document is shorter than this, one longer
    phi.ropes[0].short_factor = {1, 1.1, 1.3};
    phi.ropes[0].long_factor = {1.5, 2, 4};
    ModelConfig ministral = llama;
    ministral.ropes[0].query_scale_beta = 0.1;
    ministral.ropes[0].original_max_position_embeddings = 8;
    ModelConfig gpt_oss = llama;
    gpt_oss.attention_sinks = gpt_oss.qkv_bias = gpt_oss.output_bias = true;
    gpt_oss.layers = {{6, 0}, {{}, 0}};
    gpt_oss.sliding_window = 6;
    gpt_oss.num_experts = 5;
    gpt_oss.experts_per_token = 2;
    gpt_oss.expert_intermediate_size = 12;
    gpt_oss.norms_expert_weights = gpt_oss.expert_biases = gpt_oss.experts_transposed = true;
    gpt_oss.gate.limit = 0.3;
    gpt_oss.initializer_range = 0.4;
    ModelConfig parts = llama;  // as in Nemotron-H, each layer is attention, an MLP, or experts
    parts.num_layers = 4;
    parts.layers = {{.lacks_mlp = true},
                    {.dense = true, .lacks_mixer = true},
                    {.lacks_mixer = true},
                    {.rope = -1, .lacks_mlp = true}};
    parts.gate = {Activation::Relu2, false};
    parts.num_experts = 5;
    parts.experts_per_token = 2;
    parts.expert_intermediate_size = 12;
    parts.shared_expert_intermediate_size = 10;
    parts.gates_shared_expert = false;
    parts.initializer_range = 0.4;
    Kept in_parts;
    in_parts.mlp_tile_tokens = 11;
    in_parts.loss_chunk_tokens = 7;
    Kept checkpointed;
    checkpointed.checkpointing = true;
    return {{"llama", llama, {}},
            {"in chunks and tiles", llama, in_parts},
            {"tied, biases", qwen2, {}},
            {"norms of q and k", qwen3, {}},
            {"window", windowed, {}},
            {"dynamic rotary embedding", dynamic, {}},
            {"Gemma 2", gemma2, {}},
            {"Gemma 2 in chunks and tiles", gemma2, in_parts},
            {"Gemma 3", gemma3, {}},
            {"Gemma 3, checkpointed", gemma3, checkpointed},
            {"OLMo 2", olmo, {}},
            {"OLMo 2 in chunks and tiles", olmo, in_parts},
            {"Granite", granite, {}},
            {"Granite, checkpointed", granite, checkpointed},
            {"Arcee", arcee, {}},
            {"GLM-4", glm, {}},
            {"GPT-NeoX", neox, {}},
            {"Phi-3", phi, {}},
            {"Ministral 3", ministral, {}},
            {"gpt-oss", gpt_oss, {}},
            {"gpt-oss in chunks and tiles", gpt_oss, in_parts},
            {"layers of one part", parts, {}},
            {"layers of one part, checkpointed", parts, checkpointed},
            {"layers of one part in chunks and tiles", parts, in_parts}};
}

/// Holds two documents of random tokens; some labels are masked.
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

TEST(PlainModel, HasTheDecodersNoise) {
    const Documents data;
    const ModelConfig model = cases().front().model;
    Plan plan;
    plan.model = model;
    plan.context_parallel.layout = RingAttnFunc::BatchRing;
    plan.config.sample_packing = true;
    plan.config.sequence_len = kTokens;
    plan.config.optim_args = {{"neftune_noise_alpha", 9.0}, {"neftune_length_multiple", 64}};
    run_ranks(Mesh{}, [&](int, Groups& groups) {
        const at::NoGradGuard no_grad;
        TrainedModel trained(model, {}, Precision::Float32, at::kCPU);
        trained.weights.initialize(model, 1);
        MeshPass pass(plan, groups, trained, {});
        EmbeddingNoise noise(plan.config);
        pass.begin_step(4, 2);
        noise.begin_step(4, 2);
        const MeshPass::Result mesh = pass.forward_backward({{data.row()}}, 1, 0.02);
        std::vector<PlainDocument> documents;
        for (const Row& row : data.row().documents())
            documents.push_back({row, kTokens - kTokens / 3, kTokens});
        const auto plain = [&](const EmbeddingNoise* added) {
            return plain_gradients(
                model, trained, groups, documents, 0.02, [](int, const at::Tensor&) {}, added);
        };
        const PlainGradients noisy = plain(&noise);
        EXPECT_NEAR(mesh.loss_sum / noisy.loss_sum, 1, 1e-5);
        EXPECT_GT(std::abs(mesh.loss_sum / plain(nullptr).loss_sum - 1), 1e-3);
        expect_alike(trained.weights, trained.weights.gradients(), noisy.gradients, "noise");
    });
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
            for (const Row& row : data.row().documents())
                documents.push_back({row, kTokens - kTokens / 3, kTokens});
            const PlainGradients plain =
                plain_gradients(model, trained, groups, documents, 0.02, [](int, const at::Tensor&) {});
            EXPECT_NEAR(mesh.loss_sum / plain.loss_sum, 1, 1e-5) << name;
            expect_alike(trained.weights, trained.weights.gradients(), plain.gradients, name);
        });
    }
}

}  // namespace
}  // namespace ringmaster
