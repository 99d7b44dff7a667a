// Tests how the fields of single families are read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "tests/plan/model_configs.h"

namespace ringmaster {
namespace {

using nlohmann::json;

/// Reads the config.json of nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16.
TEST(ModelConfig, AFileWithExpertsWithoutGatesIsReadAsItsClassReadsIt) {
    const json values = json::parse(R"({"architectures": ["NemotronHForCausalLM"], "attention_bias": false,
        "attention_dropout": 0.0, "bos_token_id": 1, "chunk_size": 128, "conv_kernel": 4, "eos_token_id": 2,
        "expand": 2, "head_dim": 128, "hidden_dropout": 0.0, "hidden_size": 2688,
        "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
        "initializer_range": 0.02, "intermediate_size": 1856, "layer_norm_epsilon": 1e-05,
        "mamba_head_dim": 64, "mamba_hidden_act": "silu", "mamba_num_heads": 64, "mamba_proj_bias": false,
        "mamba_ssm_cache_dtype": "float32", "max_position_embeddings": 262144, "mlp_bias": false,
        "mlp_hidden_act": "relu2", "model_type": "nemotron_h", "moe_intermediate_size": 1856,
        "moe_shared_expert_intermediate_size": 3712, "n_group": 1, "n_groups": 8, "n_routed_experts": 128,
        "n_shared_experts": 1, "norm_eps": 1e-05, "norm_topk_prob": true, "num_attention_heads": 32,
        "num_experts_per_tok": 6, "num_hidden_layers": 52, "num_key_value_heads": 2, "num_logits_to_keep": 1,
        "pad_token_id": 0, "partial_rotary_factor": 1.0, "rescale_prenorm_residual": true,
        "residual_in_fp32": false, "rope_theta": 10000, "routed_scaling_factor": 2.5, "sliding_window": null,
        "ssm_state_size": 128, "tie_word_embeddings": false, "time_step_floor": 0.0001, "time_step_max": 0.1,
        "time_step_min": 0.001, "topk_group": 1, "torch_dtype": "bfloat16", "transformers_version": "4.55.4",
        "use_bias": false, "use_cache": true, "use_conv_bias": true, "use_mamba_kernels": true,
        "vocab_size": 131072})");
    const ModelConfig model = read(values);
    EXPECT_THAT(model.obstacles, testing::IsEmpty());
    EXPECT_EQ(model.sparse_layers(), 23);
    EXPECT_EQ(model.delta.projected(), 2 * 4096 + 2 * 8 * 128 + 64);
    const auto known = find_model_config("nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16", "");
    ASSERT_TRUE(known);
    EXPECT_EQ(model_config_to_json(*known), model_config_to_json(model));
    json latent = values;
    latent["moe_latent_size"] = 1024;
    EXPECT_THAT(read(latent).obstacles, testing::IsEmpty());
    EXPECT_EQ(read(latent).expert_outer_size(), 1024);
    json odd = values;
    odd["n_groups"] = 7;
    try {
        read(odd);
        ADD_FAILURE() << "64 heads are not 7 groups";
    } catch (const Error& error) {
        EXPECT_THAT(error.what(), testing::HasSubstr("'mamba_num_heads' is no multiple of 'n_groups'"));
    }
    odd.erase("n_groups");
    odd["conv_kernel"] = "wide";
    EXPECT_THAT([&] { read(odd); },
                testing::Throws<Error>(testing::Property(&Error::what, testing::HasSubstr("'conv_kernel'"))));
}

/// Reads the config.json of ai21labs/AI21-Jamba-1.5-Mini.
TEST(ModelConfig, AFileOfMamba1IsReadAsItsClassReadsIt) {
    json values = json::parse(R"({"architectures": ["JambaForCausalLM"], "attention_dropout": 0.0,
        "attn_layer_offset": 4, "attn_layer_period": 8, "bos_token_id": 1, "eos_token_id": [2, 518],
        "expert_layer_offset": 1, "expert_layer_period": 2, "hidden_act": "silu", "hidden_size": 4096,
        "initializer_range": 0.02, "intermediate_size": 14336, "mamba_conv_bias": true, "mamba_d_conv": 4,
        "mamba_d_state": 16, "mamba_dt_rank": 256, "mamba_expand": 2, "mamba_proj_bias": false,
        "max_position_embeddings": 262144, "model_type": "jamba", "num_attention_heads": 32,
        "num_experts": 16, "num_experts_per_tok": 2, "num_hidden_layers": 32, "num_key_value_heads": 8,
        "num_logits_to_keep": 1, "output_router_logits": false, "pad_token_id": 0, "rms_norm_eps": 1e-06,
        "router_aux_loss_coef": 0.001, "sliding_window": null, "tie_word_embeddings": false,
        "torch_dtype": "bfloat16", "transformers_version": "4.40.1", "use_cache": true,
        "use_mamba_kernels": true, "vocab_size": 65536})");
    const ModelConfig model = read(values);
    EXPECT_THAT(model.obstacles, testing::IsEmpty());
    EXPECT_EQ(model.sparse_layers(), 16);
    EXPECT_TRUE(model.delta.scans());
    EXPECT_EQ(model.delta.projected(), 2 * 8192);
    EXPECT_EQ(model.delta.selected(), 256 + 2 * 16);
    for (int64_t layer = 0; layer < model.num_layers; ++layer) {
        EXPECT_EQ(model.layer_kind(layer).attends(), layer % 8 == 4) << layer;
        EXPECT_EQ(model.has_experts(model.layer_kind(layer)), layer % 2 == 1) << layer;
    }
    EXPECT_NEAR(double(parameter_count(model)), 51.6e9, 0.05e9);
    for (const char* name : {"ai21labs/AI21-Jamba-1.5-Mini", "ai21labs/Jamba-v0.1"}) {
        const auto known = find_model_config(name, "");
        ASSERT_TRUE(known) << name;
        EXPECT_EQ(model_config_to_json(*known), model_config_to_json(model)) << name;
    }
    const auto large = find_model_config("ai21labs/AI21-Jamba-1.5-Large", "");
    ASSERT_TRUE(large);
    EXPECT_NEAR(double(parameter_count(*large)), 398.6e9, 0.5e9);
    values["mamba_dt_rank"] = "auto";
    EXPECT_EQ(model_config_to_json(read(values)), model_config_to_json(model));
    values["num_experts"] = 1;
    EXPECT_EQ(read(values).sparse_layers(), 0) << "its class has an MLP in place of one expert";
}

