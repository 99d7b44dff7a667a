// Tests the names of modules that are trained in full with an adapter. In transformers 5.23, GPT-NeoX's head
// is lm_head, and PEFT 0.21 trains nothing under its former name embed_out.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tuple>

#include "engine/config/lora_targets.h"
#include "engine/families/model_config.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

Plan with_saved(const std::string& modules, const char* model) {
    return plan_text(config_text("adapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_linear: true\n"
                                 "lora_modules_to_save: " +
                                     modules + "\n",
                                 model),
                     1);
}

std::vector<std::string> whole_tensors(const Plan& plan) {
    std::vector<std::string> names;
    for (const ParameterShape& shape : lora_shapes(*plan.model, plan.config.lora))
        if (shape.layer < 0) names.push_back(shape.file_name());
    return names;
}

constexpr const char* kPythia = "EleutherAI/pythia-70m";
constexpr const char* kLlama = "meta-llama/Llama-3-8B-Instruct";

TEST(SavedModules, OfGptNeoxAreNamedAsPeftNamesThem) {
    const Plan plan = with_saved("[embed_in, lm_head]", kPythia);
    EXPECT_TRUE(plan.ok()) << said(plan);
    EXPECT_THAT(whole_tensors(plan),
                ElementsAre("base_model.model.gpt_neox.embed_in.weight", "base_model.model.lm_head.weight"));
}

TEST(SavedModules, TheFormerNameOfGptNeoxsHeadTrainsTheHeadWithAWarning) {
    const Plan plan = with_saved("[embed_in, embed_out]", kPythia);
    EXPECT_TRUE(plan.ok()) << said(plan);
    EXPECT_THAT(targets_of(plan.config.lora).saved_modules(), ElementsAre("embed_in", "lm_head"));
    ASSERT_TRUE(find(plan, "CFG-DEPRECATED"));
    EXPECT_EQ(find(plan, "CFG-DEPRECATED")->fixes,
              (std::vector<Fix>{{{{"lora_modules_to_save", "[embed_in, lm_head]"}}}}));
}

TEST(SavedModules, NamesOfAnotherModelAreRefusedWithThisModels) {
    for (const auto& [modules, model, fixed] :
         {std::tuple("[embed_in]", kLlama, "[embed_tokens]"), std::tuple("[embed_out]", kLlama, "[lm_head]"),
          std::tuple("[embed_tokens, lm_head]", kPythia, "[embed_in, lm_head]")}) {
        const Plan plan = with_saved(modules, model);
        EXPECT_FALSE(plan.ok()) << modules;
        ASSERT_TRUE(find(plan, "KEY-UNSUPPORTED")) << said(plan);
        EXPECT_EQ(find(plan, "KEY-UNSUPPORTED")->fixes,
                  (std::vector<Fix>{{{{"lora_modules_to_save", fixed}}}}));
    }
    EXPECT_THAT(whole_tensors(with_saved("[]", kLlama)), IsEmpty());
}

TEST(Dora, IsRefusedIfItIsNotComputed) {
    const auto plan_with = [](const std::string& more) {
        return plan_of(
            "adapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_linear: true\npeft_use_dora: true\n" +
                more,
            1);
    };
    for (const char* more : {"load_in_8bit: true\n", "lora_modules_to_save: [lm_head]\n"}) {
        const Plan plan = plan_with(more);
        EXPECT_FALSE(plan.ok()) << more;
        EXPECT_EQ(find(plan, "KEY-UNSUPPORTED")->key, "peft_use_dora") << said(plan);
    }
    const Plan plan = plan_with("");
    EXPECT_TRUE(plan.ok()) << said(plan);
    int64_t magnitudes = 0;
    for (const ParameterShape& shape : lora_shapes(*plan.model, plan.config.lora))
        if (shape.name.ends_with("lora_magnitude_vector")) magnitudes += shape.size();
    EXPECT_EQ(magnitudes, 32 * (4096 + 2 * 1024 + 4096 + 2 * 14336 + 4096)) << "one for each output";
}

}  // namespace
}  // namespace ringmaster
