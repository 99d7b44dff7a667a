/// Tests that a program accepts the arguments that its table of options allows, and reports what is wrong
/// with any others.
#include "engine/words/arguments.h"

#include <gmock/gmock.h>

#include "engine/error.h"

namespace ringmaster {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

const CommandSpec kCommand = {"plan",
                              "CONFIG",
                              false,
                              "Plans.",
                              {{"--ranks", "N", "ranks"},
                               {"--device", "cpu|cuda", "device"},
                               {"--set", "KEY=VALUE", "a setting", true},
                               {"--json", "", "print JSON"}},
                              ""};

Arguments given(std::vector<std::string> words) {
    std::vector<char*> pointers;
    for (std::string& word : words) pointers.push_back(word.data());
    return Arguments(kCommand, pointers);
}

/// Returns the text and the hint of the Error that the call throws, or an empty text if it throws none.
template <class Call>
std::string refusal(const Call& call) {
    try {
        call();
    } catch (const Error& error) {
        EXPECT_EQ(error.failure, Failure::Usage);
        return error.text() + " | " + error.hint;
    }
    return "";
}

TEST(Arguments, AreOptionsWithTheirValuesAndOneOperand) {
    const Arguments all = given({"--ranks", "4", "run.yml", "--set=a=1", "--set", "b=2", "--json"});
    EXPECT_EQ(all.operand(), "run.yml");
    EXPECT_EQ(all.whole("--ranks", 1), 4);
    EXPECT_THAT(all.all("--set"), ElementsAre("a=1", "b=2"));
    EXPECT_TRUE(all.has("--json"));
    EXPECT_FALSE(all.has("--device"));
    EXPECT_EQ(given({"--", "--ranks"}).operand(), "--ranks");
}

TEST(Arguments, ThatAreWrongAreSaidWithWhatIsRight) {
    EXPECT_THAT(refusal([] { given({"--rank", "4"}); }), HasSubstr("did you mean --ranks?"));
    EXPECT_THAT(refusal([] { given({"--frobnicate"}); }), HasSubstr("`ringmaster plan --help`"));
    EXPECT_THAT(refusal([] { given({"--ranks"}); }), HasSubstr("--ranks needs a value: N"));
    EXPECT_THAT(refusal([] { given({"--ranks", "--json"}); }), HasSubstr("--ranks needs a value: N"));
    EXPECT_THAT(refusal([] { given({"--json=yes"}); }), HasSubstr("--json takes no value"));
    EXPECT_THAT(refusal([] { given({"one.yml", "two.yml"}); }), HasSubstr("'two.yml'"));
}

TEST(Arguments, OfTheWrongKindAreRefused) {
    for (const char* wrong : {"two", "0", "-1", "1.5", "9", "99999999999", ""})
        EXPECT_THAT(refusal([&] {
                        given({"--ranks", wrong}).whole("--ranks", 1, 8);
                    }),
                    HasSubstr("'" + std::string(wrong) + "' is not a whole number from 1 to 8"));
    EXPECT_EQ(given({"--ranks", "8"}).whole("--ranks", 1, 8), 8);
    EXPECT_EQ(given({"--device", "cuda"}).either("--device", "cpu", "cuda"), "cuda");
    EXPECT_EQ(given({}).either("--device", "cpu", "cuda"), "");
    for (const char* wrong : {"gpu", ""})
        EXPECT_THAT(refusal([&] {
                        given({"--device", wrong}).either("--device", "cpu", "cuda");
                    }),
                    HasSubstr("is neither cpu nor cuda"));
}

TEST(Arguments, HaveAHelpWithAllForms) {
    EXPECT_THAT(help_of(kCommand), HasSubstr("usage: ringmaster plan [CONFIG] [options]\n\nPlans."));
    CommandSpec program = kCommand;
    program.name.clear();
    program.program = "ringmaster-agent";
    program.forms = {"--run DIR", "--help"};
    EXPECT_EQ(usage_of(program), "usage: ringmaster-agent --run DIR\n       ringmaster-agent --help\n");
}

}  // namespace
}  // namespace ringmaster