TEST(ModelConfig, WhatAMamba1LayerCannotHaveIsNamed) {
    const auto changed = [](const char* key, const json& value) {
        json values = small("jamba");
        values[key] = value;
        return values;
    };
    EXPECT_THAT(read(small("jamba")).obstacles, testing::ElementsAre("layer_types without attention"));
    EXPECT_THAT(read(changed("mamba_proj_bias", true)).obstacles, testing::Contains("mamba_proj_bias"));
    EXPECT_THAT(read(changed("hidden_act", "gelu")).obstacles, testing::Contains("hidden_act"));
    EXPECT_THAT(read(changed("mamba_inner_layernorms", false)).obstacles,
                testing::Contains("mamba_inner_layernorms"));
    EXPECT_THAT(refusal(changed("attn_layer_offset", 8)), testing::HasSubstr("'attn_layer_offset'"));
    EXPECT_THAT(refusal(changed("expert_layer_offset", 1.5)), testing::HasSubstr("'expert_layer_offset'"));
    EXPECT_THAT(refusal(changed("mamba_dt_rank", "large")), testing::HasSubstr("'mamba_dt_rank'"));
}

TEST(ModelConfig, EachLayerOfAHybridHasTheNamedParts) {
    json values = small("nemotron_h");
    values.update({{"num_hidden_layers", 9}, {"hybrid_override_pattern", "M-E*"}});
    const ModelConfig model = read(values);
    EXPECT_THAT(model.obstacles, testing::IsEmpty());
    ASSERT_EQ(model.num_layers, 4) << "its class counts the letters";
    EXPECT_TRUE(model.layer_kind(0).is_recurrent && model.layer_kind(0).lacks_mlp);
    EXPECT_TRUE(model.layer_kind(1).lacks_mixer && !model.has_experts(model.layer_kind(1)));
    EXPECT_TRUE(model.layer_kind(2).lacks_mixer && model.has_experts(model.layer_kind(2)));
    EXPECT_TRUE(model.layer_kind(3).attends() && model.layer_kind(3).lacks_mlp);
    EXPECT_EQ(model.layer_kinds().size(), 1);
    values["layers_block_type"] = {"attention", "mlp"};
    EXPECT_EQ(read(values).num_layers, 2) << "the list counts";
    values["layers_block_type"] = {"mlp"};
    EXPECT_THAT(read(values).obstacles, testing::ElementsAre("layer_types without attention"));
    values["layers_block_type"] = {"attention", "convolution"};
    EXPECT_THAT(refusal(values), testing::HasSubstr("'convolution'"));

    values = small("granitemoehybrid");
    values.update({{"layer_types", {"mamba", "attention"}}, {"num_local_experts", 0}});
    EXPECT_TRUE(read(values).layer_kind(0).is_recurrent && !read(values).layer_kind(0).lacks_mlp);
    EXPECT_EQ(read(values).layer_kind(1).rope, -1);
    values["position_embedding_type"] = "rope";
    EXPECT_EQ(read(values).layer_kind(1).rope, 0);
    EXPECT_EQ(read(values).intermediate_size, 1024) << "that of the shared MLP";
    values["layer_types"] = {"mamba", "moe"};
    EXPECT_THAT(refusal(values), testing::HasSubstr("'moe'"));
}

