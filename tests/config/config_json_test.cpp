#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <iterator>
#include <limits>
#include <set>
#include <sstream>
#include <string>

#include "engine/config/config.h"
#include "engine/error.h"
#include "tests/config/reading.h"

namespace ringmaster {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Returns a configuration in which no field has its default.
Config unusual_config() {
    Config c;
    c.file = "/a/config.yaml", c.base_dir = "/a", c.base_model = "m", c.model_dir = "/a/m",
    c.tokenizer = "/a/t";
    c.reinit_weights = true, c.attn_implementation = "sdpa";
    c.output_router_logits = false, c.router_aux_loss_coef = 0.25;
    c.datasets = json::parse(R"([{"path": "/a/rows.jsonl", "type": "completion"}])");
    c.test_datasets = json::parse(R"([{"path": "/a/test.jsonl"}])");
    c.special_tokens = {{"pad_token", "<pad>"}}, c.tokenization = {{"train_on_inputs", true}};
    c.dataset_prepared_path = "/a/prepared", c.val_set_size = 0.25, c.sequence_len = 9001,
    c.sample_packing = true;
    c.padding = {true, 8192}, c.excess_length = ExcessLength::Raise, c.curriculum_sampling = true, c.seed = 7;
    c.micro_batch_size = 3, c.gradient_accumulation_steps = 5, c.max_steps = 11, c.num_epochs = 1.5;
    c.optimizer = "adamw_torch_fused", c.learning_rate = 1.0 / 3,
    c.lr_scheduler = LrScheduler::ConstantWithWarmup;
    c.warmup_steps = 2, c.warmup_ratio = 0.1, c.cosine_min_lr_ratio = 0.2, c.weight_decay = 0.3;
    c.cosine_constant_lr_ratio = 0.7, c.lr_quadratic_warmup = true,
    c.lr_scheduler_kwargs = {{"num_cycles", 2}};
    c.adam_beta1 = 0.8, c.adam_beta2 = 0.95, c.adam_epsilon = 1e-6, c.max_grad_norm = std::nullopt;
    c.precision = Precision::Bf16Full, c.gradient_checkpointing = true, c.selective_checkpointing = true,
    c.activation_offloading = true, c.tiled_mlp = true, c.tiled_mlp_shards = 3, c.sequence_chunks = 5,
    c.optimizer_offloading = true, c.parameter_offloading = true, c.output_dir = "/a/out";
    c.save_steps = 0.1, c.saves_per_epoch = 2, c.save_strategy = "steps", c.save_total_limit = 9;
    c.eval_steps = 4, c.evals_per_epoch = 3, c.eval_strategy = "epoch", c.eval_batch_size = 6,
    c.logging_steps = 8;
    c.context_parallel_size = 4, c.ulysses_size = 2, c.dp_shard_size = 2, c.dp_replicate_size = 3;
    c.expert_parallel_size = 2, c.heads_k_stride = 2, c.ring_attn_func = RingAttnFunc::VarlenZigzag,
    c.zero_stage_asked = 3;
    c.lora = {8, 16, 0.1, true, {"q_proj", "up_proj"}, "/a/adapter", "owner/model", {0, 2}, true};
    c.lora.parameters = {"experts.down_proj"};
    c.quantization = {WeightFormat::Fp4, 128, false, true, true};
    c.optim_args = {{"momentum", 0.5}}, c.embedding_lr = 0.1, c.embedding_lr_scale = 0.2,
    c.loraplus_lr_ratio = 16;
    c.lr_groups = json::parse(R"([{"name": "q", "modules": ["q_proj"], "lr": 0.1}])");
    c.unfrozen_parameters = {"^lm_head"}, c.loss_watchdog_threshold = 5, c.loss_watchdog_patience = 2,
    c.early_stopping_patience = 3;
    c.load_best_model_at_end = true, c.group_by_length = true;
    c.preference = {
        PreferenceMethod::Kto, 0.3, {{PairLoss::Ipo, 1}, {PairLoss::Sft, 0.5}}, 0.2, 0.7, 0.4, 1.2, 0.9};
    c.preference.center_rewards = 0.01;
    c.token_labels = 3;
    c.policy = {PolicyLoss::DrGrpo, true, 0.1, 0.3, 0.04, 64, 0.9, RolloutFolder{"/in", 60}};
    c.sampling = {4, 20, 0.9, RewardScale::Batch, true, {"rewards.exact"}, {0.5}, {}};
    c.sampling->server = {"gpu",    9,     "https://gpu:1/v",          "KEY", "/key", "/ca.pem", 30,
                          "reload", false, ImportanceRatio::TokenMask, 2.5};
    c.optimizer_disk = "/nvme";
    c.ranks = 24, c.nodes = 3, c.ddp_timeout = 600, c.accelerate_only = true,
    c.lines = {{"datasets.0.path", 12}};
    return c;
}

TEST(ConfigJson, EveryFieldSurvivesTheRoundTrip) {
    const json unusual = config_to_json(unusual_config());
    const json defaults = config_to_json(Config());
    for (const auto& [name, value] : unusual.items()) {
        EXPECT_NE(value, defaults.at(name))
            << name << " was not changed, so the round trip would not show it";
    }
    EXPECT_EQ(config_to_json(config_from_json(json::parse(unusual.dump()))), unusual);
    EXPECT_EQ(config_to_json(config_from_json(defaults)), defaults);
}

TEST(ConfigJson, EveryWordOfAnEnumerationSurvives) {
    json object = config_to_json(Config());
    for (const char* word : {"default", "batch_ring", "batch_zigzag", "batch_stripe", "varlen_llama3",
                             "varlen_ring", "varlen_zigzag", "balanced", "auto"}) {
        object["ring_attn_func"] = word;
        EXPECT_STREQ(to_string(config_from_json(object).ring_attn_func), word);
    }
    for (const char* word : {"linear", "cosine", "constant", "constant_with_warmup"}) {
        object["lr_scheduler"] = word;
        EXPECT_STREQ(to_string(config_from_json(object).lr_scheduler), word);
    }
    for (const char* word : {"fp32", "bf16", "bf16_full", "fp16"}) {
        object["precision"] = word;
        EXPECT_STREQ(to_string(config_from_json(object).precision), word);
    }
    object["policy"] = config_to_json(unusual_config()).at("policy");
    for (const char* word : {"grpo", "dapo", "dr_grpo"}) {
        object["policy"]["loss"] = word;
        EXPECT_STREQ(to_string(config_from_json(object).policy->loss), word);
    }
    object["sampling"] = config_to_json(unusual_config()).at("sampling");
    for (const char* word : {"group", "batch", "none"}) {
        object["sampling"]["scale"] = word;
        EXPECT_STREQ(to_string(config_from_json(object).sampling->scale), word);
    }
}

void expect_refused(const json& object, const std::string& field) {
    try {
        config_from_json(object);
        FAIL() << field << " was accepted";
    } catch (const Error& error) {
        EXPECT_EQ(error.failure, Failure::Refused);
        EXPECT_THAT(error.where, HasSubstr(field));
    }
}

/// These are the fields that plans of version 0.1.0 have. Such plans lack every other field, and train with
/// its default.
const std::set<std::string> kFirst = [] {
    std::istringstream words(R"(
file base_dir base_model model_dir tokenizer reinit_weights attn_implementation output_router_logits
router_aux_loss_coef datasets test_datasets special_tokens tokenization dataset_prepared_path
val_set_size sequence_len sample_packing pad_to_sequence_len fixed_length excess_length
curriculum_sampling seed micro_batch_size gradient_accumulation_steps max_steps num_epochs optimizer
learning_rate lr_scheduler warmup_steps warmup_ratio cosine_min_lr_ratio weight_decay adam_beta1
adam_beta2 adam_epsilon max_grad_norm precision gradient_checkpointing selective_checkpointing
activation_offloading tiled_mlp tiled_mlp_num_shards optimizer_offloading lora_r lora_alpha
lora_dropout lora_rslora lora_targets lora_model_dir lora_base_model output_dir save_steps
saves_per_epoch save_strategy save_total_limit eval_steps evals_per_epoch eval_strategy
eval_batch_size logging_steps context_parallel_size ulysses_size dp_shard_size dp_replicate_size
heads_k_stride ring_attn_func zero_stage_asked ranks nodes ddp_timeout accelerate_only lines
)");
    return std::set<std::string>(std::istream_iterator<std::string>(words), {});
}();

TEST(ConfigJson, NamesTheFieldThatIsMissingOrMistyped) {
    const json whole = config_to_json(unusual_config()), defaults = config_to_json(Config());
    for (const auto& [name, value] : whole.items()) {
        json without = whole;
        without.erase(name);
        if (!kFirst.contains(name)) {
            EXPECT_EQ(config_to_json(config_from_json(without)).at(name), defaults.at(name)) << name;
        } else {
            expect_refused(without, name);
        }
        json mistyped = whole;
        mistyped[name] = value.is_array() ? json(1) : json::array({1});
        expect_refused(mistyped, name);
    }
    for (const std::string rule : {"policy", "sampling"}) {
        for (const auto& [name, value] : whole.at(rule).items()) {
            json without = whole, mistyped = whole;
            without[rule].erase(name);
            if (rule + "." + name == "policy.folder")
                EXPECT_FALSE(config_from_json(without).policy->folder) << "older plans lack it";
            else
                expect_refused(without, "config." + rule + "." + name);
            mistyped[rule][name] = value.is_array() ? json(1) : json::array({1});
            expect_refused(mistyped, "config." + rule + "." + name);
        }
    }
    for (const auto& [name, value] : whole.at("sampling").at("server").items()) {
        json without = whole;
        without["sampling"]["server"].erase(name);
        const bool is_newer =
            name == "url" || name == "key_variable" || name == "key_file" || name == "ca_file";
        if (is_newer)
            EXPECT_EQ(config_to_json(config_from_json(without))["sampling"]["server"][name], "") << name;
        else
            expect_refused(without, "config.sampling.server." + name);
    }
    json stranger = whole;
    stranger["ring_attn_func"] = "spiral";
    expect_refused(stranger, "ring_attn_func");
    json wide = whole;
    wide["seed"] = std::numeric_limits<uint64_t>::max();
    expect_refused(wide, "seed");
    expect_refused(json::array(), "config");
}

}  // namespace
}  // namespace ringmaster
