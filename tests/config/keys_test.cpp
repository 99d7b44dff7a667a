#include "engine/config/keys.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "engine/config/edit.h"
#include "engine/config/key_history.h"
#include "engine/config/trackers.h"
#include "engine/words/spelling.h"
#include "tests/config/reading.h"

namespace ringmaster {
namespace {

using testing::HasSubstr;

TEST(Keys, EveryKnownKeyEndsInExactlyOneListWhateverItsValue) {
    for (const char* value : {"true", "false", "null", "2", "0", "word", "[a]", "{a: 1}", "''"}) {
        std::string text;
        for (const std::string& key : known_keys()) text += key + ": " + value + "\n";
        const ConfigReading reading = read(text);
        ASSERT_TRUE(reading.readable);
        for (const std::string& key : known_keys()) {
            EXPECT_THAT(list_of(reading, key), testing::AnyOf("used", "no_effect", "unsupported"))
                << key << ": " << value;
        }
        const std::size_t sorted =
            reading.keys.used.size() + reading.keys.no_effect.size() + reading.keys.unsupported.size();
        EXPECT_EQ(sorted, known_keys().size());
    }
}

TEST(Keys, EveryUnusedKeySaysWhy) {
    for (const std::string& key : known_keys()) {
        const KeyRule* rule = find_key(key);
        ASSERT_NE(rule, nullptr);
        if (rule->fate != Fate::Used) {
            EXPECT_FALSE(rule->why.empty()) << key;
        }
        if (!rule->part_of.empty()) {
            EXPECT_NE(find_key(rule->part_of), nullptr) << key;
        }
    }
    EXPECT_GT(known_keys().size(), 400U);
}

TEST(Keys, AMisspeltKeyOfTheTrainingIsAnErrorThatNamesTheNearest) {
    const ConfigReading reading = read_more("adam_bta2: 0.9\n");
    const Diagnostic* unknown = said(reading, "KEY-UNKNOWN", "adam_bta2");
    ASSERT_NE(unknown, nullptr);
    EXPECT_EQ(unknown->severity, Severity::Error);
    EXPECT_EQ(unknown->line, kBaseLines + 1);
    EXPECT_THAT(unknown->hint, HasSubstr("adam_beta2"));
    EXPECT_EQ(list_of(reading, "adam_bta2"), "unsupported");
}

TEST(Keys, AnyOtherUnknownKeyIsAWarningAsInAxolotl) {
    const ConfigReading reading = read_more("my_notes: tried twice\nwandb_projct: x\nlearningrate_note: x\n");
    EXPECT_FALSE(has_error(reading.diagnostics)) << all_said(reading);
    for (const char* key : {"my_notes", "wandb_projct", "learningrate_note"}) {
        EXPECT_EQ(said(reading, "KEY-UNKNOWN", key)->severity, Severity::Warning) << key;
        EXPECT_EQ(list_of(reading, key), "no_effect") << key;
    }
    const ConfigReading strict = read_more("my_notes: tried twice\nstrict: true\n");
    EXPECT_EQ(said(strict, "KEY-UNKNOWN", "my_notes")->severity, Severity::Error);
    EXPECT_EQ(list_of(strict, "my_notes"), "unsupported");
}

TEST(Keys, AnotherProgramsNameIsRenamedAndANameThatIsOnlyAlikeIsNot) {
    for (const auto& [name, meant] :
         std::map<std::string, std::string>{{"wandb_run_name", "wandb_name"},
                                            {"tokenizer_path", "tokenizer_config"},
                                            {"max_seq_length", "sequence_len"},
                                            {"num_train_epochs", "num_epochs"},
                                            {"wandb_projct", "wandb_project"}}) {
        const ConfigReading reading = read_more(name + ": x\n");
        const Diagnostic* unknown = said(reading, "KEY-UNKNOWN", name);
        ASSERT_NE(unknown, nullptr) << name;
        EXPECT_THAT(unknown->hint, HasSubstr("rename it to " + meant + ",")) << name;
    }
    // The file already holds the keys that the last two names mean.
    for (const char* name : {"global_batch_size", "push_adapter_to_hub", "lr", "train_batch_size"}) {
        const ConfigReading reading = read_more(std::string(name) + ": 1\n");
        EXPECT_EQ(said(reading, "KEY-UNKNOWN", name)->hint, "leave " + std::string(name) + " out") << name;
    }
}

/// Returns all single typing errors: a letter left out, doubled or swapped at each position, or words split
/// differently.
std::vector<std::string> slips_in(const std::string& key) {
    std::vector<std::string> slips;
    for (std::size_t i = 0; i + 1 < key.size(); ++i) {
        slips.push_back(key.substr(0, i) + key.substr(i + 1));
        slips.push_back(key.substr(0, i + 1) + key.substr(i));
        std::string swapped = key;
        std::swap(swapped[i], swapped[i + 1]);
        slips.push_back(swapped);
    }
    std::string dashed = key;
    std::replace(dashed.begin(), dashed.end(), '_', '-');
    slips.push_back(dashed);
    return slips;
}

TEST(Keys, EverySlipInAKeyOfTheTrainingIsAnError) {
    for (const char* key :
         {"context_parallel_size", "learning_rate", "sequence_len", "micro_batch_size", "num_epochs",
          "lora_target_modules", "train_on_inputs", "sample_packing", "adam_beta2", "weight_decay"}) {
        for (const std::string& slip : slips_in(key)) {
            if (find_key(slip)) continue;
            const ConfigReading reading = read_more("\"" + slip + "\": 1\n");
            const Diagnostic* unknown = said(reading, "KEY-UNKNOWN", slip);
            ASSERT_NE(unknown, nullptr) << slip;
            EXPECT_EQ(unknown->severity, Severity::Error) << slip;
        }
    }
    for (const char* abbreviated : {"lora_target_module", "gradient_accumulation"}) {
        EXPECT_TRUE(has_error(read_more(std::string(abbreviated) + ": 1\n").diagnostics)) << abbreviated;
    }
}

TEST(Keys, AMisspeltKeyBesideTheRightOneIsToBeLeftOut) {
    const ConfigReading reading = read_more("weight_decay: 0.1\nweigth_decay: 0.2\n");
    EXPECT_EQ(said(reading, "KEY-UNKNOWN", "weigth_decay")->hint, "leave weigth_decay out");
}

TEST(Keys, EveryKeyOfEveryReleaseOfAxolotlHasAFate) {
    std::set<std::string_view> historic;
    for (const KeyHistory& history : key_histories()) {
        EXPECT_NE(find_key(history.key), nullptr) << history.key;
        EXPECT_TRUE(history.replaced_by.empty() || find_key(history.replaced_by)) << history.key;
        EXPECT_THAT(std::string(history.releases), testing::MatchesRegex("[0-9][0-9.post -]*[0-9]"))
            << history.key;
        historic.insert(history.key);
    }
    EXPECT_GT(historic.size(), 500U);
    // Lists Ringmaster's keys, keys that axolotl passes to transformers, and keys in axolotl's documentation.
    const std::set<std::string_view> more{"adam_eps",
                                          "ulysses_size",
                                          "sequence_chunks",
                                          "is_multimodal",
                                          "processor_config",
                                          "full_finetune",
                                          "bench_source_max_len",
                                          "eta_min",
                                          "kd_temperature_max",
                                          "label_smoothing_factor",
                                          "sample_max_new_tokens",
                                          "sample_prompts",
                                          "sample_seed",
                                          "sample_temperature",
                                          "sample_top_k",
                                          "sample_top_p",
                                          "sample_packing_seq_len_multiplier"};
    for (const std::string& key : known_keys()) EXPECT_EQ(historic.count(key) + more.count(key), 1U) << key;
}

TEST(Keys, AKeyThatAxolotlDroppedSaysWhenAndForWhat) {
    const ConfigReading reading = read_more("lora_out_dir: out\nlandmark_attention: true\n");
    EXPECT_THAT(said(reading, "KEY-UNSUPPORTED", "landmark_attention")->message,
                HasSubstr("axolotl 0.2.1-0.3.0 had it"));
    const auto& list = reading.keys.no_effect;
    const auto note = std::find_if(list.begin(), list.end(),
                                   [](const KeyVerdicts::Reason& one) { return one.key == "lora_out_dir"; });
    ASSERT_NE(note, list.end());
    EXPECT_THAT(note->why, HasSubstr("output_dir replaced it"));
    EXPECT_EQ(past_of("learning_rate"), "");
}

TEST(Keys, NearestWordKnowsSwapsAndShortForms) {
    EXPECT_EQ(nearest_word("context_parapllel_size", known_keys()), "context_parallel_size");
    EXPECT_EQ(nearest_word("sequence_lne", known_keys()), "sequence_len");
    EXPECT_EQ(nearest_word("gradient_accumulation", known_keys()), "gradient_accumulation_steps");
    EXPECT_EQ(nearest_word("zzzzzzzzzzzz", known_keys()), "");
}

TEST(Keys, AKeyThatOnlyHoldsAnAnchorIsNoMistake) {
    const ConfigReading reading = read_more("shared: &shared {num_epochs: 2}\n<<: *shared\n");
    EXPECT_FALSE(has_error(reading.diagnostics)) << all_said(reading);
    EXPECT_EQ(list_of(reading, "shared"), "no_effect");
    EXPECT_EQ(reading.config.num_epochs, 2);
    EXPECT_NE(said(read_more("shared: {num_epochs: 2}\n"), "KEY-UNKNOWN", "shared"), nullptr);
}

struct Verdict {
    const char* line;
    const char* key;
    const char* list;

