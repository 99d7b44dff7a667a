#include "engine/config/document.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace ringmaster {
namespace {

using nlohmann::json;
using testing::HasSubstr;

Document document_of(const std::string& text) {
    Document document;
    Diagnostics diagnostics;
    EXPECT_TRUE(read_document(text, document, diagnostics)) << text;
    EXPECT_TRUE(diagnostics.empty()) << diagnostics.front().message;
    return document;
}

TEST(Scalar, FollowsYaml11AndReadsExponentsWithoutADot) {
    EXPECT_EQ(scalar_value("1e-5"), json(1e-5));
    EXPECT_EQ(scalar_value("1_000"), json(1000));
    EXPECT_EQ(scalar_value("0x10"), json(16));
    EXPECT_EQ(scalar_value("-.5"), json(-0.5));
    EXPECT_EQ(scalar_value("no"), json(false));
    EXPECT_EQ(scalar_value("On"), json(true));
    EXPECT_EQ(scalar_value("~"), json());
    EXPECT_EQ(scalar_value("007"), json("007"));
    EXPECT_EQ(scalar_value("1.2.3"), json("1.2.3"));
    EXPECT_EQ(scalar_value("e5"), json("e5"));
    EXPECT_EQ(scalar_value("-"), json("-"));
    EXPECT_EQ(scalar_value("9223372036854775807"), json(std::numeric_limits<int64_t>::max()));
    EXPECT_TRUE(scalar_value("9223372036854775808").is_number_float());
    EXPECT_TRUE(std::isinf(scalar_value("1e400").get<double>()));
    EXPECT_EQ(scalar_value("1e-400"), json(0.0));
    EXPECT_TRUE(std::isnan(scalar_value(".nan").get<double>()));
}

TEST(Document, KnowsTheLineOfEachKeyAndItem) {
    const Document document = document_of("a: 1\n\nb:\n  - x: 2\n    y: 3\n  - 4\n");
    EXPECT_EQ(document.line("a"), 1);
    EXPECT_EQ(document.line("b"), 3);
    EXPECT_EQ(document.line("b.0.y"), 5);
    EXPECT_EQ(document.line("b.1"), 6);
    EXPECT_EQ(document.line("b.0.missing"), 4) << "the nearest parent";
    EXPECT_EQ(*document.find("b.0.y"), json(3));
    EXPECT_EQ(document.find("b.7"), nullptr);
}

TEST(Document, KeepsQuotedWordsAsText) {
    const Document document = document_of("a: 'no'\nb: \"1\"\nc: !!str 1\nd: |\n  no\n");
    EXPECT_EQ(*document.find("a"), json("no"));
    EXPECT_EQ(*document.find("b"), json("1"));
    EXPECT_EQ(*document.find("c"), json("1"));
    EXPECT_EQ(*document.find("d"), json("no\n"));
}

TEST(Document, MergesAnchorsWithOwnValuesFirst) {
    const Document document =
        document_of("defaults: &d {x: 1, y: 2}\nother: &o {y: 5, z: 6}\na:\n  <<: [*d, *o]\n  x: 9\n");
    EXPECT_EQ(*document.find("a"), (json{{"x", 9}, {"y", 2}, {"z", 6}}));
    EXPECT_EQ(document.line("a.z"), 2);
    EXPECT_TRUE(document.anchor_holders.contains("defaults"));
    EXPECT_FALSE(document.anchor_holders.contains("a"));
}

TEST(Document, SetPathReachesIntoListsAndAppendsTheNext) {
    Document document = document_of("datasets:\n  - path: a\n");
    Diagnostics diagnostics;
    set_path(document, "datasets.0.path", "b", diagnostics);
    set_path(document, "datasets.1.path", "c", diagnostics);
    set_path(document, "fsdp_config.reshard_after_forward", "yes", diagnostics);
    EXPECT_TRUE(diagnostics.empty());
    EXPECT_EQ(*document.find("datasets"), json::parse(R"([{"path": "b"}, {"path": "c"}])"));
    EXPECT_EQ(*document.find("fsdp_config.reshard_after_forward"), json(true));
    EXPECT_EQ(document.line("datasets.0.path"), 0);
    EXPECT_EQ(document.top_level_keys(), (std::vector<std::string>{"datasets", "fsdp_config"}));
}

TEST(Document, SetPathSaysWhatMakesNoSense) {
    Document document = document_of("datasets:\n  - path: a\nseed: 1\n");
    for (const auto& [path, value, part] :
         std::vector<std::array<std::string, 3>>{{"datasets.5.path", "b", "list of 1"},
                                                 {"seed.x", "1", "single value"},
                                                 {"a..b", "1", "empty part"},
                                                 {"", "1", "no key"},
                                                 {"datasets.x", "1", "no item"},
                                                 {"a", "[1,", "not YAML"},
                                                 {"\xff", "{", "?"}}) {
        Diagnostics diagnostics;
        set_path(document, path, value, diagnostics);
        ASSERT_EQ(diagnostics.size(), 1U) << path;
        EXPECT_EQ(diagnostics[0].code, "CFG-SET");
        EXPECT_EQ(diagnostics[0].line, 0);
        EXPECT_THAT(diagnostics[0].message, HasSubstr(part));
    }
}

struct Broken {
    const char* text;
    const char* code;
    int line;

