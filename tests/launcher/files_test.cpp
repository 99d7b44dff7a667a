#include "launcher/base/files.h"

#include "tests/files/folder_fixture.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;

class LauncherFiles : public FolderFixture {
  protected:
    fs::path file(const char* name, mode_t mode) const {
        put(dir_ / name, name);
        ::chmod((dir_ / name).c_str(), mode);
        return dir_ / name;
    }
};

TEST_F(LauncherFiles, ACopyIsAsPrivateAsItsOriginal) {
    const fs::path secret = file("secret", 0600), open = file("open", 0644);
    const mode_t former = ::umask(0);
    copy_text_file(secret, dir_ / "new");
    copy_text_file(open, dir_ / "readable");
    ::umask(former);
    EXPECT_EQ(content(dir_ / "new"), "secret");
    EXPECT_EQ(mode(dir_ / "new"), 0600U);
    EXPECT_EQ(mode(dir_ / "readable"), 0644U);
    copy_text_file(secret, file("there_before", 0664));
    EXPECT_EQ(content(dir_ / "there_before"), "secret");
    EXPECT_EQ(mode(dir_ / "there_before"), 0600U);
    copy_text_file(open, file("private_before", 0600));
    EXPECT_EQ(mode(dir_ / "private_before"), 0600U);
}

TEST_F(LauncherFiles, AFolderIsEnteredOnlyByWhoMayReadTheFile) {
    const fs::path secret = file("secret", 0600), of_a_group = file("of_a_group", 0640),
                   open = file("open", 0644);
    for (const auto& [from, expected] :
         {std::pair(secret, 0700U), std::pair(of_a_group, 0750U), std::pair(open, 0755U)}) {
        const fs::path run = folder("run");
        ::chmod(run.c_str(), 0755);
        restrict_folder(run, from);
        EXPECT_EQ(mode(run), expected) << from;
    }
}

}  // namespace
}  // namespace ringmaster
