// Tests `adapter: lora`: what is read, and one clear message for each mistake.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "engine/blocks/sites.h"
#include "engine/config/lora_targets.h"
#include "tests/config/reading.h"

namespace ringmaster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

const std::string kAdapter = "adapter: lora\nlora_r: 8\nlora_alpha: 16\n";

Lora lora_of(const std::string& more) {
    const ConfigReading reading = read_more(kAdapter + more);
    for (const Diagnostic& d : reading.diagnostics)
        EXPECT_NE(d.severity, Severity::Error) << all_said(reading);
    return reading.config.lora;
}

TEST(Lora, IsReadAsAxolotlReadsIt) {
    const Lora lora = lora_of("lora_target_modules: [v_proj, mlp.up_proj, q_proj]\nlora_dropout: 0.05\n");
    EXPECT_TRUE(lora.on());
    EXPECT_EQ(lora.r, 8);
    EXPECT_EQ(lora.alpha, 16);
    EXPECT_EQ(lora.dropout, 0.05);
    EXPECT_EQ(lora.scale(), 2);
    EXPECT_THAT(lora.targets, ElementsAre("v_proj", "mlp.up_proj", "q_proj"));
    EXPECT_EQ(lora.base_model, "NousResearch/Llama-3.2-1B");
    EXPECT_THAT(lora_of("lora_target_linear: true\nlora_target_modules: [q_proj]\n").targets,
                ElementsAre("q_proj", "all-linear"))
        << "linear adds all";
    EXPECT_THAT(lora_of("lora_target_modules: all-linear\n").targets, ElementsAre("all-linear"));
    EXPECT_NEAR(lora_of("lora_target_linear: true\npeft_use_rslora: true\n").scale(), 16 / 2.8284271, 1e-6);
    EXPECT_FALSE(read_more("lora_r: 8\n").config.lora.on());
    EXPECT_THAT(lora_of("lora_target_linear: true\npeft_layers_to_transform: [3, 1, 3]\n").layers,
                ElementsAre(1, 3));
    EXPECT_THAT(lora_of("lora_target_linear: true\npeft_layers_to_transform: 2\n").layers, ElementsAre(2));
}

/// Returns the modules of two Llama layers and those around them.
std::vector<ModulePath> modules() {
    std::vector<ModulePath> made = {{"model.embed_tokens", "", -1, false}, {"lm_head", "", -1, false}};
    for (int layer = 0; layer < 2; ++layer) {
        const std::string path = "model.layers." + std::to_string(layer) + ".";
        made.push_back({path + "mlp", "mlp", layer, false});
        for (std::size_t i = 0; i < 7; ++i)
            made.push_back({path + module_path(i), module_path(i), layer, true});
    }
    return made;
}

MatchedTargets matched(const std::string& text) {
    return match_targets(lora_of(text), modules());
}

TEST(Lora, ATextIsARegularExpressionForWholePaths) {
    EXPECT_THAT(matched("lora_target_modules: '.*\\.(q_proj|v_proj)'\n").targets,
                ElementsAre("q_proj", "v_proj"));
    EXPECT_THAT(matched("lora_target_modules: 'model.layers.[\\d]+.(mlp|self_attn).(down|k)_proj'\n").targets,
                ElementsAre("k_proj", "down_proj"));
    EXPECT_EQ(matched("lora_target_modules: q_proj\n").problem, TargetProblem::NoMatch);
    EXPECT_EQ(matched("lora_target_modules: '.*'\n").problem, TargetProblem::OtherKind);
    EXPECT_EQ(matched("lora_target_modules: '.*0.*q_proj|.*1.*k_proj'\n").problem, TargetProblem::Uneven);
    EXPECT_THAT(matched("lora_target_modules: '.*layers.1.*q_proj'\n").layers, ElementsAre(1));
}