/// Reads the config.json of EleutherAI/pythia-410m.
TEST(ModelConfig, AnOldFileOfGptNeoxIsReadAsItsClassReadsIt) {
    const json values = json::parse(R"({"architectures": ["GPTNeoXForCausalLM"], "bos_token_id": 0,
        "classifier_dropout": 0.1, "eos_token_id": 0, "hidden_act": "gelu", "hidden_size": 1024,
        "initializer_range": 0.02, "intermediate_size": 4096, "layer_norm_eps": 1e-05,
        "max_position_embeddings": 2048, "model_type": "gpt_neox", "num_attention_heads": 16,
        "num_hidden_layers": 24, "rotary_emb_base": 10000, "rotary_pct": 0.25, "tie_word_embeddings": false,
        "torch_dtype": "float16", "use_cache": true, "use_parallel_residual": true, "vocab_size": 50304})");
    const ModelConfig model = read(values);
    EXPECT_THAT(model.obstacles, testing::IsEmpty());
    EXPECT_EQ(model.ropes[0].rotary_dim, 16);
    EXPECT_TRUE(model.parallel_blocks && model.parallel_norms && model.qkv_bias && model.output_bias);
    const auto known = find_model_config("EleutherAI/pythia-410m-deduped", "");
    ASSERT_TRUE(known);
    EXPECT_EQ(model_config_to_json(*known), model_config_to_json(model));
    json other = values;
    other["rope_parameters"] = {
        {"rope_theta", 500.0}, {"partial_rotary_factor", 0.5}, {"rope_type", "default"}};
    EXPECT_EQ(read(other).ropes[0].rotary_dim, 32) << "the new spelling counts";
    EXPECT_EQ(read(other).ropes[0].theta, 500);
}

TEST(ModelConfig, AMixturesFieldsAreReadAsItsClassReadsThem) {
    json values = small("mixtral");
    values.update({{"num_local_experts", 6}, {"num_experts_per_tok", 3}, {"output_router_logits", true}});
    values["router_aux_loss_coef"] = 0.02;
    const ModelConfig mixtral = read(values);
    EXPECT_EQ(mixtral.num_experts, 6);
    EXPECT_EQ(mixtral.expert_intermediate_size, mixtral.intermediate_size);
    EXPECT_TRUE(mixtral.norms_expert_weights && mixtral.adds_router_loss);
    EXPECT_EQ(mixtral.router_loss_coefficient, 0.02);
    values["num_experts_per_tok"] = 7;
    EXPECT_THROW(read(values), Error);
    values = small("qwen3_moe");
    values.update({{"num_local_experts", 9}, {"use_sliding_window", true}, {"max_window_layers", 9}});
    const ModelConfig qwen = read(values);
    EXPECT_EQ(qwen.num_experts, 9);
    EXPECT_FALSE(qwen.norms_expert_weights || qwen.adds_router_loss);
    EXPECT_EQ(qwen.layer_kind(0).window, 4096) << "its class reads no max_window_layers";
    values = small("qwen2_moe");
    values.update({{"use_sliding_window", true}, {"sliding_window", 7}, {"num_hidden_layers", 4}});
    values["max_window_layers"] = 3;
    const ModelConfig alternating = read(values);
    EXPECT_EQ(alternating.shared_expert_intermediate_size, 5632);
    for (int64_t layer = 0; layer < 4; ++layer)
        EXPECT_EQ(alternating.layer_kind(layer).window.has_value(), layer == 0 || layer == 2) << layer;
}

