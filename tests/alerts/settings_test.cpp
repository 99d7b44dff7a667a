#include "launcher/alerts/settings.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>

#include "engine/error.h"

namespace ringmaster {

namespace {

namespace fs = std::filesystem;

class AlertSettingsFile : public testing::Test {
  protected:
    AlertSettingsFile() {
        std::string name = (fs::temp_directory_path() / "ringmaster-XXXXXX").string();
        dir_ = mkdtemp(name.data());
    }
    ~AlertSettingsFile() override {
        std::error_code problem;
        fs::remove_all(dir_, problem);
    }

    fs::path dir_;
};

TEST_F(AlertSettingsFile, ReadsWhatItWrote) {
    AlertSettings settings;
    settings.kinds = {AlertKind::Stall, AlertKind::SlowRank};
    settings.desktop = false;
    settings.webhook = "https://example.org/hook?key=1";
    settings.command = {"/bin/mail", "-s", "two words \"quoted\" \xc3\xa4"};
    write_alert_settings(dir_ / "deep/alerts.json", settings);
    EXPECT_EQ(read_alert_settings(dir_ / "deep/alerts.json"), settings);
    EXPECT_EQ(read_alert_settings(dir_ / "none.json"), AlertSettings());
}

TEST_F(AlertSettingsFile, OnlyThisUserReadsIt) {
    std::ofstream(dir_ / "alerts.json") << "{}";
    fs::permissions(dir_ / "alerts.json", fs::perms(0644));
    write_alert_settings(dir_ / "alerts.json", {});
    EXPECT_EQ(fs::status(dir_ / "alerts.json").permissions(), fs::perms(0600));
}

TEST(AlertSettings, RefusesWhatCannotBeUsed) {
    for (const char* text : {"", "[]", "{\"kinds\": [\"loud\"]}", "{\"kinds\": \"nan\"}", "{\"desktop\": 1}",
                             "{\"webhook\": \"ftp://example.org\"}", "{\"webhook\": \"https://\"}",
                             "{\"webhook\": \"https:///x\"}", "{\"webhook\": \"https://a b\"}",
                             "{\"webhook\": \"https://a\\nHost: b\"}",
                             "{\"webhook\": \"file:///etc/passwd\"}", "{\"command\": [\"\"]}",
                             "{\"command\": \"rm\"}", "{\"command\": [1]}", "{\"command\": [\"a\\u0000b\"]}"})
        EXPECT_THROW(parse_alert_settings(text, "alerts.json"), Error) << text;
    const std::string many(100'000, ' ');
    EXPECT_THROW(parse_alert_settings("{}" + many, "alerts.json"), Error);
}

TEST(AlertSettings, SplitsACommandIntoWords) {
    using testing::ElementsAre;
    EXPECT_THAT(split_command(""), testing::IsEmpty());
    EXPECT_THAT(split_command("  mail  -s 'two words' \"a \\\"b\\\"\" c\\ d '' "),
                ElementsAre("mail", "-s", "two words", "a \"b\"", "c d", ""));
    EXPECT_THAT(split_command("a; rm -rf $HOME `x` | y > z"),
                ElementsAre("a;", "rm", "-rf", "$HOME", "`x`", "|", "y", ">", "z"));
    EXPECT_THROW(split_command("mail 'open"), Error);
    const std::vector<std::string> words = {"a b", "", "c\\d", "e'f", "g\"h", "plain"};
    EXPECT_EQ(split_command(joined_command(words)), words);
}

}  // namespace

}  // namespace ringmaster
