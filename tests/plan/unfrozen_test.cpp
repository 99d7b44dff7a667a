// Tests frozen parameters, and optimizers that update whole matrices.
#include "engine/plan/unfrozen.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Pair;

const ParameterShape kTable{"model.embed_tokens.weight", {100, 8}};
const ParameterShape kUp{"model.layers.21.mlp.up_proj.weight", {16, 8}};

// Uses the patterns of axolotl's tests/test_freeze.py on parameters of different sizes.
TEST(Unfrozen, PatternsAreForTheBeginningOfANameAndADotIsADot) {
    EXPECT_TRUE(unfrozen_of(kUp, {"model.layers.2[0-9]+.mlp.[a-z_]+"}).trained);
    EXPECT_TRUE(unfrozen_of(kUp, {"^lm_head", "^model.layers.21."}).trained);
    EXPECT_TRUE(unfrozen_of(kUp, {".+up_proj.weight$"}).trained);
    EXPECT_FALSE(unfrozen_of(kUp, {"mlp.up_proj"}).trained);
    EXPECT_FALSE(unfrozen_of(kUp, {"model.layers.2.mlp"}).trained);
    EXPECT_FALSE(unfrozen_of({"model.layersX21", {4}}, {"model.layers.21"}).trained);
}

TEST(Unfrozen, RangesLeaveTheOtherRowsFrozen) {
    const auto frozen = [](const std::vector<std::string>& patterns) {
        return unfrozen_of(kTable, patterns).frozen_rows;
    };
    EXPECT_THAT(frozen({"^model.embed_tokens.weight$[:40]"}), ElementsAre(Pair(40, 100)));
    EXPECT_THAT(frozen({"^model.embed_tokens.weight$[90:]"}), ElementsAre(Pair(0, 90)));
    EXPECT_THAT(frozen({"model.embed_tokens.weight[7]"}), ElementsAre(Pair(0, 7), Pair(8, 100)));
    EXPECT_THAT(frozen({"model.embed_tokens.weight[60:80]", "model.embed_tokens.weight[10:70]"}),
                ElementsAre(Pair(0, 10), Pair(80, 100)));
    EXPECT_THAT(frozen({"model.embed_tokens.weight"}), IsEmpty());
    EXPECT_THAT(unfrozen_of(kTable, {"model.embed_tokens.weight[90:101]"}).problem, HasSubstr("90 to 101"));
}

TEST(Unfrozen, APatternThatTrainsNothingIsAnError) {
    const Plan plan = plan_of("unfrozen_parameters: ['^model.layers.99.']\n", 1);
    ASSERT_TRUE(find(plan, "CFG-VALUE")) << said(plan);
    EXPECT_FALSE(plan.ok());
    EXPECT_TRUE(plan_of("unfrozen_parameters: ['^model.layers.0.']\n", 1).ok());
}

TEST(FusedModules, AreOneParameterAsInTheFilesForOptimizersAndAdapters) {
    const auto plan_with = [](const std::string& keys) {
        return plan_text(config_text(keys, "microsoft/Phi-3-mini-4k-instruct"), 1);
    };
    for (const char* optimizer : {"muon", "adafactor", "came_pytorch", "lion_8bit"})
        EXPECT_TRUE(plan_with("optimizer: " + std::string(optimizer) + "\n").ok()) << optimizer;
    const Plan plan =
        plan_with("adapter: lora\nlora_r: 8\nlora_alpha: 16\nlora_target_modules: [qkv_proj]\n");
    EXPECT_TRUE(plan.ok()) << said(plan);
    std::vector<std::vector<int64_t>> shapes;
    for (const ParameterShape& shape : lora_shapes(*plan.model, plan.config.lora))
        shapes.push_back(shape.shape);
    ASSERT_EQ(shapes.size(), 2 * 32);
    EXPECT_THAT(shapes[0], ElementsAre(8, 3072));
    EXPECT_THAT(shapes[1], ElementsAre(3 * 3072, 8)) << "one B for queries, keys and values";
}

}  // namespace
}  // namespace ringmaster