TEST(ModelConfig, TheHubsFileOfGptOssIsReadAsItsClassReadsIt) {
    json values = json::parse(R"({"architectures": ["GptOssForCausalLM"], "attention_bias": true,
        "attention_dropout": 0.0, "eos_token_id": 200002, "experts_per_token": 4, "head_dim": 64,
        "hidden_act": "silu", "hidden_size": 2880, "initial_context_length": 4096, "initializer_range": 0.02,
        "intermediate_size": 2880, "max_position_embeddings": 131072, "model_type": "gpt_oss",
        "num_attention_heads": 64, "num_experts_per_tok": 4, "num_hidden_layers": 36, "num_key_value_heads": 8,
        "num_local_experts": 128, "output_router_logits": false, "pad_token_id": 199999,
        "quantization_config": {"modules_to_not_convert": ["model.layers.*.self_attn",
            "model.layers.*.mlp.router", "model.embed_tokens", "lm_head"], "quant_method": "mxfp4"},
        "rms_norm_eps": 1e-05, "rope_scaling": {"beta_fast": 32.0, "beta_slow": 1.0, "factor": 32.0,
            "original_max_position_embeddings": 4096, "rope_type": "yarn", "truncate": false},
        "rope_theta": 150000, "router_aux_loss_coef": 0.9, "sliding_window": 128, "swiglu_limit": 7.0,
        "tie_word_embeddings": false, "use_cache": true, "vocab_size": 201088})");
    for (int layer = 0; layer < 36; ++layer)
        values["layer_types"].push_back(layer % 2 == 0 ? "sliding_attention" : "full_attention");
    ModelConfig model = read(values);
    EXPECT_THAT(model.obstacles, testing::IsEmpty());
    EXPECT_FALSE(model.quantization.on()) << "its weights are dequantised when they are read";
    EXPECT_EQ(model.layer_kind(0).window, 128);
    EXPECT_EQ(model.layer_kind(35).window, std::nullopt);
    model.router_loss_coefficient = 0.001;  // only used with output_router_logits
    model.padding_token.reset();
    const auto known = find_model_config("openai/gpt-oss-120b", "");
    ASSERT_TRUE(known);
    EXPECT_EQ(model_config_to_json(*known), model_config_to_json(model));
    const json record = model_config_to_json(model);
    EXPECT_EQ(model_config_to_json(model_config_from_record(record, "plan.json")), record);
    values["quantization_config"]["quant_method"] = "gptq";
    EXPECT_THROW(read(values), Error);
}

/// Reads the config.json of zai-org/GLM-4.7-Flash.
TEST(ModelConfig, AFileWithLatentsAndGroupedExpertsIsReadAsItsClassReadsIt) {
    const json values = json::parse(R"({"architectures": ["Glm4MoeLiteForCausalLM"], "attention_bias": false,
        "attention_dropout": 0.0, "pad_token_id": 154820, "eos_token_id": [154820, 154827, 154829],
        "hidden_act": "silu", "hidden_size": 2048, "intermediate_size": 10240,
        "max_position_embeddings": 202752, "model_type": "glm4_moe_lite", "moe_intermediate_size": 1536,
        "topk_method": "noaux_tc", "norm_topk_prob": true, "num_attention_heads": 20, "n_group": 1,
        "topk_group": 1, "n_routed_experts": 64, "n_shared_experts": 1, "routed_scaling_factor": 1.8,
        "num_experts_per_tok": 4, "first_k_dense_replace": 1, "num_hidden_layers": 47,
        "num_key_value_heads": 20, "num_nextn_predict_layers": 1, "partial_rotary_factor": 1.0,
        "rms_norm_eps": 1e-05, "rope_scaling": null, "rope_theta": 1000000, "tie_word_embeddings": false,
        "dtype": "bfloat16", "transformers_version": "5.0.0rc0", "q_lora_rank": 768, "kv_lora_rank": 512,
        "qk_nope_head_dim": 192, "qk_rope_head_dim": 64, "v_head_dim": 256, "vocab_size": 154880})");
    const ModelConfig model = read(values);
    EXPECT_THAT(model.obstacles, testing::IsEmpty());
    EXPECT_EQ(model.head_dim, 256);
    EXPECT_EQ(model.ropes[0].rotary_dim, 64);
    EXPECT_TRUE(model.layer_kind(0).dense && model.has_experts(model.layer_kind(1)));
    EXPECT_TRUE(model.router.sigmoid && model.router.corrects && !model.gates_shared_expert);
    EXPECT_EQ(buffer_shapes(model).size(), 46u);
    const auto known = find_model_config("zai-org/GLM-4.7-Flash", "");
    ASSERT_TRUE(known);
    EXPECT_EQ(model_config_to_json(*known), model_config_to_json(model));
    json other = values;
    other["rope_scaling"] = {{"type", "yarn"}, {"factor", 40}, {"mscale_all_dim", 1.0}, {"mscale", 1.0}};
    const double factor = 0.1 * std::log(40.0) + 1;
    EXPECT_DOUBLE_EQ(read(other).attention_scale, factor * factor / 16);
    other["n_group"] = 6;
    EXPECT_THROW(read(other), Error) << "64 experts are not 6 groups";
}

