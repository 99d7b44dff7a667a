#include <algorithm>
#include <array>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string_view>

#include "engine/error.h"
#include "engine/families/families.h"
#include "engine/families/hub_cache.h"
#include "engine/families/model_config.h"

namespace ringmaster {

namespace {

using nlohmann::json;

/// Holds a model's sizes as stated by its config.json on the hub. `names` are hub ids in lower case,
/// separated by spaces.
struct KnownModel {
    std::string_view names;
    std::string_view type;
    int64_t hidden, layers, heads, kv_heads, head_dim, intermediate, vocab, max_position;
    double rope_theta, norm_eps;
    bool tied = false;
    int64_t llama3_factor = 0;  // factor of the rope scaling in Llama 3.1 and later
    int64_t sliding_window = 0;
    int64_t experts = 0, experts_per_token = 0;
    int64_t expert_intermediate = 0;  // 0 if experts are as wide as `intermediate`
    std::string_view more = {};       // other fields, as JSON
};

constexpr std::string_view kLinear4 = R"({"rope_scaling": {"type": "linear", "factor": 4.0}})";
constexpr std::string_view kLinear8 = R"({"rope_scaling": {"rope_type": "linear", "factor": 8.0}})";
constexpr std::string_view kGlm160 =
    R"({"attention_bias": true, "use_qk_norm": true, "pad_token_id": 151329, "n_routed_experts": 160,
        "moe_intermediate_size": 1536, "first_k_dense_replace": 3, "routed_scaling_factor": 2.5})";

/// Every fifth layer of Gemma 4 E2B has no window.
#define E2B_LAYERS                                                                            \
    R"("sliding_attention", "sliding_attention", "sliding_attention", "sliding_attention", )" \
    R"("full_attention")"