TEST(Lora, LayersOfTwoKindsEachAdaptTheModulesThatTheyHave) {
    const auto module = [](int layer, const std::string& name) {
        return ModulePath{"model.layers." + std::to_string(layer) + "." + name, name, layer, true};
    };
    const std::vector<ModulePath> both = {module(0, "linear_attn.out_proj"), module(0, "mlp.up_proj"),
                                          module(1, "self_attn.o_proj"), module(1, "mlp.up_proj")};
    const auto of = [&](const std::string& text) { return match_targets(lora_of(text), both); };
    const MatchedTargets all = of("lora_target_linear: true\n");
    EXPECT_EQ(all.problem, TargetProblem::None);
    EXPECT_THAT(all.targets, ElementsAre("out_proj", "up_proj", "o_proj"));
    EXPECT_TRUE(all.layers.empty());
    EXPECT_THAT(of("lora_target_modules: [o_proj]\n").layers, ElementsAre(1));
    EXPECT_EQ(of("lora_target_modules: '.*(0.mlp.up|o)_proj'\n").problem, TargetProblem::Uneven)
        << "layer 1 has an up_proj too";
}

TEST(Lora, AListNamesModulesOrTheEndsOfTheirPaths) {
    const MatchedTargets some = matched("lora_target_modules: [mlp.up_proj, in_proj, q_proj]\n");
    EXPECT_THAT(some.targets, ElementsAre("q_proj", "up_proj"));
    EXPECT_THAT(some.idle, ElementsAre("in_proj"));
    EXPECT_EQ(matched("lora_target_modules: [mlp, q_proj]\n").at, "model.layers.0.mlp");
    EXPECT_EQ(matched("lora_target_modules: [q_proj, lm_head]\n").at, "lm_head");
    EXPECT_EQ(matched("lora_target_linear: true\n").targets.size(), 7U);
}

TEST(Lora, AModuleThatIsTrainedInFullGetsNoAdapter) {
    const std::string saved = "lora_modules_to_save: [embed_tokens, lm_head]\n";
    const MatchedTargets both = matched("lora_target_modules: [q_proj, embed_tokens]\n" + saved);
    EXPECT_EQ(both.problem, TargetProblem::None);
    EXPECT_THAT(both.targets, ElementsAre("q_proj"));
    EXPECT_TRUE(both.idle.empty());
    EXPECT_THAT(matched("lora_target_modules: '.*(q_proj|lm_head)'\n" + saved).targets,
                ElementsAre("q_proj"));
    EXPECT_EQ(matched("lora_target_modules: [embed_tokens]\n" + saved).problem, TargetProblem::NoMatch)
        << "PEFT ends with: only targeted modules that are marked to be saved";
}

TEST(Lora, EveryKeyIsUsedOrWithoutEffectOrRefused) {
    const ConfigReading reading =
        read_more(kAdapter +
                  "lora_target_linear: true\nlora_fan_in_fan_out: true\nlora_mlp_kernel: true\n"
                  "peft_use_dora: true\npeft_init_lora_weights: true\n");
    EXPECT_TRUE(reading.config.lora.dora);
    for (const char* key : {"adapter", "lora_r", "lora_alpha", "lora_target_linear", "peft_use_dora"})
        EXPECT_EQ(list_of(reading, key), "used") << key;
    for (const char* key : {"lora_fan_in_fan_out", "lora_mlp_kernel", "peft_init_lora_weights"})
        EXPECT_EQ(list_of(reading, key), "no_effect") << key;
}

struct Mistake {
    const char* text;
    const char* code;
    const char* key;
    int line;
    const char* part;  ///< part of the message or the hint

    friend std::ostream& operator<<(std::ostream& to, const Mistake& of) { return to << of.text; }
};

class LoraMistake : public testing::TestWithParam<Mistake> {};

TEST_P(LoraMistake, IsSaidWithKeyAndLine) {
    const Mistake& mistake = GetParam();
    const ConfigReading reading = read_more(mistake.text);
    const Diagnostic* found = said(reading, mistake.code, mistake.key);
    ASSERT_NE(found, nullptr) << all_said(reading);
    EXPECT_EQ(found->severity, Severity::Error);
    EXPECT_EQ(found->line, kBaseLines + mistake.line) << found->message;
    EXPECT_THAT(found->message + " | " + found->hint, HasSubstr(mistake.part));
}