json gemma4() {
    json values = small("gemma4_text");
    values.erase("hidden_act");
    values.update({{"num_hidden_layers", 7},
                   {"head_dim", 16},
                   {"global_head_dim", 32},
                   {"sliding_window", 24},
                   {"hidden_size_per_layer_input", 0},
                   {"attention_k_eq_v", true}});
    values["num_global_key_value_heads"] = 1;
    return values;
}

TEST(ModelConfig, Gemma4sGlobalLayersHaveHeadsOfOtherSizes) {
    const ModelConfig model = read(gemma4());
    EXPECT_THAT(model.obstacles, testing::IsEmpty());
    for (const int64_t layer : {5, 6})  // its class makes the last layer global
        EXPECT_TRUE(model.layer_kind(layer).global && !model.layer_kind(layer).window) << layer;
    EXPECT_EQ(model.layer_kind(0).window, 24);
    EXPECT_EQ(model.of_layer(0).head_dim, 16);
    const ModelConfig global = model.of_layer(5);
    EXPECT_EQ(global.head_dim, 32);
    EXPECT_EQ(global.num_kv_heads, 1);
    EXPECT_TRUE(global.values_are_keys);
    EXPECT_EQ(model.ropes[0].type, "proportional");
    EXPECT_EQ(model.ropes[0].rotary_dim, 32);
    EXPECT_EQ(model.ropes[0].share, 0.25);
    const json record = model_config_to_json(model);
    EXPECT_EQ(model_config_to_json(model_config_from_record(record, "plan.json")), record);
    // transformers saves the sizes of each layer in place of the fields from which they come.
    json saved = gemma4();
    for (const char* field : {"global_head_dim", "num_global_key_value_heads"}) saved.erase(field);
    for (const char* layer : {"5", "6"})
        saved["per_layer_config"][layer] = {{"head_dim", 32}, {"num_key_value_heads", 1}};
    EXPECT_EQ(model_config_to_json(read(saved)), record);
    saved["per_layer_config"]["6"]["head_dim"] = 48;
    EXPECT_THAT(read(saved).obstacles, testing::Contains("per_layer_config"));
}

TEST(ModelConfig, Gemma4sMixtureIsInTheTableAsTheTextOfAWrapper) {
    const auto known = find_model_config("google/gemma-4-26B-A4B-it", "");
    ASSERT_TRUE(known);
    EXPECT_THAT(known->obstacles, testing::IsEmpty());
    EXPECT_EQ(known->weight_prefix, "model.language_model.");
    EXPECT_TRUE(known->experts_beside_mlp && known->router.norms_input);
    EXPECT_EQ(known->of_layer(5).num_kv_heads, 2);
    EXPECT_EQ(known->of_layer(5).head_dim, 512);
    const double billions = double(parameter_count(*known)) / 1e9;
    EXPECT_NEAR(billions, 25.2, 0.1) << "the release says 25.2 billion";
    EXPECT_NEAR(double(parameter_count(*find_model_config("google/gemma-4-31B", ""))) / 1e9, 30.7, 0.1);
}

TEST(ModelConfig, WhatIsNotComputedOfGemma4IsNamed) {
    const auto obstacle = [](const char* field, const json& value) {
        json values = gemma4();
        values[field] = value;
        return read(values).obstacles;
    };
    EXPECT_THAT(obstacle("use_bidirectional_attention", "all"),
                testing::Contains("use_bidirectional_attention"));
    EXPECT_THAT(obstacle("use_bidirectional_attention", "vision"), testing::IsEmpty());
    EXPECT_THAT(obstacle("rope_parameters", {{"full_attention", {{"rope_type", "linear"}, {"factor", 2}}}}),
                testing::Contains("rope_type 'linear'"));
    json absent = gemma4();
    absent.erase("hidden_size_per_layer_input");
    EXPECT_EQ(read(absent).layer_input_width, 256) << "its class has 256 by default";
    EXPECT_EQ(read(absent).layer_inputs_vocabulary, 262144);
}

