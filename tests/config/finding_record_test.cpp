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
    EXPECT_EQ(written["fixes"][1]["edits"][0]["value"], "1");  // text, not a number
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
            expect_same(where + " effects", english.effects, texts.effects);
        }
    }
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
