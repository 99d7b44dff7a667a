#include "engine/families/model_config.h"
#include "engine/families/hub_cache.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <unistd.h>

#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "tests/plan/model_configs.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

class TempDir {
  public:
    TempDir() : path_(fs::temp_directory_path() / ("ringmaster-model-" + std::to_string(::getpid()))) {
        fs::create_directories(path_);
    }
    ~TempDir() { fs::remove_all(path_); }
    const fs::path& path() const { return path_; }
    void write(const fs::path& name, const std::string& text) const {
        fs::create_directories((path_ / name).parent_path());
        std::ofstream(path_ / name) << text;
    }

  private:
    fs::path path_;
};

// The counts come from the hub's model pages.
TEST(ModelConfig, KnownModelsHaveTheirPublishedParameterCounts) {
    const std::pair<const char*, int64_t> published[] = {
        {"meta-llama/Llama-2-7b-hf", 6'738'415'616},
        {"meta-llama/Llama-2-70b-hf", 68'976'648'192},
        {"openai/gpt-oss-20b", 20'914'757'184},
        {"openai/gpt-oss-120b", 116'829'156'672},
        {"meta-llama/Llama-3-8B-Instruct", 8'030'261'248},
        {"meta-llama/Meta-Llama-3.1-8B", 8'030'261'248},
        {"meta-llama/Llama-3.3-70B-Instruct", 70'553'706'496},
        {"meta-llama/Llama-3.2-1B", 1'235'814'400},
        {"meta-llama/Llama-3.2-3B", 3'212'749'824},
        {"TinyLlama/TinyLlama_v1.1", 1'100'048'384},
        {"HuggingFaceTB/SmolLM2-135M", 134'515'008},
        {"HuggingFaceTB/SmolLM2-1.7B", 1'711'376'384},
        {"mistralai/Mistral-7B-v0.1", 7'241'732'096},
        {"mistralai/Mixtral-8x7B-v0.1", 46'702'792'704},
        {"Qwen/Qwen2.5-0.5B", 494'032'768},
        {"Qwen/Qwen2.5-7B", 7'615'616'512},
        {"Qwen/Qwen3-0.6B", 596'049'920},
        {"Qwen/Qwen3-8B", 8'190'735'360},
        {"Qwen/Qwen3-30B-A3B", 30'532'122'624},
        {"microsoft/phi-2", 2'779'683'840},
        {"microsoft/Phi-3-mini-4k-instruct", 3'821'079'552},
        {"google/gemma-2b", 2'506'172'416},
        {"google/gemma-2-2b", 2'614'341'888},
        {"google/gemma-3-1b-it", 999'885'952},
        {"deepseek-ai/deepseek-coder-1.3b-base", 1'346'471'936},
        {"deepseek-ai/deepseek-coder-6.7b-instruct", 6'740'512'768},
        {"Qwen/Qwen1.5-7B", 7'721'324'544},
        {"Qwen/Qwen1.5-14B", 14'167'290'880},
        {"google/gemma-3-4b-it", 3'880'263'168},
        {"deepseek-ai/DeepSeek-V2-Lite", 15'706'484'224},
        {"deepseek-ai/DeepSeek-V2.5", 235'741'434'880},
    };
    for (const auto& [id, count] : published) {
        const std::optional<ModelConfig> model = find_model_config(id, "");
        ASSERT_TRUE(model) << id;
        EXPECT_EQ(parameter_count(*model), count) << id;
    }
}

TEST(ModelConfig, MirrorsOfKnownModelsAreKnown) {
    EXPECT_TRUE(find_model_config("NousResearch/Meta-Llama-3-8B", ""));
    EXPECT_TRUE(find_model_config("unsloth/Llama-3.2-1B-Instruct", ""));
    EXPECT_FALSE(find_model_config("someone/Llama-3.2-1B-Instruct", "")) << "a stranger's may be anything";
    EXPECT_FALSE(find_model_config("", ""));
    EXPECT_FALSE(find_model_config("nousresearch/", ""));
}

TEST(ModelConfig, ParametersHaveHuggingFaceNamesInTheOrderOfTheEngine) {
    json values = small("qwen3");
    values["head_dim"] = 16;
    values["attention_bias"] = true;
    values["num_hidden_layers"] = 1;
    std::vector<std::string> names;
    for (const ParameterShape& shape : parameter_shapes(read(values))) names.push_back(shape.name);
    const std::string layer = "model.layers.0.", attn = layer + "self_attn.";
    EXPECT_THAT(names,
                testing::ElementsAre("model.embed_tokens.weight", layer + "input_layernorm.weight",
                                     attn + "q_proj.weight", attn + "k_proj.weight", attn + "v_proj.weight",
                                     attn + "q_proj.bias", attn + "k_proj.bias", attn + "v_proj.bias",
                                     attn + "q_norm.weight", attn + "k_norm.weight", attn + "o_proj.weight",
                                     attn + "o_proj.bias", layer + "post_attention_layernorm.weight",
                                     layer + "mlp.gate_proj.weight", layer + "mlp.up_proj.weight",
                                     layer + "mlp.down_proj.weight", "model.norm.weight", "lm_head.weight"));
}

TEST(ModelConfig, NormsAndBiasesDoNotDecay) {
    for (const ParameterShape& shape : parameter_shapes(read(small("qwen2")))) {
        const bool one_dimensional = shape.shape.size() == 1;
        EXPECT_EQ(shape.decays, !one_dimensional) << shape.name;
        EXPECT_EQ(shape.layer >= 0, shape.name.starts_with("model.layers.")) << shape.name;
    }
}

TEST(ModelConfig, TiedEmbeddingsHaveNoHead) {
    json values = small("llama");
    values["tie_word_embeddings"] = true;
    EXPECT_EQ(parameter_shapes(read(values)).back().name, "model.norm.weight");
}

/// In transformers 5.23, these models tie their head if the outer configuration sets tie_word_embeddings,
/// whatever its text_config says.
TEST(ModelConfig, AWrapperDecidesWhetherItsTextPartIsTied) {
    for (const auto& [wrapper, text] :
         {std::pair("gemma3", "gemma3_text"), std::pair("mistral3", "mistral")}) {
        for (const bool inner : {false, true}) {
            for (const bool outer : {false, true}) {
                json values{
                    {"model_type", wrapper}, {"tie_word_embeddings", outer}, {"text_config", small(text)}};
                values["text_config"]["tie_word_embeddings"] = inner;
                EXPECT_EQ(read(values).tie_word_embeddings, outer) << wrapper << inner;
            }
        }
    }
}

TEST(ModelConfig, AbsentAndNullKeysMeanWhatTransformersTakesThemFor) {
    EXPECT_EQ(read(small("mistral")).sliding_window, 4096);
    json values = small("mistral");
    values["sliding_window"] = nullptr;
    EXPECT_FALSE(read(values).sliding_window);

    values = small("qwen2");
    values["sliding_window"] = 32768;
    EXPECT_FALSE(read(values).sliding_window) << "use_sliding_window is false";
    values["use_sliding_window"] = true;
    EXPECT_FALSE(read(values).sliding_window) << "max_window_layers 28 is beyond the last layer";
    values["max_window_layers"] = 1;
    EXPECT_EQ(read(values).sliding_window, 32768);

    EXPECT_EQ(read(small("qwen3")).head_dim, 128);
    EXPECT_EQ(read(small("llama")).head_dim, 16);
    EXPECT_TRUE(read(small("qwen2")).qkv_bias);
    EXPECT_FALSE(read(small("qwen2")).output_bias);
    values = small("llama");
    values.erase("num_key_value_heads");
    EXPECT_EQ(read(values).num_kv_heads, 4);
    values = small("mistral");
    values["num_attention_heads"] = 16;
    values.erase("num_key_value_heads");
    EXPECT_EQ(read(values).num_kv_heads, 8);
    values["num_key_value_heads"] = nullptr;
    EXPECT_EQ(read(values).num_kv_heads, 16);
}

TEST(ModelConfig, BothSpellingsOfRopeSayTheSame) {
    json four = small("llama");
    four["rope_theta"] = 500000.0;
    four["max_position_embeddings"] = 131072;
    const json scaling = {{"rope_type", "llama3"},
                          {"factor", 8.0},
                          {"low_freq_factor", 1.0},
                          {"high_freq_factor", 4.0},
                          {"original_max_position_embeddings", 8192}};
    json five = four;
    five.erase("rope_theta");
    four["rope_scaling"] = scaling;
    five["rope_parameters"] = scaling;
    five["rope_parameters"]["rope_theta"] = 500000.0;
    const ModelConfig old = read(four), now = read(five);
    EXPECT_EQ(model_config_to_json(old), model_config_to_json(now));
    EXPECT_EQ(now.ropes[0].theta, 500000.0);
    EXPECT_EQ(now.ropes[0].original_max_position_embeddings, 8192);
}

TEST(ModelConfig, YarnWithoutItsOriginalLengthTakesTheModels) {
    json values = small("llama");
    values["max_position_embeddings"] = 8192;
    values["rope_scaling"] = {{"type", "yarn"}, {"factor", 4}, {"beta_fast", 0}};
    const ModelConfig model = read(values);
    EXPECT_EQ(model.ropes[0].original_max_position_embeddings, 8192);
    EXPECT_EQ(model.ropes[0].beta_fast, 32) << "transformers reads 0 as left out";
    values["rope_scaling"]["factor"] = nullptr;
    values["rope_scaling"]["original_max_position_embeddings"] = 2048;
    EXPECT_EQ(read(values).ropes[0].factor, 4);
}

TEST(ModelConfig, WritingAndReadingKeepsEverything) {
    std::vector<json> all;
    for (const char* type :
         {"llama",         "mistral",     "qwen2",       "qwen3",    "phi",       "phi3",
          "gemma",         "gemma2",      "gemma3_text", "mixtral",  "qwen2_moe", "qwen3_moe",
          "starcoder2",    "granite",     "arcee",       "seed_oss", "smollm3",   "hunyuan_v1_dense",
          "ministral",     "ministral3",  "olmo2",       "olmo3",    "exaone4",   "glm",
          "glm4",          "cohere2",     "stablelm",    "nemotron", "gpt_neox",  "glm4_moe",
          "glm4_moe_lite", "deepseek_v3", "mistral4",    "falcon",   "gptj",      "minimax_m2",
          "lfm2",          "lfm2_moe",    "falcon_h1"}) {
        all.push_back(small(type));
    }
    for (const char* type : {"granitemoehybrid", "bamba", "jamba"}) all.push_back(small(type));
    all.push_back(small("nemotron_h"));
    all.back()["hybrid_override_pattern"] = "ME*-";
    all[0]["attention_bias"] = all[0]["mlp_bias"] = true;
    all[0]["rope_scaling"] = {
        {"type", "yarn"}, {"factor", 4}, {"mscale", 1.0}, {"attention_factor", 1.5}, {"truncate", false}};
    all[2].update({{"use_sliding_window", true}, {"max_window_layers", 0}, {"sliding_window", 77}});
    for (const json& values : all) {
        const ModelConfig model = read(values);
        const ModelConfig again = model_config_from_record(model_config_to_json(model), "plan.json");
        EXPECT_EQ(model_config_to_json(again), model_config_to_json(model)) << values;
        EXPECT_EQ(parameter_count(again), parameter_count(model)) << values;
        EXPECT_EQ(again.sliding_window, model.sliding_window) << values;
        EXPECT_EQ(again.qkv_bias, model.qkv_bias) << values;
    }
}

TEST(ModelConfig, NumbersThatAreNotFiniteAreReadAsPythonWritesThem) {
    const TempDir dir;
    dir.write("config.json",
              R"({"model_type": "nemotron_h", "hidden_size": 64, "hybrid_override_pattern": "M*",
        "num_attention_heads": 4, "num_key_value_heads": 2, "intermediate_size": 96, "vocab_size": 100,
        "time_step_limit": [0.0, Infinity],
        "note": "an \"Infinity\" stays in a text", "least": -Infinity, "no_number": NaN})");
    EXPECT_THAT(read_model_config(dir.path()).obstacles,
                testing::UnorderedElementsAre("note", "least", "no_number"));
    dir.write("config.json", R"({"model_type": "nemotron_h", "hidden_size": Infinite})");
    EXPECT_THROW(read_model_config(dir.path()), Error);
}

TEST(ModelConfig, WhatIsNotComputedIsNamed) {
    using testing::Contains;
    for (const char* type :
         {"llama", "mistral", "qwen2", "qwen3", "phi3", "mixtral", "qwen2_moe", "qwen3_moe", "qwen3_next"})
        EXPECT_THAT(read(small(type)).obstacles, testing::IsEmpty()) << type;
    EXPECT_THAT(read(small("seed_oss")).obstacles, Contains("attention_dropout"))
        << "its class drops by default";
    json values = small("llama");
    values.update(
        {{"attention_dropout", 0.1}, {"shared_experts", 3}, {"hidden_act", "tanh"}, {"use_cache", true}});
    EXPECT_THAT(read(values).obstacles,
                testing::UnorderedElementsAre("attention_dropout", "shared_experts", "hidden_act 'tanh'"));
    values = small("llama");
    values.update({{"attention_dropout", 0.0},
                   {"new_switch", false},
                   {"new_list", json::array()},
                   {"new_text", nullptr}});
    EXPECT_TRUE(read(values).trainable()) << "fields that say nothing";
}

TEST(ModelConfig, WhatIsWrongIsNamed) {
    using testing::HasSubstr;
    EXPECT_THAT(refusal(json::array()), HasSubstr("not a JSON object"));
    EXPECT_THAT(refusal(json::object()), HasSubstr("'model_type' is missing"));
    EXPECT_THAT(refusal(small("gpt_9")), HasSubstr("'gpt_9'"));

    const auto with = [](const char* key, const json& value) {
        json values = small("llama");
        values[key] = value;
        return refusal(values);
    };
    for (const json& bad :
         {json(0), json(-5), json("64"), json(64.5), json(1e30), json(nullptr), json(json::array())}) {
        EXPECT_THAT(with("hidden_size", bad), HasSubstr("'hidden_size'")) << bad;
    }
    EXPECT_THAT(with("num_hidden_layers", 1'000'000'000), HasSubstr("'num_hidden_layers'"));
    EXPECT_THAT(with("num_key_value_heads", 3), HasSubstr("no multiple"));
    EXPECT_THAT(with("head_dim", 15), HasSubstr("odd"));
    EXPECT_THAT(with("rms_norm_eps", -1), HasSubstr("'rms_norm_eps'"));
    EXPECT_THAT(with("tie_word_embeddings", 1), HasSubstr("'tie_word_embeddings'"));
    EXPECT_THAT(with("quantization_config", {{"bits", 4}}), HasSubstr("quantised"));
    EXPECT_THAT(with("rope_scaling", "linear"), HasSubstr("'rope_scaling'"));
    EXPECT_THAT(with("rope_scaling", {{"type", "linear"}}), HasSubstr("'factor' is missing"));
    EXPECT_THAT(with("rope_scaling", {{"type", "longrope"}, {"factor", 2}}),
                HasSubstr("'short_factor' is missing"));
    json huge = small("llama");
    huge.update({{"hidden_size", 1'000'000},
                 {"intermediate_size", 10'000'000},
                 {"num_hidden_layers", 10'000},
                 {"num_attention_heads", 10'000},
                 {"num_key_value_heads", 10'000}});
    EXPECT_THAT(refusal(huge), HasSubstr("10^15"));
}

TEST(ModelConfig, AFolderWithoutAConfigOrWithADamagedOneIsNamed) {
    const TempDir dir;
    try {
        read_model_config(dir.path().string());
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.failure, Failure::Usage);
        EXPECT_EQ(error.where, dir.path().string());
    }
    for (const char* text :
         {"", "{", "{\"model_type\": \"llama\"", "\xff\xfe", "[1, 2", "{\"hidden_size\": 1e999}"}) {
        dir.write("config.json", text);
        try {
            read_model_config(dir.path().string());
            FAIL() << text;
        } catch (const Error& error) {
            EXPECT_EQ(error.failure, Failure::Refused) << text;
            EXPECT_THAT(error.where, testing::HasSubstr("config.json"));
        }
    }
    dir.write("config.json", std::string(200'000, '['));
    EXPECT_THROW(read_model_config(dir.path().string()), Error);
}

TEST(ModelConfig, TheCacheIsReadWithMainsRevisionFirst) {
    const TempDir dir;
    json first = small("llama"), second = small("llama");
    second["num_hidden_layers"] = 7;
    dir.write("models--me--mine/snapshots/aaa/config.json", first.dump());
    dir.write("models--me--mine/snapshots/bbb/config.json", second.dump());
    dir.write("models--me--mine/refs/main", "bbb\n");
    const std::string cache = dir.path().string();
    EXPECT_EQ(find_model_config("me/mine", cache)->num_layers, 7);
    dir.write("models--me--mine/snapshots/bbb/config.json", "{damaged");
    EXPECT_EQ(find_model_config("me/mine", cache)->num_layers, 2);
    dir.write("models--me--mine/snapshots/aaa/config.json", "");
    EXPECT_FALSE(find_model_config("me/mine", cache));
    EXPECT_FALSE(find_model_config("me/other", cache));
    EXPECT_FALSE(find_model_config("../../etc", cache));
    EXPECT_FALSE(find_model_config("me/mine", cache + "/absent"));
}

TEST(ModelConfig, ANamedRevisionIsReadExactlyOrNotAtAll) {
    const TempDir dir;
    json first = small("llama"), second = small("llama");
    second["num_hidden_layers"] = 7;
    const std::string model = "models--NousResearch--Meta-Llama-3-8B/";  // its shape is also built in
    dir.write(model + "snapshots/aaa/config.json", first.dump());
    dir.write(model + "snapshots/bbb/config.json", second.dump());
    dir.write(model + "refs/main", "bbb");
    dir.write(model + "refs/pr/2", "aaa");
    const auto layers = [&](const std::string& revision) {
        const auto found = cached_model_config("NousResearch/Meta-Llama-3-8B", revision, dir.path());
        return found ? found->num_layers : 0;
    };
    EXPECT_EQ(layers(""), 7);
    EXPECT_EQ(layers("main"), 7);
    EXPECT_EQ(layers("pr/2"), 2);
    EXPECT_EQ(layers("aaa"), 2);
    for (const std::string absent : {"v9", "../snapshots", "/", "snapshots/../bbb"})
        EXPECT_EQ(layers(absent), 0) << absent;
    EXPECT_TRUE(cached_snapshots("NousResearch/Meta-Llama-3-8B", "v9", dir.path()).empty());
    EXPECT_EQ(cached_snapshots("NousResearch/Meta-Llama-3-8B", "", dir.path()).size(), 2U);
}

}  // namespace
}  // namespace ringmaster
