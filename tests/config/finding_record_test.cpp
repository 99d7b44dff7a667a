#include "engine/config/finding_record.h"

#include <gmock/gmock.h>

#include <map>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/config/edit.h"

namespace ringmaster {
namespace {

using testing::ElementsAre;

TEST(FindingJson, ReadsBackWhatItWrites) {
    Diagnostic said{
        Severity::Warning,
        "X-Y",
        "a.b",
        3,
        "message",
        "hint",
        "form",
        {{"flag", true},
         {"needed_bytes", int64_t{1} << 40},
         {"share", 0.5},
         {"what", "text"},
         {"sizes", std::vector<int64_t>{1, 2}},
         {"words", std::vector<std::string>{"a", "b"}}},
        {{{{"a", "full"}, {"b", "", true}}, "ringmaster calibrate", "effect", {{"size", int64_t{2}}}},
         {{{"c", "\"1\""}}}}};
    const nlohmann::json written = diagnostic_to_json(said);
    EXPECT_EQ(written["parameters"]["needed_bytes"], int64_t{1} << 40);
    EXPECT_EQ(written["fixes"][0]["edits"][0], (nlohmann::json{{"key", "a"}, {"value", "full"}}));
    EXPECT_EQ(written["fixes"][0]["edits"][1], (nlohmann::json{{"key", "b"}, {"remove", true}}));
    EXPECT_EQ(written["fixes"][1]["edits"][0]["value"], "1");  // edits store every value as text
    EXPECT_EQ(written["fixes"][1]["command"], nullptr);
    const Diagnostic read = diagnostic_from_json(written);
    EXPECT_EQ(read.parameters, said.parameters);
    EXPECT_EQ(read.fixes, said.fixes);
    EXPECT_EQ(diagnostic_to_json(read), written);
}

TEST(Fixes, ARenamedKeyKeepsItsLineItsCommentAndItsBlock) {
    const Fix fix{{{"sequnce_len", "", true}, {"sequence_len", "8"}}};
    EXPECT_EQ(apply_fix("a: 1\nsequnce_len: 8  # x\nb: 2\n", fix), "a: 1\nsequence_len: 8  # x\nb: 2\n");
    const Fix block{{{"dataset", "", true}, {"datasets", "[{\"path\":\"a\"}]"}}};
    EXPECT_EQ(apply_fix("dataset:\n  - path: a # p\nb: 2\n", block), "datasets:\n  - path: a # p\nb: 2\n");
}

using Sentences = std::map<std::string, std::string>;

std::set<std::string> names_of(const std::string& sentence) {
    const std::vector<std::string> names = names_in(sentence);
    return {names.begin(), names.end()};
}

/// Expects the same forms in both languages, each with the same parameters.
void expect_same(const std::string& where, const Sentences& english, const Sentences& other) {
    for (const auto& [form, sentence] : english) {
        ASSERT_TRUE(other.contains(form)) << where << " has no '" << form << "'";
        EXPECT_EQ(names_of(other.at(form)), names_of(sentence)) << where << " '" << form << "'";
        EXPECT_FALSE(other.at(form).empty()) << where << " '" << form << "'";
    }
    EXPECT_EQ(other.size(), english.size()) << where << " has a form that English has not";
}

TEST(FindingRecords, HaveEverySentenceInEveryLanguageWithTheSameParameters) {
    EXPECT_GT(finding_records().size(), 120u);
    for (const auto& [code, record] : finding_records()) {
        ASSERT_TRUE(record.texts.contains("en")) << code;
        const FindingTexts& english = record.texts.at("en");
        for (const std::string& language : finding_languages()) {
            ASSERT_TRUE(record.texts.contains(language)) << code << " " << language;
            const FindingTexts& texts = record.texts.at(language);
            const std::string where = code + " " + language;
            EXPECT_FALSE(texts.title.empty()) << where;
            EXPECT_FALSE(texts.explanation.empty()) << where;
            expect_same(where + " messages", english.messages, texts.messages);
            expect_same(where + " hints", english.hints, texts.hints);
            expect_same(where + " hints of the app", english.app_hints, texts.app_hints);
            expect_same(where + " effects", english.effects, texts.effects);
        }
    }
}

/// Returns a finding with a value for each name of the sentence.
Diagnostic with_values(const std::string& code, const std::string& form, const std::string& sentence) {
    Diagnostic filled{Severity::Error, code, "key", 0, "{unfilled}", "{unfilled}", form, {}};
    for (const std::string& name : names_in(sentence)) filled.parameters[name] = int64_t{7};
    return filled;
}

TEST(FindingRecords, LeaveNoNameInASentenceThatHasItsParameters) {
    int sentences = 0;
    for (const auto& [code, record] : finding_records()) {
        for (const std::string& language : finding_languages()) {
            const FindingTexts& texts = record.texts.at(language);
            for (const auto& [form, sentence] : texts.messages) {
                EXPECT_EQ(names_of(message_in(language, with_values(code, form, sentence))), names_of(""))
                    << code << " " << language << " " << form;
                ++sentences;
            }
            for (const auto& [form, sentence] : texts.app_hints)
                EXPECT_EQ(names_of(app_hint_in(language, with_values(code, form, sentence))), names_of(""))
                    << code << " " << language << " " << form;
        }
    }
    EXPECT_GT(sentences, 1000);
}

TEST(FindingRecords, TranslateWhatAnErrorSays) {
    const auto told = [](const char* code, const std::string& text) {
        return error_text_in("de", code, text);
    };
    EXPECT_EQ(told("RUN-MISSING", "there is no run 'a', neither as a folder nor by name in /runs"),
              "es gibt keinen Lauf 'a', weder als Ordner noch unter diesem Namen in /runs");
    EXPECT_EQ(told("FILE-MISSING", "/a/b: cannot be read: No such file or directory"),
              "/a/b: lässt sich nicht lesen: No such file or directory");
    EXPECT_EQ(
        told("SETUP-PYTHON", "/env: there is no Python environment here\n  `ringmaster setup` installs it"),
        "/env: hier gibt es keine Python-Umgebung\n  Drücken Sie auf der Seite Start „Einrichten“.");
    EXPECT_EQ(told("HUB-PUSH", "the row has no field 'text'"), "die Zeile hat kein Feld 'text'")
        << "by a phrase of DATA-TOKENIZE";
    EXPECT_EQ(
        told("PREFLIGHT-FAILED",
             "preflight: the loss is 2.3125 on the mesh and 2.2505 on one rank (bound "
             "1.5e-05 of it)"),
        "Vorprüfung: Der Loss ist auf dem Mesh 2,3125 und auf einem Rank 2,2505 (Schranke 1,5e-05 davon)");
    EXPECT_EQ(told("ARGUMENT-VALUE", "'0.1234' is not YAML"), "'0.1234' ist kein YAML")
        << "as it was written";
    EXPECT_EQ(told("RUN-MISSING", "as another version says it"), "as another version says it");
    EXPECT_EQ(told("OF-ANOTHER-VERSION", "is missing"), "is missing");
    EXPECT_EQ(error_text_in("en", "RUN-ACTIVE", "`ringmaster stop a` first"), "Stop the run in Monitor.");
}

TEST(FindingRecords, JoinAnErrorAndItsHintByADashInEnglishOnly) {
    const std::string text =
        "out of memory: a tensor of 3.2 GiB could not be allocated, 76.3 GiB of tensors are in use \u2014 "
        "shorten sequence_len or use more ranks in context_parallel_size";
    const auto told = [&](const char* language) { return error_text_in(language, "ENGINE-MEMORY", text); };
    EXPECT_EQ(told("en"), text);
    EXPECT_EQ(told("de"),
              "der Speicher reichte nicht. Ein Tensor von 3,2 GiB war nicht zu bekommen, Tensoren belegen "
              "76,3 GiB. Kürzen Sie sequence_len, oder nehmen Sie mehr Ranks in context_parallel_size.");
    EXPECT_EQ(told("ja"),
              "メモリ不足。3.2 GiB のテンソルを確保できません（テンソルの使用量 76.3 GiB）。sequence_len "
              "を短くするか、context_parallel_size を増やしてください。");
    EXPECT_EQ(error_text_in("de", "RUN-MISSING", "as another version says it. \u2014 max_steps is so, too?"),
              "as another version says it. max_steps is so, too?")
        << "no capital for a key, and no second full stop";
}

TEST(FindingRecords, SayTheNumberOfRanksInTheAppsWords) {
    const Diagnostic said = finding(Severity::Error, Form("MESH-PRODUCT"), "context_parallel_size", 1, {},
                                    {{{{"context_parallel_size", "2"}}}, {{}, "--ranks 16"}});
    EXPECT_EQ(hint_in("de", said), "context_parallel_size: 2 oder --ranks 16");
    EXPECT_EQ(app_hint_in("de", said), "context_parallel_size: 2 oder Ranks: 16");
}

TEST(FindingRecords, PutParametersIntoTheirPlaces) {
    const Diagnostic below = finding(Severity::Error, Form("CFG-RANGE", "below"), "a.b", 3,
                                     {{"value", "-1"}, {"least", int64_t{1000}}, {"nearest", int64_t{1000}}});
    EXPECT_EQ(below.message, "a.b is -1, but must be at least 1,000");
    EXPECT_EQ(below.hint, "a.b: 1000");
    EXPECT_EQ(message_in("de", below), "a.b ist -1, muss aber mindestens 1.000 sein");
    EXPECT_EQ(below.fixes, (std::vector<Fix>{{{{"a.b", "1000"}}}})) << "no fix without its parameter";
    const Diagnostic memory = finding(Severity::Warning, Form("MEM-FIT", "shorter"), "", 0,
                                      {{"needed_bytes", int64_t{3} << 30},
                                       {"low_bytes", int64_t{2} << 30},
                                       {"high_bytes", int64_t{4} << 30},
                                       {"device_bytes", int64_t{5} << 29}});
    EXPECT_EQ(memory.message, "a rank takes 3.0 GiB (2.0 GiB to 4.0 GiB), the device has 2.5 GiB");
    EXPECT_THAT(message_in("de", memory), testing::HasSubstr("2,5 GiB"));
    EXPECT_THAT(message_in("zh_CN", memory), testing::HasSubstr("2.5 GiB"));
    EXPECT_EQ(message_in("ja", below), "a.b が -1 になっていますが、1,000 以上でなければなりません");
    EXPECT_THAT(message_in("ja", memory), testing::HasSubstr("2.5 GiB"));
}

TEST(FindingRecords, SayNoneForAMachineWithoutGpus) {
    const auto told = [](const char* language, int64_t devices) {
        return message_in(language, finding(Severity::Info, Form("MESH-DEVICES"), "", 0,
                                            {{"devices", devices}, {"ranks", int64_t{8}}}));
    };
    EXPECT_EQ(told("en", 0), "the plan needs 8 GPUs, one for each rank; this machine has none");
    EXPECT_EQ(told("de", 0), "Der Plan braucht 8 GPUs, eine je Rank; dieser Rechner hat keine");
    EXPECT_EQ(told("en", 2), "the plan needs 8 GPUs, one for each rank; this machine has 2");
}

TEST(FindingRecords, TranslateTheWordsOfAParameterRoundItsOwnText) {
    const auto told = [](const char* code, const char* form, const std::string& problem) {
        return message_in("ja", finding(Severity::Error, Form(code, form), "k", 0, {{"problem", problem}}));
    };
    EXPECT_EQ(told("CFG-FILE", "", "no such file: a is a folder"), "ファイルが存在しません：a is a folder");
    EXPECT_EQ(told("CFG-FILE", "", "* is a folder"), "* はフォルダです");
    EXPECT_EQ(
        told("CFG-DEEPSPEED", "file", "d.json: zero_optimization.stage is 9, but must be 0, 1, 2 or 3"),
        "d.json：zero_optimization.stage が 9 になっていますが、0、1、2、3 のいずれかでなければなりません");
    EXPECT_EQ(told("CFG-FILE", "", "is a folder: x"), "is a folder: x") << "not one of the phrases";
}

}  // namespace
}  // namespace ringmaster