INSTANTIATE_TEST_SUITE_P(
    , LoraMistake,
    testing::Values(
        Mistake{"adapter: qlora\n", "CFG-MISSING", "load_in_4bit", 1, "load_in_4bit: true"},
        Mistake{"adapter: qlora\nload_in_8bit: true\n", "CFG-QUANTIZED", "load_in_8bit", 2,
                "load_in_4bit: true"},
        Mistake{"load_in_4bit: true\n", "CFG-QUANTIZED", "load_in_4bit", 1, "adapter: qlora"},
        Mistake{"load_in_8bit: true\n", "CFG-QUANTIZED", "load_in_8bit", 1, "adapter: lora"},
        Mistake{"adapter: Lora\n", "KEY-UNSUPPORTED", "adapter", 1, "adapter: lora"},
        Mistake{"adapter: lora\nlora_alpha: 8\nlora_target_linear: true\n", "CFG-MISSING", "lora_r", 1,
                "rank"},
        Mistake{"adapter: lora\nlora_r: 8\nlora_target_linear: true\n", "CFG-MISSING", "lora_alpha", 1,
                "lora_alpha: 16"},
        Mistake{"adapter: lora\nlora_r: 8\nlora_alpha: 8\n", "CFG-MISSING", "lora_target_modules", 1,
                "lora_target_linear: true"},
        Mistake{"adapter: lora\nlora_r: 0\nlora_alpha: 8\n", "CFG-RANGE", "lora_r", 2, "lora_r: 1"},
        Mistake{"adapter: lora\nlora_r: -8\n", "CFG-RANGE", "lora_r", 2, "at least 1"},
        Mistake{"adapter: lora\nlora_r: 1e18\n", "CFG-RANGE", "lora_r", 2, "at most"},
        Mistake{"adapter: lora\nlora_alpha: 0\n", "CFG-RANGE", "lora_alpha", 2, "at least 1"},
        Mistake{"adapter: lora\nlora_dropout: 1\n", "CFG-RANGE", "lora_dropout", 2, "below 1"},
        Mistake{"adapter: lora\nlora_target_modules: [q_proj, 3]\n", "CFG-VALUE", "lora_target_modules.1", 2,
                "a module's name"},
        Mistake{"adapter: lora\nlora_target_modules: '('\n", "CFG-VALUE", "lora_target_modules", 2,
                "cannot be read"},
        Mistake{"adapter: lora\nlora_target_modules: 3\n", "CFG-TYPE", "lora_target_modules", 2, "list"},
        Mistake{"adapter: lora\nlora_modules_to_save: [embed_tokens, norm]\n", "KEY-UNSUPPORTED",
                "lora_modules_to_save", 2, "norm"},
        Mistake{"adapter: lora\nloraplus_lr_ratio: 0\n", "CFG-RANGE", "loraplus_lr_ratio", 2, "above 0"},
        Mistake{"adapter: lora\nunfrozen_parameters: ['^lm_head']\n", "CFG-OPTIMIZER", "unfrozen_parameters",
                2, "adapter"},
        Mistake{"adapter: lora\npeft_init_lora_weights: pissa\n", "KEY-UNSUPPORTED", "peft_init_lora_weights",
                2, "Kaiming"},
        Mistake{"adapter: lora\nlora_model_dir: ./nowhere\n", "CFG-LORA", "lora_model_dir", 2,
                "/files/nowhere"}));

TEST(Lora, ARegularExpressionCannotTakeForEver) {
    EXPECT_EQ(matched("lora_target_modules: '((.*)*)*((.*)*)*((.*)*)*x'\n").problem, TargetProblem::NoMatch);
}

TEST(Lora, TheEmbeddingAndTheHeadAreTrainedWholeIfTheyAreNamed) {
    const auto saved = [](const std::string& value) {
        return targets_of(lora_of("lora_target_linear: true\nlora_modules_to_save: " + value + "\n"))
            .saved_modules();
    };
    EXPECT_THAT(saved("[lm_head, embed_tokens]"), ElementsAre("embed_tokens", "lm_head"));
    EXPECT_THAT(saved("[lm_head]"), ElementsAre("lm_head"));
    EXPECT_THAT(saved("model.embed_tokens"), ElementsAre("embed_tokens"));
    EXPECT_THAT(saved("[embed_out, embed_in]"), ElementsAre("embed_in", "embed_out"));
    EXPECT_THAT(saved("[]"), testing::IsEmpty());
}

TEST(Lora, RandomWeightsUnderAnAdapterAreWarnedOf) {
    const ConfigReading reading = read_more(kAdapter + "lora_target_linear: true\nreinit_weights: true\n");
    EXPECT_EQ(said(reading, "CFG-LORA", "reinit_weights")->severity, Severity::Warning);
}

// ------------------------------------------------------------------------------- continuing from an adapter