TEST(ModelConfig, Gemma4sLastLayersReadTheKeysOfTheLastOneOfTheirKind) {
    json values = gemma4();
    values.update({{"num_kv_shared_layers", 1}, {"use_double_wide_mlp", true}});
    const ModelConfig model = read(values);
    EXPECT_THAT(model.obstacles, testing::IsEmpty());
    EXPECT_EQ(model.layer_kind(5).keys_of, -1);
    EXPECT_EQ(model.layer_kind(6).keys_of, 5);
    EXPECT_TRUE(model.layer_kind(6).wide && !model.layer_kind(5).wide);
    EXPECT_TRUE(model.of_layer(5).values_are_keys && !model.of_layer(6).values_are_keys);
    EXPECT_EQ(model.layer_kinds().size(), 2) << "it attends as the layer whose keys it reads";
    values["num_kv_shared_layers"] = 2;
    EXPECT_THROW(read(values), Error) << "no layer without a window makes keys";
    const json record = model_config_to_json(model);
    EXPECT_EQ(model_config_to_json(model_config_from_record(record, "plan.json")), record);
}

TEST(ModelConfig, Gemma4sSmallModelsAreInTheTable) {
    const auto e2b = find_model_config("google/gemma-4-E2B-it", "");
    ASSERT_TRUE(e2b);
    EXPECT_THAT(e2b->obstacles, testing::IsEmpty());
    EXPECT_EQ(e2b->layer_kind(15).keys_of, 13);
    EXPECT_EQ(e2b->layer_kind(34).keys_of, 14) << "the last layer without a window before the shared ones";
    EXPECT_TRUE(e2b->lends_keys(13) && e2b->lends_keys(14) && !e2b->lends_keys(12));
    EXPECT_EQ(e2b->of_layer(14).intermediate_size, 6144);
    EXPECT_EQ(e2b->of_layer(34).intermediate_size, 12288);
    EXPECT_EQ(e2b->of_layer(34).head_dim, 512);
    EXPECT_TRUE(e2b->of_layer(34).borrows_keys);
    // The published counts, 2.3 and 4.5 billion parameters, leave out the second embedding.
    const auto without_table = [](const ModelConfig& model) {
        return double(parameter_count(model) - model.layer_inputs_vocabulary * model.layer_inputs_width) /
               1e9;
    };
    EXPECT_NEAR(without_table(*e2b), 2.3, 0.05);
    const auto e4b = find_model_config("google/gemma-4-E4B", "");
    ASSERT_TRUE(e4b);
    EXPECT_THAT(e4b->obstacles, testing::IsEmpty());
    EXPECT_EQ(e4b->layer_kind(24).keys_of, 22);
    EXPECT_EQ(e4b->layer_kind(41).keys_of, 23);
    EXPECT_EQ(e4b->of_layer(41).intermediate_size, 10240);
    EXPECT_NEAR(without_table(*e4b), 4.5, 0.2);
    const json record = model_config_to_json(*e2b);
    EXPECT_EQ(model_config_to_json(model_config_from_record(record, "plan.json")), record);
    json wrong = record;
    wrong["layers"][20]["keys_of"] = 25;
    EXPECT_THROW(model_config_from_record(wrong, "plan.json"), Error) << "a later layer's keys";
    wrong["layers"][20]["keys_of"] = 14;
    EXPECT_THROW(model_config_from_record(wrong, "plan.json"), Error) << "heads of another size";
}

TEST(ModelConfig, AWrappersExpertsAreBelowItsPrefix) {
    json text = small("qwen3_5_moe_text");
    text.erase("intermediate_size");
    text.update({{"moe_intermediate_size", 8}, {"num_experts", 2}, {"num_experts_per_tok", 1}});
    const ModelConfig model = read({{"model_type", "qwen3_5_moe"}, {"text_config", text}});
    EXPECT_THAT(model.obstacles, testing::IsEmpty());
    for (const ParameterShape& shape : parameter_shapes(model)) {
        if (shape.role != Role::ExpertDown || shape.layer != 1) continue;
        const std::string experts = "model.language_model.layers.1.mlp.experts.";
        EXPECT_EQ(shape.file_name(), experts + "down_proj");
        EXPECT_THAT(shape.stored.parts,
                    testing::ElementsAre(experts + "0.down_proj.weight", experts + "1.down_proj.weight"));
    }
}

}  // namespace
}  // namespace ringmaster
