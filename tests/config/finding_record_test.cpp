#include "engine/config/finding_record.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

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
        {{{{"a", "full"}, {"b", "", true}}, "ringmaster calibrate", "effect"}, {{{"c", "\"1\""}}}}};
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

}  // namespace
}  // namespace ringmaster
