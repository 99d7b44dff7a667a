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

// Uses the patterns of axolotl's tests/test_freeze.py on parameters of other sizes.
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

TEST(Unfrozen, RangesOfModulesThatShareATensorCountItsRows) {
    ParameterShape key{"model.layers.0.self_attn.k_proj.weight", {8, 16}};
    key.stored = {"model.layers.0.self_attn.qkv_proj.weight", 16, 32};
    const Unfrozen found = unfrozen_of(key, {"^model.layers.0.self_attn.qkv_proj.weight$[10:20]"});
    EXPECT_TRUE(found.trained);
    EXPECT_THAT(found.frozen_rows, ElementsAre(Pair(4, 8)));
    EXPECT_FALSE(unfrozen_of(key, {"^model.layers.0.self_attn.k_proj"}).trained);
}

TEST(Unfrozen, APatternThatTrainsNothingIsAnError) {
    const Plan plan = plan_of("unfrozen_parameters: ['^model.layers.99.']\n", 1);
    ASSERT_TRUE(find(plan, "CFG-VALUE")) << said(plan);
    EXPECT_FALSE(plan.ok());
    EXPECT_TRUE(plan_of("unfrozen_parameters: ['^model.layers.0.']\n", 1).ok());
}

TEST(WholeMatrices, AreNotThoseOfAFamilyThatKeepsSeveralModulesInOne) {
    const auto plan_with = [](const std::string& optimizer, const char* model) {
        return plan_text(config_text("optimizer: " + optimizer + "\n", model), 1);
    };
    constexpr const char* kPhi = "microsoft/Phi-3-mini-4k-instruct";
    for (const char* optimizer : {"muon", "adafactor", "came_pytorch"}) {
        const Plan plan = plan_with(optimizer, kPhi);
        EXPECT_FALSE(plan.ok());
        EXPECT_THAT(said(plan), HasSubstr("qkv_proj"));
        EXPECT_TRUE(plan_with(optimizer, "meta-llama/Llama-3-8B-Instruct").ok());
    }
    EXPECT_TRUE(plan_with("lion_8bit", kPhi).ok());
}

}  // namespace
}  // namespace ringmaster