    friend std::ostream& operator<<(std::ostream& to, const Verdict& of) { return to << of.line; }
};

class KeyVerdict : public testing::TestWithParam<Verdict> {};

TEST_P(KeyVerdict, DependsOnTheValue) {
    const auto& [line, key, list] = GetParam();
    const ConfigReading reading = read_more(std::string(line) + "\n");
    EXPECT_EQ(list_of(reading, key), list) << line;
    EXPECT_EQ(said(reading, "KEY-UNSUPPORTED", key) != nullptr, std::string(list) == "unsupported") << line;
}

INSTANTIATE_TEST_SUITE_P(
    , KeyVerdict,
    testing::Values(
        Verdict{"tensor_parallel_size: 1", "tensor_parallel_size", "no_effect"},
        Verdict{"tensor_parallel_size: 2", "tensor_parallel_size", "unsupported"},
        Verdict{"load_in_8bit: false", "load_in_8bit", "used"}, Verdict{"gptq: true", "gptq", "unsupported"},
        Verdict{"adapter:", "adapter", "used"}, Verdict{"adapter: qlora", "adapter", "used"},
        Verdict{"adapter: prefix", "adapter", "unsupported"}, Verdict{"lora_r: 8", "lora_r", "no_effect"},
        Verdict{"sample_seed: 3", "sample_seed", "no_effect"},
        Verdict{"sample_prompts: []\nsample_top_k: 3", "sample_top_k", "no_effect"},
        Verdict{"sample_prompts: [Once]\nsample_top_k: 3", "sample_top_k", "used"},
        Verdict{"rl: dpo", "rl", "used"}, Verdict{"sample_packing: true", "sample_packing", "used"},
        Verdict{"fp16: false", "fp16", "used"}, Verdict{"fp16: true", "fp16", "unsupported"},
        Verdict{"tf32: true", "tf32", "no_effect"},
        Verdict{"save_safetensors: true", "save_safetensors", "no_effect"},
        Verdict{"save_safetensors: false", "save_safetensors", "unsupported"},
        Verdict{"model_type: LlamaForCausalLM", "model_type", "no_effect"},
        Verdict{"model_type: AutoModelForTokenClassification", "model_type", "unsupported"},
        Verdict{"processor_type: AutoProcessor", "processor_type", "unsupported"},
        Verdict{"sample_packing: true\nprocessor_type: AutoProcessor", "processor_type", "no_effect"},
        Verdict{"sample_packing: true\nrl: dpo\nprocessor_type: AutoProcessor", "processor_type",
                "unsupported"},
        Verdict{"pretrain_multipack_attn: false", "pretrain_multipack_attn", "no_effect"},
        Verdict{"pretraining_dataset: [{path: a/b}]\nsample_packing: true\npretrain_multipack_attn: false",
                "pretrain_multipack_attn", "unsupported"},
        Verdict{"plugins: [axolotl.integrations.liger.LigerPlugin]", "plugins", "no_effect"},
        Verdict{"plugins: [axolotl.integrations.kd.KDPlugin]", "plugins", "unsupported"},
        Verdict{"plugins: [axolotl.integrations.expert_parallel.ExpertParallelPlugin]", "plugins",
                "no_effect"},
        Verdict{"expert_parallel_size: 2", "expert_parallel_size", "used"},
        Verdict{"expert_parallel_size: 2\nexpert_parallel_token_capacity: 4096",
                "expert_parallel_token_capacity", "no_effect"},
        Verdict{"cls_model_config: Gemma3TextConfig", "cls_model_config", "no_effect"},
        Verdict{"cls_model_config: MyConfig", "cls_model_config", "unsupported"},
        Verdict{"plugins: [axolotl.integrations.swanlab.SwanLabPlugin]", "plugins", "no_effect"},
        Verdict{"skip_prepare_dataset: true", "skip_prepare_dataset", "no_effect"},
        Verdict{"accelerator_config: {dispatch_batches: true}", "accelerator_config", "no_effect"},
        Verdict{"accelerator_config: {split_batches: true}", "accelerator_config", "unsupported"},
        Verdict{"liger_rope: true", "liger_rope", "no_effect"},
        Verdict{"neftune_noise_alpha: 5", "neftune_noise_alpha", "used"},
        Verdict{"pad_to_multiple_of: 8", "pad_to_multiple_of", "no_effect"},
        Verdict{"adapter: lora\nlora_fan_in_fan_out: true", "lora_fan_in_fan_out", "no_effect"},
        Verdict{"adapter: lora\npeft_autocast_adapter_dtype: true", "peft_autocast_adapter_dtype",
                "no_effect"},
        Verdict{"adapter: lora\npeft_autocast_adapter_dtype: false", "peft_autocast_adapter_dtype",
                "unsupported"},
        Verdict{"adapter: lora\npeft_ensure_weight_tying: true", "peft_ensure_weight_tying", "no_effect"},
        Verdict{"adapter: lora\nlora_modules_to_save: [lm_head]\npeft_ensure_weight_tying: true",
                "peft_ensure_weight_tying", "unsupported"},
        Verdict{"metric_for_best_model: eval_loss\nval_set_size: 0.1", "metric_for_best_model", "used"},
        Verdict{"group_by_length: true", "group_by_length", "used"},
        Verdict{"wandb_project: x", "wandb_project", "used"}, Verdict{"tokens: ['<a>']", "tokens", "used"},
        Verdict{"tokens: []", "tokens", "used"},
        Verdict{"resume_from_checkpoint:", "resume_from_checkpoint", "no_effect"},
        Verdict{"resume_from_checkpoint: out/checkpoint-2", "resume_from_checkpoint", "unsupported"},
        Verdict{"optimizer: muon", "optimizer", "used"},
        Verdict{"optimizer: lomo", "optimizer", "unsupported"},
        Verdict{"optimizer: adamw_torch_fused", "optimizer", "used"},
        Verdict{"lr_scheduler: greedy", "lr_scheduler", "unsupported"},
        Verdict{"base_model_config: NousResearch/Llama-3.2-1B", "base_model_config", "no_effect"},
        Verdict{"base_model_config: other/model", "base_model_config", "unsupported"},
        Verdict{"dataset_shard_num: 2\ndataset_shard_idx: 0", "dataset_shard_idx", "used"}));

TEST(Keys, AnUnsupportedKeyHasAFixThatWorks) {
    for (const char* line :
         {"fp16: true", "float16: true", "relora: true", "relora_steps: 8", "max_packed_sequence_len: 512",
          "adapter: lora\nlora_r: 8\nlora_alpha: 8\nlora_target_linear: true\n"
          "peft_autocast_adapter_dtype: false"}) {
        const std::string text = kBase + line + "\n";
        const ConfigReading reading = read(text);
        const auto error = std::find_if(reading.diagnostics.begin(), reading.diagnostics.end(),
                                        [](const Diagnostic& d) { return d.severity == Severity::Error; });
        ASSERT_NE(error, reading.diagnostics.end()) << line;
        ASSERT_FALSE(error->fixes.empty()) << line;
        EXPECT_FALSE(error->fixes.front().effect.empty()) << line;
        EXPECT_FALSE(has_error(read(apply_fix(text, error->fixes.front())).diagnostics)) << line;
    }
    EXPECT_TRUE(said(read_more("kd_trainer: true\n"), "KEY-UNSUPPORTED", "kd_trainer")->fixes.empty())
        << "another objective";
}

TEST(Keys, RandomInitWeightsIsReinitWeights) {
    const ConfigReading reading = read_more("random_init_weights: true\n");
    EXPECT_FALSE(has_error(reading.diagnostics)) << all_said(reading);
    EXPECT_TRUE(reading.config.reinit_weights);
    const Diagnostic* old = said(reading, "CFG-DEPRECATED", "random_init_weights");
    ASSERT_NE(old, nullptr);
    const ConfigReading fixed = read(apply_fix(kBase + "random_init_weights: true\n", old->fixes.front()));
    EXPECT_TRUE(fixed.config.reinit_weights) << "the fix renames the key";
    EXPECT_EQ(said(fixed, "CFG-DEPRECATED"), nullptr);
    EXPECT_FALSE(read_more("random_init_weights: false\n").config.reinit_weights);
    EXPECT_FALSE(read_more("random_init_weights: true\nreinit_weights: false\n").config.reinit_weights);
}

TEST(Keys, ATrackerIsNamedAndStopsNothing) {
    for (const char* line : {"wandb_project: x", "use_mlflow: true", "use_comet: true",
                             "trackio_project_name: x", "use_swanlab: true", "use_tensorboard: true"}) {
        const ConfigReading reading = read_more(std::string(line) + "\n");
        EXPECT_FALSE(has_error(reading.diagnostics)) << line;
        EXPECT_NE(said(reading, "KEY-TRACKER"), nullptr) << line;
    }
    EXPECT_EQ(said(read_more("wandb_project:\nuse_tensorboard: false\n"), "KEY-TRACKER"), nullptr);
    EXPECT_EQ(said(read_more("wandb_name: x\n"), "KEY-TRACKER"), nullptr) << "a name switches nothing on";
    EXPECT_EQ(said(read_more("wandb_project: x\nwandb_mode: disabled\n"), "KEY-TRACKER"), nullptr);
    EXPECT_THAT(said(read_more("use_swanlab: true\n"), "KEY-TRACKER")->message, HasSubstr("nothing is sent"));
    EXPECT_THAT(said(read_more("use_comet: true\n"), "KEY-TRACKER")->message, HasSubstr("is sent to Comet"));
    const ConfigReading model = read_more("use_wandb: true\nwandb_log_model: end\n");
    EXPECT_NE(said(model, "KEY-TRACKER", "wandb_log_model"), nullptr) << all_said(model);
}

/// In axolotl, setup_wandb_env_vars and similar functions set use_… if a project is named, even if the file
/// sets use_… to false.
TEST(Keys, AProjectSwitchesItsTrackerOnAsInAxolotl) {
    using Names = std::vector<std::string>;
    EXPECT_EQ(requested_trackers({{"use_wandb", false}, {"wandb_project", "p"}}).names, Names{"wandb"});
    EXPECT_EQ(requested_trackers({{"mlflow_experiment_name", "e"}}).names, Names{"mlflow"});
    EXPECT_EQ(requested_trackers({{"mlflow_tracking_uri", "./mlruns"}}).names, Names{});
    EXPECT_EQ(requested_trackers({{"comet_project_name", "c"}, {"comet_api_key", "secret"}}).names,
              Names{"comet"});
    EXPECT_FALSE(requested_trackers({{"comet_api_key", "secret"}}).keys.contains("comet_api_key"));
}

TEST(Keys, PartsOfAnUnsupportedWholeGetOneMessage) {
    const ConfigReading reading = read_more("relora: true\nrelora_steps: 8\nrelora_prune_ratio: 0.9\n");
    EXPECT_EQ(list_of(reading, "relora_steps"), "unsupported");
    const auto errors = std::count_if(reading.diagnostics.begin(), reading.diagnostics.end(),
                                      [](const Diagnostic& d) { return d.severity == Severity::Error; });
    EXPECT_EQ(errors, 1) << all_said(reading);
    EXPECT_THAT(said(reading, "KEY-UNSUPPORTED", "relora")->message, HasSubstr("not built"));
    EXPECT_EQ(list_of(read_more("relora_prune_ratio: 0.9\n"), "relora_prune_ratio"), "no_effect");
    EXPECT_NE(said(read_more("relora_steps: 8\n"), "KEY-UNSUPPORTED", "relora_steps"), nullptr)
        << "axolotl 0.11 switched ReLoRA on by it";
    EXPECT_EQ(list_of(read_more("relora_steps: 0\n"), "relora_steps"), "no_effect");
}

}  // namespace

TEST(NearestWord, FindsACommandOrAnOption) {
    const std::vector<std::string> words = {"plan", "launch", "watch", "--ranks", "--runs-dir"};
    EXPECT_EQ(nearest_word("lanuch", words), "launch");
    EXPECT_EQ(nearest_word("--rank", words), "--ranks");
    EXPECT_EQ(nearest_word("paln", words), "plan");
    EXPECT_EQ(nearest_word("completely", words), "");
    EXPECT_EQ(nearest_word("", words), "");
}

}  // namespace ringmaster