// clang-format off
constexpr std::array kKnownModels = std::to_array<KnownModel>({
    // Llama
    {"huggyllama/llama-7b openlm-research/open_llama_7b openlm-research/open_llama_7b_v2",
     "llama", 4096, 32, 32, 32, 128, 11008, 32000, 2048, 1e4, 1e-6},
    {"openlm-research/open_llama_3b openlm-research/open_llama_3b_v2",
     "llama", 3200, 26, 32, 32, 100, 8640, 32000, 2048, 1e4, 1e-6},
    {"meta-llama/llama-2-7b-hf meta-llama/llama-2-7b-chat-hf meta-llama/llama-2-7b",
     "llama", 4096, 32, 32, 32, 128, 11008, 32000, 4096, 1e4, 1e-5},
    {"meta-llama/llama-2-13b-hf meta-llama/llama-2-13b-chat-hf meta-llama/llama-2-13b",
     "llama", 5120, 40, 40, 40, 128, 13824, 32000, 4096, 1e4, 1e-5},
    {"meta-llama/llama-2-70b-hf meta-llama/llama-2-70b-chat-hf meta-llama/llama-2-70b",
     "llama", 8192, 80, 64, 8, 128, 28672, 32000, 4096, 1e4, 1e-5},
    {"codellama/codellama-7b-hf codellama/codellama-7b-instruct-hf",
     "llama", 4096, 32, 32, 32, 128, 11008, 32016, 16384, 1e6, 1e-5},
    {"codellama/codellama-13b-hf codellama/codellama-13b-instruct-hf",
     "llama", 5120, 40, 40, 40, 128, 13824, 32016, 16384, 1e6, 1e-5},
    {"codellama/codellama-34b-hf codellama/codellama-34b-instruct-hf",
     "llama", 8192, 48, 64, 8, 128, 22016, 32000, 16384, 1e6, 1e-5},
    {"codellama/codellama-7b-python-hf", "llama", 4096, 32, 32, 32, 128, 11008, 32000, 16384, 1e6, 1e-5},
    {"deepseek-ai/deepseek-coder-1.3b-base deepseek-ai/deepseek-coder-1.3b-instruct",
     "llama", 2048, 24, 16, 16, 128, 5504, 32256, 16384, 1e5, 1e-6, false, 0, 0, 0, 0, 0, kLinear4},
    {"deepseek-ai/deepseek-coder-6.7b-base deepseek-ai/deepseek-coder-6.7b-instruct",
     "llama", 4096, 32, 32, 32, 128, 11008, 32256, 16384, 1e5, 1e-6, false, 0, 0, 0, 0, 0, kLinear4},
    {"tinyllama/tinyllama-1.1b-chat-v1.0 tinyllama/tinyllama-1.1b-intermediate-step-1431k-3t tinyllama/tinyllama_v1.1",
     "llama", 2048, 22, 32, 4, 64, 5632, 32000, 2048, 1e4, 1e-5},
    {"meta-llama/meta-llama-3-8b meta-llama/meta-llama-3-8b-instruct meta-llama/llama-3-8b meta-llama/llama-3-8b-instruct",
     "llama", 4096, 32, 32, 8, 128, 14336, 128256, 8192, 5e5, 1e-5},
    {"meta-llama/meta-llama-3-70b meta-llama/meta-llama-3-70b-instruct meta-llama/llama-3-70b meta-llama/llama-3-70b-instruct",
     "llama", 8192, 80, 64, 8, 128, 28672, 128256, 8192, 5e5, 1e-5},
    {"meta-llama/llama-3.1-8b meta-llama/llama-3.1-8b-instruct meta-llama/meta-llama-3.1-8b meta-llama/meta-llama-3.1-8b-instruct "
     "deepseek-ai/deepseek-r1-distill-llama-8b nousresearch/hermes-3-llama-3.1-8b arcee-ai/llama-3.1-supernova-lite",
     "llama", 4096, 32, 32, 8, 128, 14336, 128256, 131072, 5e5, 1e-5, false, 8},
    {"meta-llama/llama-3.1-70b meta-llama/llama-3.1-70b-instruct meta-llama/meta-llama-3.1-70b "
     "meta-llama/meta-llama-3.1-70b-instruct meta-llama/llama-3.3-70b-instruct deepseek-ai/deepseek-r1-distill-llama-70b",
     "llama", 8192, 80, 64, 8, 128, 28672, 128256, 131072, 5e5, 1e-5, false, 8},
    {"meta-llama/llama-3.1-405b meta-llama/llama-3.1-405b-instruct meta-llama/meta-llama-3.1-405b "
     "meta-llama/meta-llama-3.1-405b-instruct",
     "llama", 16384, 126, 128, 8, 128, 53248, 128256, 131072, 5e5, 1e-5, false, 8},
    {"meta-llama/llama-3.2-1b meta-llama/llama-3.2-1b-instruct",
     "llama", 2048, 16, 32, 8, 64, 8192, 128256, 131072, 5e5, 1e-5, true, 32},
    {"meta-llama/llama-3.2-3b meta-llama/llama-3.2-3b-instruct",
     "llama", 3072, 28, 24, 8, 128, 8192, 128256, 131072, 5e5, 1e-5, true, 32},
    {"huggingfacetb/smollm-135m huggingfacetb/smollm-135m-instruct",
     "llama", 576, 30, 9, 3, 64, 1536, 49152, 2048, 1e4, 1e-5, true},
    {"huggingfacetb/smollm2-135m huggingfacetb/smollm2-135m-instruct",
     "llama", 576, 30, 9, 3, 64, 1536, 49152, 8192, 1e5, 1e-5, true},
    {"huggingfacetb/smollm2-360m huggingfacetb/smollm2-360m-instruct",
     "llama", 960, 32, 15, 5, 64, 2560, 49152, 8192, 1e5, 1e-5, true},
    {"huggingfacetb/smollm2-1.7b huggingfacetb/smollm2-1.7b-instruct",
     "llama", 2048, 24, 32, 32, 64, 8192, 49152, 8192, 130000, 1e-5, true},
    // Mistral
    {"mistralai/mistral-7b-v0.1 mistralai/mistral-7b-instruct-v0.1 huggingfaceh4/zephyr-7b-beta",
     "mistral", 4096, 32, 32, 8, 128, 14336, 32000, 32768, 1e4, 1e-5, false, 0, 4096},
    {"mistralai/mistral-7b-instruct-v0.2", "mistral", 4096, 32, 32, 8, 128, 14336, 32000, 32768, 1e6, 1e-5},
    {"mistralai/mistral-7b-v0.3 mistralai/mistral-7b-instruct-v0.3",
     "mistral", 4096, 32, 32, 8, 128, 14336, 32768, 32768, 1e6, 1e-5},
    {"mistralai/mistral-nemo-base-2407 mistralai/mistral-nemo-instruct-2407",
     "mistral", 5120, 40, 32, 8, 128, 14336, 131072, 131072, 1e6, 1e-5},
    {"mistralai/mistral-small-24b-base-2501 mistralai/mistral-small-24b-instruct-2501",
     "mistral", 5120, 40, 32, 8, 128, 32768, 131072, 32768, 1e8, 1e-5},
    {"mistralai/mixtral-8x7b-v0.1 mistralai/mixtral-8x7b-instruct-v0.1",
     "mixtral", 4096, 32, 32, 8, 128, 14336, 32000, 32768, 1e6, 1e-5, false, 0, 0, 8, 2},
    {"mistralai/mixtral-8x22b-v0.1 mistral-community/mixtral-8x22b-v0.1",
     "mixtral", 6144, 56, 48, 8, 128, 16384, 32000, 65536, 1e6, 1e-5, false, 0, 0, 8, 2},
    // Qwen
    {"qwen/qwen1.5-0.5b", "qwen2", 1024, 24, 16, 16, 64, 2816, 151936, 32768, 1e6, 1e-6, true},
    {"qwen/qwen1.5-1.8b qwen/qwen1.5-1.8b-chat", "qwen2", 2048, 24, 16, 16, 128, 5504, 151936, 32768, 1e6, 1e-6},
    {"qwen/qwen1.5-7b qwen/qwen1.5-7b-chat", "qwen2", 4096, 32, 32, 32, 128, 11008, 151936, 32768, 1e6, 1e-6},
    {"qwen/qwen1.5-14b qwen/qwen1.5-14b-chat", "qwen2", 5120, 40, 40, 40, 128, 13696, 152064, 32768, 1e6, 1e-6},
    {"qwen/qwen2-0.5b", "qwen2", 896, 24, 14, 2, 64, 4864, 151936, 131072, 1e6, 1e-6, true},
    {"qwen/qwen2-0.5b-instruct qwen/qwen2.5-0.5b qwen/qwen2.5-0.5b-instruct qwen/qwen2.5-coder-0.5b",
     "qwen2", 896, 24, 14, 2, 64, 4864, 151936, 32768, 1e6, 1e-6, true},
    {"qwen/qwen2-1.5b qwen/qwen2.5-1.5b", "qwen2", 1536, 28, 12, 2, 128, 8960, 151936, 131072, 1e6, 1e-6, true},
    {"qwen/qwen2-1.5b-instruct qwen/qwen2.5-1.5b-instruct qwen/qwen2.5-coder-1.5b",
     "qwen2", 1536, 28, 12, 2, 128, 8960, 151936, 32768, 1e6, 1e-6, true},
    {"qwen/qwen2.5-3b qwen/qwen2.5-3b-instruct qwen/qwen2.5-coder-3b",
     "qwen2", 2048, 36, 16, 2, 128, 11008, 151936, 32768, 1e6, 1e-6, true},
    {"qwen/qwen2-7b qwen/qwen2.5-7b", "qwen2", 3584, 28, 28, 4, 128, 18944, 152064, 131072, 1e6, 1e-6},
    {"qwen/qwen2-7b-instruct qwen/qwen2.5-7b-instruct qwen/qwen2.5-coder-7b qwen/qwen2.5-coder-7b-instruct",
     "qwen2", 3584, 28, 28, 4, 128, 18944, 152064, 32768, 1e6, 1e-6},
    {"qwen/qwen2.5-14b", "qwen2", 5120, 48, 40, 8, 128, 13824, 152064, 131072, 1e6, 1e-5},
    {"qwen/qwen2.5-14b-instruct qwen/qwen2.5-coder-14b-instruct",
     "qwen2", 5120, 48, 40, 8, 128, 13824, 152064, 32768, 1e6, 1e-6},
    {"qwen/qwen2.5-32b", "qwen2", 5120, 64, 40, 8, 128, 27648, 152064, 131072, 1e6, 1e-5},
    {"qwen/qwen2.5-32b-instruct qwen/qwen2.5-coder-32b-instruct",
     "qwen2", 5120, 64, 40, 8, 128, 27648, 152064, 32768, 1e6, 1e-6},
    {"qwen/qwen2-72b qwen/qwen2.5-72b", "qwen2", 8192, 80, 64, 8, 128, 29568, 152064, 131072, 1e6, 1e-5},
    {"qwen/qwen2-72b-instruct qwen/qwen2.5-72b-instruct",
     "qwen2", 8192, 80, 64, 8, 128, 29568, 152064, 32768, 1e6, 1e-6},
    {"deepseek-ai/deepseek-r1-distill-qwen-1.5b", "qwen2", 1536, 28, 12, 2, 128, 8960, 151936, 131072, 1e4, 1e-6},
    {"deepseek-ai/deepseek-r1-distill-qwen-7b", "qwen2", 3584, 28, 28, 4, 128, 18944, 152064, 131072, 1e4, 1e-6},
    {"deepseek-ai/deepseek-r1-distill-qwen-14b", "qwen2", 5120, 48, 40, 8, 128, 13824, 152064, 131072, 1e6, 1e-5},
    {"deepseek-ai/deepseek-r1-distill-qwen-32b", "qwen2", 5120, 64, 40, 8, 128, 27648, 152064, 131072, 1e6, 1e-5},
    {"qwen/qwen3-0.6b", "qwen3", 1024, 28, 16, 8, 128, 3072, 151936, 40960, 1e6, 1e-6, true},
    {"qwen/qwen3-0.6b-base", "qwen3", 1024, 28, 16, 8, 128, 3072, 151936, 32768, 1e6, 1e-6, true},
    {"qwen/qwen3-1.7b", "qwen3", 2048, 28, 16, 8, 128, 6144, 151936, 40960, 1e6, 1e-6, true},
    {"qwen/qwen3-1.7b-base", "qwen3", 2048, 28, 16, 8, 128, 6144, 151936, 32768, 1e6, 1e-6, true},
    {"qwen/qwen3-4b", "qwen3", 2560, 36, 32, 8, 128, 9728, 151936, 40960, 1e6, 1e-6, true},
    {"qwen/qwen3-4b-base", "qwen3", 2560, 36, 32, 8, 128, 9728, 151936, 32768, 1e6, 1e-6, true},
    {"qwen/qwen3-4b-instruct-2507 qwen/qwen3-4b-thinking-2507",
     "qwen3", 2560, 36, 32, 8, 128, 9728, 151936, 262144, 5e6, 1e-6, true},
    {"qwen/qwen3-8b", "qwen3", 4096, 36, 32, 8, 128, 12288, 151936, 40960, 1e6, 1e-6},
    {"qwen/qwen3-8b-base", "qwen3", 4096, 36, 32, 8, 128, 12288, 151936, 32768, 1e6, 1e-6},
    {"qwen/qwen3-14b", "qwen3", 5120, 40, 40, 8, 128, 17408, 151936, 40960, 1e6, 1e-6},
    {"qwen/qwen3-14b-base", "qwen3", 5120, 40, 40, 8, 128, 17408, 151936, 32768, 1e6, 1e-6},
    {"qwen/qwen3-32b", "qwen3", 5120, 64, 64, 8, 128, 25600, 151936, 40960, 1e6, 1e-6},
    {"qwen/qwen3-30b-a3b", "qwen3_moe", 2048, 48, 32, 4, 128, 6144, 151936, 40960, 1e6, 1e-6, false, 0, 0, 128, 8, 768},
    // Phi
    {"microsoft/phi-1_5", "phi", 2048, 24, 32, 32, 64, 8192, 51200, 2048, 1e4, 1e-5},
    {"microsoft/phi-2", "phi", 2560, 32, 32, 32, 80, 10240, 51200, 2048, 1e4, 1e-5},
    {"microsoft/phi-3-mini-4k-instruct", "phi3", 3072, 32, 32, 32, 96, 8192, 32064, 4096, 1e4, 1e-5, false, 0, 2047},
    {"microsoft/phi-3-mini-128k-instruct microsoft/phi-3.5-mini-instruct",
     "phi3", 3072, 32, 32, 32, 96, 8192, 32064, 131072, 1e4, 1e-5, false, 0, 262144},
    {"microsoft/phi-3-medium-4k-instruct",
     "phi3", 5120, 40, 40, 10, 128, 17920, 32064, 4096, 1e4, 1e-5, false, 0, 2047},
    {"microsoft/phi-4", "phi3", 5120, 40, 40, 10, 128, 17920, 100352, 16384, 250000, 1e-5},
    {"microsoft/phi-4-mini-instruct",
     "phi3", 3072, 32, 24, 8, 128, 8192, 200064, 131072, 1e4, 1e-5, true, 0, 262144},
    // GPT-J, Falcon, GPT-NeoX
    {"eleutherai/gpt-j-6b", "gptj", 4096, 28, 16, 16, 256, 16384, 50400, 2048, 1e4, 1e-5},
    {"tiiuae/falcon-7b tiiuae/falcon-7b-instruct",
     "falcon", 4544, 32, 71, 1, 64, 18176, 65024, 2048, 1e4, 1e-5, true},
    {"eleutherai/pythia-70m eleutherai/pythia-70m-deduped", "gpt_neox", 512, 6, 8, 8, 64, 2048, 50304, 2048, 1e4, 1e-5},
    {"eleutherai/pythia-160m eleutherai/pythia-160m-deduped", "gpt_neox", 768, 12, 12, 12, 64, 3072, 50304, 2048, 1e4, 1e-5},
    {"eleutherai/pythia-410m eleutherai/pythia-410m-deduped", "gpt_neox", 1024, 24, 16, 16, 64, 4096, 50304, 2048, 1e4, 1e-5},
    {"eleutherai/pythia-1b eleutherai/pythia-1b-deduped", "gpt_neox", 2048, 16, 8, 8, 256, 8192, 50304, 2048, 1e4, 1e-5},
    {"eleutherai/pythia-1.4b eleutherai/pythia-1.4b-deduped", "gpt_neox", 2048, 24, 16, 16, 128, 8192, 50304, 2048, 1e4, 1e-5},
    {"eleutherai/pythia-2.8b eleutherai/pythia-2.8b-deduped", "gpt_neox", 2560, 32, 32, 32, 80, 10240, 50304, 2048, 1e4, 1e-5},
    {"eleutherai/pythia-6.9b eleutherai/pythia-6.9b-deduped", "gpt_neox", 4096, 32, 32, 32, 128, 16384, 50432, 2048, 1e4, 1e-5},
    {"eleutherai/pythia-12b eleutherai/pythia-12b-deduped", "gpt_neox", 5120, 36, 40, 40, 128, 20480, 50688, 2048, 1e4, 1e-5},
    // Gemma
    {"google/gemma-2b google/gemma-2b-it google/gemma-1.1-2b-it",
     "gemma", 2048, 18, 8, 1, 256, 16384, 256000, 8192, 1e4, 1e-6, true},
    {"google/gemma-7b google/gemma-7b-it google/gemma-1.1-7b-it",
     "gemma", 3072, 28, 16, 16, 256, 24576, 256000, 8192, 1e4, 1e-6, true},
    {"google/gemma-2-2b google/gemma-2-2b-it",
     "gemma2", 2304, 26, 8, 4, 256, 9216, 256000, 8192, 1e4, 1e-6, true, 0, 4096},
    {"google/gemma-2-9b google/gemma-2-9b-it",
     "gemma2", 3584, 42, 16, 8, 256, 14336, 256000, 8192, 1e4, 1e-6, true, 0, 4096},
    {"google/gemma-2-27b google/gemma-2-27b-it",
     "gemma2", 4608, 46, 32, 16, 128, 36864, 256000, 8192, 1e4, 1e-6, true, 0, 4096},
    {"google/gemma-3-270m google/gemma-3-270m-it",
     "gemma3_text", 640, 18, 4, 1, 256, 2048, 262144, 32768, 1e6, 1e-6, true, 0, 512},
    {"google/gemma-3-1b-pt google/gemma-3-1b-it",
     "gemma3_text", 1152, 26, 4, 1, 256, 6912, 262144, 32768, 1e6, 1e-6, true, 0, 512},
    {"google/gemma-3-4b-pt google/gemma-3-4b-it",
     "gemma3", 2560, 34, 8, 4, 256, 10240, 262208, 131072, 1e6, 1e-6, true, 0, 1024, 0, 0, 0, kLinear8},
    {"google/gemma-3-12b-pt google/gemma-3-12b-it",
     "gemma3", 3840, 48, 16, 8, 256, 15360, 262208, 131072, 1e6, 1e-6, true, 0, 1024, 0, 0, 0, kLinear8},
    {"google/gemma-3-27b-pt google/gemma-3-27b-it",
     "gemma3", 5376, 62, 32, 16, 128, 21504, 262208, 131072, 1e6, 1e-6, true, 0, 1024, 0, 0, 0,
     R"({"query_pre_attn_scalar": 168, "rope_scaling": {"rope_type": "linear", "factor": 8.0}})"},
    {"google/gemma-4-31b google/gemma-4-31b-it",
     "gemma4", 5376, 60, 32, 16, 256, 21504, 262144, 262144, 1e6, 1e-6, true, 0, 1024, 0, 0, 0,
     R"({"num_global_key_value_heads": 4, "attention_k_eq_v": true, "final_logit_softcapping": 30.0,
         "hidden_size_per_layer_input": 0})"},
    {"google/gemma-4-26b-a4b google/gemma-4-26b-a4b-it",
     "gemma4", 2816, 30, 16, 8, 256, 2112, 262144, 262144, 1e6, 1e-6, true, 0, 1024, 0, 0, 0,
     R"({"num_global_key_value_heads": 2, "attention_k_eq_v": true, "final_logit_softcapping": 30.0,
         "hidden_size_per_layer_input": 0, "enable_moe_block": true, "num_experts": 128, "top_k_experts": 8,
         "moe_intermediate_size": 704})"},
    {"google/gemma-4-e4b google/gemma-4-e4b-it",
     "gemma4", 2560, 42, 8, 2, 256, 10240, 262144, 131072, 1e6, 1e-6, true, 0, 512, 0, 0, 0,
     R"({"final_logit_softcapping": 30.0, "num_kv_shared_layers": 18})"},
    {"google/gemma-4-e2b google/gemma-4-e2b-it",
     "gemma4", 1536, 35, 8, 1, 256, 6144, 262144, 131072, 1e6, 1e-6, true, 0, 512, 0, 0, 0,
     R"({"final_logit_softcapping": 30.0, "num_kv_shared_layers": 20, "use_double_wide_mlp": true,
         "layer_types": [)" E2B_LAYERS ", " E2B_LAYERS ", " E2B_LAYERS ", " E2B_LAYERS ", " E2B_LAYERS ", "
         E2B_LAYERS ", " E2B_LAYERS "]}"},
    // gpt-oss
    {"openai/gpt-oss-20b openai/gpt-oss-safeguard-20b axolotl-ai-co/gpt-oss-20b-dequantized",
     "gpt_oss", 2880, 24, 64, 8, 64, 2880, 201088, 131072, 150000, 1e-5, false, 0, 128, 32, 4},
    {"openai/gpt-oss-120b openai/gpt-oss-safeguard-120b axolotl-ai-co/gpt-oss-120b-dequantized",
     "gpt_oss", 2880, 36, 64, 8, 64, 2880, 201088, 131072, 150000, 1e-5, false, 0, 128, 128, 4},
    // SmolLM 3
    {"huggingfacetb/smollm3-3b", "smollm3", 2048, 36, 16, 4, 128, 11008, 128256, 65536, 5e6, 1e-6, true},
    // Mixtures of experts whose first layers are dense
    {"zai-org/glm-4.5-air zai-org/glm-4.5-air-base",
     "glm4_moe", 4096, 46, 96, 8, 128, 10944, 151552, 131072, 1e6, 1e-5, false, 0, 0, 0, 0, 0,
     R"({"attention_bias": true, "pad_token_id": 151329, "n_routed_experts": 128, "moe_intermediate_size": 1408})"},
    {"zai-org/glm-4.5 zai-org/glm-4.5-base",
     "glm4_moe", 5120, 92, 96, 8, 128, 12288, 151552, 131072, 1e6, 1e-5, false, 0, 0, 0, 0, 0, kGlm160},
    {"zai-org/glm-4.6 zai-org/glm-4.7",
     "glm4_moe", 5120, 92, 96, 8, 128, 12288, 151552, 202752, 1e6, 1e-5, false, 0, 0, 0, 0, 0, kGlm160},
    {"zai-org/glm-4.7-flash",
     "glm4_moe_lite", 2048, 47, 20, 20, 64, 10240, 154880, 202752, 1e6, 1e-5, false, 0, 0, 0, 0, 0,
     R"({"pad_token_id": 154820})"},
    {"deepseek-ai/deepseek-v2-lite deepseek-ai/deepseek-v2-lite-chat deepseek-ai/deepseek-coder-v2-lite-base "
     "deepseek-ai/deepseek-coder-v2-lite-instruct",
     "deepseek_v2", 2048, 27, 16, 16, 64, 10944, 102400, 163840, 1e4, 1e-6, false, 0, 0, 0, 0, 0,
     R"({"q_lora_rank": null, "n_routed_experts": 64, "num_experts_per_tok": 6, "moe_intermediate_size": 1408,
         "first_k_dense_replace": 1, "rope_scaling": {"type": "yarn", "factor": 40, "beta_fast": 32, "beta_slow": 1,
         "mscale": 0.707, "mscale_all_dim": 0.707, "original_max_position_embeddings": 4096}})"},
    {"deepseek-ai/deepseek-v2.5 deepseek-ai/deepseek-v2.5-1210",
     "deepseek_v2", 5120, 60, 128, 128, 64, 12288, 102400, 163840, 1e4, 1e-6, false, 0, 0, 0, 0, 0,
     R"({"n_routed_experts": 160, "num_experts_per_tok": 6, "moe_intermediate_size": 1536, "first_k_dense_replace": 1,
         "topk_method": "group_limited_greedy", "n_group": 8, "topk_group": 3, "routed_scaling_factor": 16.0,
         "rope_scaling": {"type": "yarn", "factor": 40, "beta_fast": 32, "beta_slow": 1, "mscale": 1.0,
         "mscale_all_dim": 1.0, "original_max_position_embeddings": 4096}})"},
    // Hybrids of attention and Mamba-1
    {"ai21labs/jamba-v0.1 ai21labs/ai21-jamba-1.5-mini ai21labs/ai21-jamba-mini-1.5",
     "jamba", 4096, 32, 32, 8, 128, 14336, 65536, 262144, 1e4, 1e-6, false, 0, 0, 16, 2},
    {"ai21labs/ai21-jamba-1.5-large ai21labs/ai21-jamba-large-1.5",
     "jamba", 8192, 72, 64, 8, 128, 24576, 65536, 262144, 1e4, 1e-6, false, 0, 0, 16, 2},
    // Hybrids of attention and Mamba-2
    {"nvidia/nvidia-nemotron-nano-9b-v2 nvidia/nvidia-nemotron-nano-9b-v2-base",
     "nemotron_h", 4480, 56, 40, 8, 128, 15680, 131072, 131072, 1e4, 1e-5, false, 0, 0, 0, 0, 0,
     R"({"hybrid_override_pattern": "M-M-M-MM-M-M-M*-M-M-M*-M-M-M-M*-M-M-M-M*-M-MM-M-M-M-M-M-", "mamba_num_heads": 128,
         "mamba_head_dim": 80})"},
    {"nvidia/nvidia-nemotron-3-nano-30b-a3b-bf16",
     "nemotron_h", 2688, 52, 32, 2, 128, 1856, 131072, 262144, 1e4, 1e-5, false, 0, 0, 0, 0, 0,
     R"({"hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME", "mamba_num_heads": 64,
         "n_routed_experts": 128, "num_experts_per_tok": 6, "moe_intermediate_size": 1856,
         "moe_shared_expert_intermediate_size": 3712, "routed_scaling_factor": 2.5})"},
    {"ibm-granite/granite-4.0-h-350m",
     "granitemoehybrid", 768, 32, 12, 4, 64, 2048, 100352, 32768, 1e4, 1e-5, true, 0, 0, 0, 0, 0,
     R"({"attention_multiplier": 0.015625, "embedding_multiplier": 12, "residual_multiplier": 0.246, "logits_scaling": 3,
         "num_local_experts": 0, "shared_intermediate_size": 2048, "position_embedding_type": "nope",
         "mamba_d_head": 32, "mamba_d_state": 128, "mamba_n_heads": 48,
         "layer_types": ["mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba",
             "mamba", "attention", "mamba", "mamba", "attention", "mamba", "mamba", "mamba", "attention",
             "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "mamba", "attention",
             "mamba", "mamba", "mamba", "mamba"]})"},
});
// clang-format on

