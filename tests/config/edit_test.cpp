#include "engine/config/edit.h"

#include <gmock/gmock.h>

#include "engine/config/document.h"
#include "engine/config/read_config.h"
#include "engine/error.h"
#include "tests/config/reading.h"

namespace ringmaster {
namespace {

TEST(Edit, ChangesOnlyTheValueAndKeepsTheComment) {
    EXPECT_EQ(set_key("# top\na: 1\nsequence_len: 512   # long\nzz: [1, 2]\n", "sequence_len", "1024"),
              "# top\na: 1\nsequence_len: 1024   # long\nzz: [1, 2]\n");
}

TEST(Edit, KeepsLineEndsAndAMissingLastOne) {
    EXPECT_EQ(set_key("a: 1\r\nb: 2\r\nc: 3", "b", "4"), "a: 1\r\nb: 4\r\nc: 3");
    EXPECT_EQ(set_key("a: 1\r\nb: 2\r\nc: 3", "d", "4"), "a: 1\r\nb: 2\r\nc: 3\r\nd: 4");
    EXPECT_EQ(set_key("a: 1\r\nb: 2\r\n", "d", "4"), "a: 1\r\nb: 2\r\nd: 4\r\n");
}

TEST(Edit, InsertsANewKeyBesideItsRelatives) {
    EXPECT_EQ(set_key("sequence_len: 512\nseed: 1\n", "context_parallel_size", "4"),
              "sequence_len: 512\ncontext_parallel_size: 4\nseed: 1\n");
    EXPECT_EQ(set_key("micro_batch_size: 1 # m\nseed: 1\n", "gradient_accumulation_steps", "4"),
              "micro_batch_size: 1 # m\ngradient_accumulation_steps: 4\nseed: 1\n");
}

TEST(Edit, AnOlderNameGivesItsLineToTheNewOne) {
    EXPECT_EQ(set_key("a: 1\nsequence_parallel_degree: 2  # ring\n", "context_parallel_size", "4"),
              "a: 1\ncontext_parallel_size: 4  # ring\n");
    EXPECT_EQ(
        set_key("sequence_parallel_degree: 2\ncontext_parallel_size: 3\n", "context_parallel_size", "4"),
        "context_parallel_size: 4\n");
    EXPECT_EQ(set_key("flash_attention: true\nsdp_attention: false\n", "attn_implementation", "sdpa"),
              "attn_implementation: sdpa\n");
}

TEST(Edit, ReadsQuotesMarksAndOddSpaces) {
    EXPECT_EQ(set_key("\xEF\xBB\xBFseed : 3 \n", "seed", "4"), "\xEF\xBB\xBFseed : 4 \n");
    EXPECT_EQ(set_key("\"seed\": '3' # it's\n", "seed", "4"), "\"seed\": 4 # it's\n");
    EXPECT_EQ(set_key("seed:\nb: 1\n", "seed", "4"), "seed: 4\nb: 1\n");
    EXPECT_EQ(set_key("seed:  # none\nb: 1\n", "seed", "4"), "seed: 4  # none\nb: 1\n");
    EXPECT_EQ(set_key("---\nname: \"a # b\"\n...\n", "name", "c"), "---\nname: c\n...\n");
}

TEST(Edit, ReachesIntoListsAndMappings) {
    EXPECT_EQ(set_key("datasets:\n  - path: a\n    type: b\n", "datasets.0.type", "c"),
              "datasets:\n  - path: a\n    type: c\n");
    EXPECT_EQ(set_key("datasets:\n  - path: a\n", "datasets.0.path", "c"), "datasets:\n  - path: c\n");
    EXPECT_EQ(set_key("f:\n  a: 1\n", "f.b", "2"), "f:\n  b: 2\n  a: 1\n");
}

TEST(Edit, ReachesBetweenBracketsOfOneLine) {
    EXPECT_EQ(set_key("f: {a: 1} # c\n", "f.b", "2"), "f: {a: 1, b: 2} # c\n");
    EXPECT_EQ(set_key("d: {z: {s: 2, t: x}}\n", "d.z.s", "3"), "d: {z: {s: 3, t: x}}\n");
    EXPECT_EQ(set_key("d: [{path: a, type: b}]\n", "d.0.type", "c"), "d: [{path: a, type: c}]\n");
    EXPECT_EQ(remove_key("d: {z: {s: 2, t: x}}\n", "d.z.t"), "d: {z: {s: 2}}\n");
}

TEST(Edit, ReplacesAListOrAMappingOnTheLinesBelow) {
    EXPECT_EQ(set_key("a: 1\nm:  # which\n  - x\n  # and\n  - y\n# next\nb: 2\n", "m", "[z]"),
              "a: 1\nm: [z]  # which\n# next\nb: 2\n");
    EXPECT_EQ(set_key("m:\n- x\n- y\nb: 2\n", "m", "[z]"), "m: [z]\nb: 2\n");
    EXPECT_EQ(set_key("m:\r\n  k:\r\n    - x\r\n  l: 1", "m.k", "3"), "m:\r\n  k: 3\r\n  l: 1");
    EXPECT_EQ(set_key("b: 2\nm:\n  k: 1", "m", "off"), "b: 2\nm: off\n");
}

TEST(Edit, RefusesWhatItCannotDoWhole) {
    const std::string hostile[] = {
        "{seed: 1, a: 2}\n",
        "seed: >\n  3\n  4\n",
        "seed: 3\n  4\n",
        "seed: [1,\n  2]\n",
        "seed: &anchor 3\nb: *anchor\n",
        "? seed\n: 3\n",
        "seed: \"3\n  4\"\n",
        "not: [valid\n",
        "",
        "- 1\n- 2\n",
        std::string("seed: 1\n\0x", 10),
        "\xff\xfe",
    };
    for (const std::string& text : hostile) EXPECT_THROW(set_key(text, "seed", "4"), Error) << text;
    EXPECT_THROW(set_key("a: 1\n", "a", "1\nb: 2"), Error);
    EXPECT_THROW(set_key("a: 1\n", "a", "[1"), Error);
    EXPECT_THROW(set_key("a: 1\n", "a.b", "1"), Error);
    EXPECT_THROW(set_key("a: 1\n", "", "1"), Error);
}

TEST(Edit, RandomTextsGiveTheWantedValueOrARefusal) {
    std::mt19937 random(7);
    const std::string letters = "ab:-# \n\r\t'\"[]{}|>&*!?,%@0.";
    int edited = 0;
    for (int round = 0; round < 20'000; ++round) {
        std::string text = round % 2 ? "seed: 1\n" : "";
        for (int i = 0, n = int(random() % 24); i < n; ++i) text += letters[random() % letters.size()];
        try {
            const std::string result = set_key(text, "seed", "42");
            Document document;
            Diagnostics problems;
            ASSERT_TRUE(read_document(result, document, problems)) << text;
            ASSERT_EQ(document.values["seed"], 42) << text;
            ++edited;
        } catch (const Error&) {
        }
    }
    EXPECT_GT(edited, 1000);
}

TEST(Edit, RemovesAndRenamesAWholeLine) {
    EXPECT_EQ(remove_key("a: 1\nb: 2 # x\nc: 3\n", "b"), "a: 1\nc: 3\n");
    EXPECT_EQ(rename_key("sequnce_len: 8 # x\n", "sequnce_len", "sequence_len"), "sequence_len: 8 # x\n");
    EXPECT_THROW(rename_key("a: 1\nb: 2\n", "a", "b"), Error);
    EXPECT_THROW(remove_key("b:\n  c: 1\n", "b"), Error);
}

TEST(Edit, RemovesAKeyWithTheLinesOfItsValue) {
    EXPECT_EQ(remove_key("a: 1\nb:\n- x\n# y\n- z\n# of c\nc: 3\n", "b"), "a: 1\n# of c\nc: 3\n");
    EXPECT_EQ(remove_key("a: 1\nb: # x\n  d:\n\n    - 1\n\nc: 3", "b"), "a: 1\n\nc: 3");
    EXPECT_EQ(remove_key("a: 1\nb: [1,\n  2]\n", "b"), "a: 1\n");
    EXPECT_EQ(remove_key("a:\r\n  b: |\r\n    x\r\n  c: 1\r\n", "a.b"), "a:\r\n  c: 1\r\n");
    EXPECT_THROW(remove_key("a: &x\n  c: 1\nb: *x\n", "a"), Error);
    EXPECT_THROW(remove_key("a: 1\nb: [1,\n2]\n", "b"), Error) << "a value that is indented no deeper";
}

TEST(Fixes, OfARealReadingMendIt) {
    const std::string text = kBase + "sequnce_len: 512\nsequence_parallel_degree: 2\n";
    const ConfigReading reading = read(text);
    std::string fixed = text;
    for (const Diagnostic& said : reading.diagnostics) {
        for (const Fix& fix : said.fixes) {
            fixed = apply_fix(fixed, fix);
            break;
        }
    }
    EXPECT_THAT(fixed, testing::HasSubstr("\nsequence_len: 512\ncontext_parallel_size: 2\n"));
}

}  // namespace
}  // namespace ringmaster