    friend std::ostream& operator<<(std::ostream& to, const Broken& of) {
        return to << testing::PrintToString(std::string(of.text));
    }
};

class BrokenYaml : public testing::TestWithParam<Broken> {};

TEST_P(BrokenYaml, IsRefusedWithItsLine) {
    Document document;
    Diagnostics diagnostics;
    EXPECT_FALSE(read_document(GetParam().text, document, diagnostics));
    ASSERT_FALSE(diagnostics.empty());
    EXPECT_EQ(diagnostics.back().code, GetParam().code) << diagnostics.back().message;
    EXPECT_EQ(diagnostics.back().line, GetParam().line) << diagnostics.back().message;
    EXPECT_EQ(diagnostics.back().severity, Severity::Error);
}

INSTANTIATE_TEST_SUITE_P(
    , BrokenYaml,
    testing::Values(
        Broken{"", "YAML-EMPTY", 0}, Broken{"# only a comment\n", "YAML-EMPTY", 0},
        Broken{"- a\n- b\n", "YAML-NOT-A-MAPPING", 1}, Broken{"hello\n", "YAML-NOT-A-MAPPING", 1},
        Broken{"a: 1\nb: [1, 2\nc: 3\n", "YAML-SYNTAX", 3}, Broken{"a: 1\nb:\n\tc: 1\n", "YAML-SYNTAX", 3},
        Broken{"a: b: c\n", "YAML-SYNTAX", 1}, Broken{"a: 1\n---\nb: 2\n", "YAML-DOCUMENTS", 3},
        Broken{"a: 1\nb: \xff\xfe\n", "YAML-ENCODING", 2}, Broken{"a: 1\nb: \x04 2\n", "YAML-ENCODING", 2},
        Broken{"a: 1\nb: \"x\nc: 2\nd: 3\n", "YAML-SYNTAX", 2}, Broken{"a: 'it''s\nb: 1\n", "YAML-SYNTAX", 1},
        Broken{"a: \"x\\\"\nb: 1\n", "YAML-SYNTAX", 1},
        Broken{"{\"a\": 1}\n{\"b\": 2}\n", "YAML-DOCUMENTS", 2}, Broken{"a: *nothing\n", "YAML-SYNTAX", 1},
        Broken{"a: &a [*a]\n", "YAML-ALIAS", 1}, Broken{"? [1, 2]\n: 3\n", "YAML-KEY", 1},
        Broken{"a: !!python/object x\n", "YAML-TAG", 1}, Broken{"a: 1\nb:\n  <<: 3\n", "YAML-MERGE", 3}));

TEST(Document, TakesQuotesThatAreClosed) {
    Document document;
    Diagnostics diagnostics;
    EXPECT_TRUE(
        read_document("\xEF\xBB\xBF"
                      "a: \"x\\\"y\"\nb: 'it''s'\nc: &n \"over\n  two lines\"\nd: ''\n\"e\": [\"f\"]\n",
                      document, diagnostics));
    EXPECT_TRUE(diagnostics.empty());
    EXPECT_EQ(*document.find("a"), "x\"y");
    EXPECT_EQ(*document.find("b"), "it's");
    EXPECT_EQ(*document.find("c"), "over two lines");
}

TEST(Document, NamesATabInTheIndentation) {
    Document document;
    Diagnostics diagnostics;
    EXPECT_FALSE(read_document("a:\n\tb: 1\n", document, diagnostics));
    EXPECT_THAT(diagnostics.back().hint, HasSubstr("tab"));
}

TEST(Document, NamesBothLinesOfADuplicateKey) {
    Document document;
    Diagnostics diagnostics;
    EXPECT_TRUE(read_document("a: 1\nb:\n  c: 1\n  d: 2\n  c: 3\n", document, diagnostics));
    ASSERT_EQ(diagnostics.size(), 1U);
    EXPECT_EQ(diagnostics[0].code, "CFG-DUPLICATE-KEY");
    EXPECT_EQ(diagnostics[0].key, "b.c");
    EXPECT_EQ(diagnostics[0].line, 5);
    EXPECT_THAT(diagnostics[0].message, HasSubstr("line 3"));
    EXPECT_EQ(diagnostics[0].severity, Severity::Warning);
    EXPECT_EQ(document.find("b.c")->get<int>(), 3) << "the last one wins, as in axolotl";
}

TEST(Document, BoundsDepthValuesAndAliases) {
    std::string deep = "a: " + std::string(70, '[') + std::string(70, ']');
    std::string brackets = "a: ";
    for (int i = 0; i < 100'000; ++i) brackets += "[x,";
    std::string wide = "a: [";
    for (int i = 0; i < 200'000; ++i) wide += "1,";
    std::string aliases = "a: &a0 [x, x, x, x, x, x, x, x, x]\n";
    std::string merges = "k0: &k0 {x: 1}\n";
    for (int i = 1; i < 40; ++i) {
        const std::string before = std::to_string(i - 1), now = std::to_string(i);
        aliases += "a" + now + ": &a" + now + " [*a" + before + ", *a" + before + "]\n";
        merges += "k" + now + ": &k" + now + " {<<: [*k" + before + ", *k" + before + "]}\n";
    }
    for (const std::string& text : {deep, brackets, wide + "]", aliases, merges}) {
        Document document;
        Diagnostics diagnostics;
        EXPECT_FALSE(read_document(text, document, diagnostics)) << text.substr(0, 40);
        EXPECT_THAT(diagnostics.back().code, testing::AnyOf("YAML-DEPTH", "YAML-TOO-MANY"));
    }
    Document document;
    Diagnostics diagnostics;
    EXPECT_FALSE(read_document("a: " + std::string(kMaxConfigBytes, 'x'), document, diagnostics));
    EXPECT_EQ(diagnostics.back().code, "YAML-SIZE");
}

/// Returns lists of ten lists of ten, and so on, `levels` deep: `*v<levels-1>` stands for 10^levels values.
std::string aliased_lists(int levels) {
    std::string text = "v0: &v0 [1, 1, 1, 1, 1, 1, 1, 1, 1, 1]\n";
    for (int i = 1; i < levels; ++i) {
        const std::string before = "*v" + std::to_string(i - 1), now = std::to_string(i);
        text += "v" + now + ": &v" + now + " [";
        for (int copy = 0; copy < 10; ++copy) text += (copy > 0 ? ", " : "") + before;
        text += "]\n";
    }
    return text;
}

TEST(Document, BoundsTheBytesOfKeyPathsAndOfRepeatedText) {
    std::string paths = aliased_lists(4);
    for (int depth = 0; depth < 50; ++depth)
        paths += std::string(static_cast<size_t>(depth), ' ') + std::string(250, 'k') + ":\n";
    paths += std::string(50, ' ') + "[*v3, *v3, *v3, *v3, *v3, *v3, *v3]\n";
    EXPECT_LT(paths.size(), 20'000U);

    std::string text = "t: &t " + std::string(1'000'000, 'x') + "\ncopies: [";
    for (int copy = 0; copy < 100; ++copy) text += "*t,";

    for (const std::string& file : {paths, text + "]\n"}) {
        Document document;
        Diagnostics diagnostics;
        EXPECT_FALSE(read_document(file, document, diagnostics)) << file.substr(0, 40);
        ASSERT_FALSE(diagnostics.empty());
        EXPECT_EQ(diagnostics.back().code, "YAML-SIZE");
        EXPECT_THAT(diagnostics.back().message, HasSubstr("aliases"));
    }
}

}  // namespace
}  // namespace ringmaster