/// Lists organisations that republish other organisations' models under the same names.
constexpr std::array<std::string_view, 2> kMirrors = {"nousresearch", "unsloth"};

json to_config_json(const KnownModel& known) {
    const Wrapper* wrapper = find_wrapper(known.type);
    const Family& family = *find_family(wrapper != nullptr ? wrapper->text_type : known.type);
    json values = {{"model_type", family.type},
                   {"hidden_size", known.hidden},
                   {"num_hidden_layers", known.layers},
                   {"num_attention_heads", known.heads},
                   {"num_key_value_heads", known.kv_heads},
                   {"head_dim", known.head_dim},
                   {family.width_field, known.intermediate},
                   {"vocab_size", known.vocab},
                   {"max_position_embeddings", known.max_position},
                   {family.rope_theta_field, known.rope_theta},
                   {family.norm_eps_field, known.norm_eps},
                   {"tie_word_embeddings", known.tied},
                   {"sliding_window", nullptr}};
    if (known.sliding_window > 0) values["sliding_window"] = known.sliding_window;
    if (known.llama3_factor > 0) {
        values["rope_scaling"] = {{"rope_type", "llama3"},
                                  {"factor", double(known.llama3_factor)},
                                  {"low_freq_factor", 1.0},
                                  {"high_freq_factor", 4.0},
                                  {"original_max_position_embeddings", 8192}};
    }
    if (!known.more.empty()) values.update(json::parse(known.more));
    if (known.experts > 0) {
        values["num_local_experts"] = known.experts;
        values["num_experts_per_tok"] = known.experts_per_token;
    }
    if (known.expert_intermediate > 0) {
        values["moe_intermediate_size"] = known.expert_intermediate;
        values["norm_topk_prob"] = true;
    }
    if (wrapper != nullptr) return {{"model_type", known.type}, {"text_config", values}};
    return values;
}