const std::string kSaved =
    R"("peft_type": "LORA", "r": 4, "lora_alpha": 8, "lora_dropout": 0.1, "use_rslora": true,)"
    R"("target_modules": ["v_proj", "q_proj"], "rank_pattern": {}, "modules_to_save": null)";

ConfigReading continued(const TemporaryFolder& folder, const std::string& saved, const std::string& more) {
    folder.write("adapter/adapter_config.json", "{" + saved + "}");
    folder.write("adapter/adapter_model.safetensors", "");
    return read_more("adapter: lora\nlora_model_dir: " + (folder / "adapter") + "\n" + more);
}

TEST(Lora, AnAbsentAdapterIsPlannedWithTheFilesSettings) {
    const ConfigReading reading = read_more(
        "adapter: lora\nlora_model_dir: ./nowhere\nlora_r: 16\nlora_alpha: 8\nlora_target_modules: "
        "[q_proj]\n");
    for (const Diagnostic& one : reading.diagnostics) EXPECT_NE(one.severity, Severity::Error) << one.message;
    const Diagnostic* absent = said(reading, "CFG-LORA", "lora_model_dir");
    ASSERT_NE(absent, nullptr);
    EXPECT_EQ(absent->severity, Severity::Warning);
    EXPECT_EQ(reading.config.lora.r, 16);
    EXPECT_THAT(reading.config.lora.model_dir, HasSubstr("/nowhere")) << "a launch looks for it there";
}

TEST(Lora, ASavedAdaptersOwnSettingsCount) {
    const TemporaryFolder folder;
    const ConfigReading reading =
        continued(folder, kSaved, "lora_r: 16\nlora_alpha: 8\nlora_target_linear: true\n");
    const Lora& lora = reading.config.lora;
    EXPECT_EQ(lora.r, 4);
    EXPECT_EQ(lora.alpha, 8);
    EXPECT_EQ(lora.dropout, 0.1);
    EXPECT_TRUE(lora.rslora);
    EXPECT_THAT(lora.targets, ElementsAre("v_proj", "q_proj"));
    EXPECT_EQ(lora.model_dir, folder / "adapter");
    EXPECT_THAT(said(reading, "CFG-CONFLICT", "lora_r")->hint, HasSubstr("lora_r: 4"));
    EXPECT_NE(said(reading, "CFG-CONFLICT", "lora_target_linear"), nullptr);
    EXPECT_EQ(said(reading, "CFG-CONFLICT", "lora_alpha"), nullptr);
    EXPECT_EQ(said(reading, "CFG-CONFLICT", "lora_target_linear")->fixes,
              (std::vector<Fix>{{{{"lora_target_linear", "", true}}}}));
    const ConfigReading named = continued(folder, kSaved, "lora_target_modules: [k_proj, q_proj]\n");
    EXPECT_EQ(said(named, "CFG-CONFLICT", "lora_target_modules")->fixes,
              (std::vector<Fix>{{{{"lora_target_modules", "[q_proj, v_proj]"}}}}));
    const ConfigReading silent = continued(folder, kSaved, "");
    for (const Diagnostic& d : silent.diagnostics) EXPECT_EQ(d.severity, Severity::Info) << all_said(silent);
}

TEST(Lora, ASavedAdapterThatCannotBeTrainedOnIsRefused) {
    const TemporaryFolder folder;
    for (const auto& [more, part] : std::vector<std::pair<std::string, std::string>>{
             {R"(, "use_dora": 3)", "r, lora_alpha"},
             {R"(, "rank_pattern": {"q_proj": 2})", "rank_pattern"},
             {R"(, "modules_to_save": ["norm"])", "modules_to_save"},
             {R"(, "bias": "all")", "bias"},
             {R"(, "peft_type": "LOHA")", "peft_type"},
             {R"(, "r": 0)", "r, lora_alpha"},
             {R"(, "r": "4")", "r, lora_alpha"},
             {R"(, "target_modules": [3])", "a module's name"},
             {R"(, "target_modules": null)", "target_modules"},
             {",", "cannot be read"}}) {
        const ConfigReading reading = continued(folder, kSaved + more, "");
        const Diagnostic* found = said(reading, "CFG-LORA", "lora_model_dir");
        ASSERT_NE(found, nullptr) << more << all_said(reading);
        EXPECT_EQ(found->severity, Severity::Error);
        EXPECT_THAT(found->message, HasSubstr(part));
    }
}

}  // namespace
}  // namespace ringmaster