std::string_view repository_name(std::string_view id) {
    return id.substr(id.find('/') + 1);
}

bool is_named(std::string_view names, std::string_view id, bool any_owner) {
    while (!names.empty()) {
        const size_t end = std::min(names.find(' '), names.size());
        const std::string_view name = names.substr(0, end);
        if (any_owner ? repository_name(name) == repository_name(id) : name == id) return true;
        names.remove_prefix(std::min(end + 1, names.size()));
    }
    return false;
}

const KnownModel* find_known(const std::string& hub_id) {
    std::string id = hub_id;
    std::transform(id.begin(), id.end(), id.begin(), [](unsigned char c) { return std::tolower(c); });
    const std::string_view owner = std::string_view(id).substr(0, id.find('/'));
    const bool mirror = std::find(kMirrors.begin(), kMirrors.end(), owner) != kMirrors.end();
    for (const bool any_owner : {false, true}) {
        if (any_owner && !mirror) break;
        for (const KnownModel& known : kKnownModels) {
            if (is_named(known.names, id, any_owner)) return &known;
        }
    }
    return nullptr;
}

}  // namespace

std::optional<ModelConfig> find_model_config(const std::string& hub_id, const std::string& hf_cache_dir) {
    if (const KnownModel* known = find_known(hub_id)) {
        return model_config_from_json(to_config_json(*known), hub_id);
    }
    return first_model_config(cached_snapshots(hub_id, {}, hf_cache_dir));
}

}  // namespace ringmaster
