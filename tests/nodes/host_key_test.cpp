// Tests that revoked and changed host keys are refused, whichever file says so. test_host_keys.py compares
// with OpenSSH.
#include <gtest/gtest.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>

#include "launcher/ssh/host_key_files.h"

namespace ringmaster {
namespace {

using enum HostKeyStanding;

/// Returns the text of an Ed25519 key (RFC 8709: the type and 32 bytes, each after its length).
std::string key_of(char letter) {
    const std::string type = "ssh-ed25519";
    const auto with_length = [](const std::string& bytes) {
        return std::string(3, '\0') + static_cast<char>(bytes.size()) + bytes;
    };
    return type + " " + encode_base64(with_length(type) + with_length(std::string(32, letter)));
}

class HostKeys : public testing::Test {
  protected:
    HostKeys() {
        std::string name = std::filesystem::temp_directory_path() / "host-keys-XXXXXX";
        folder_ = ::mkdtemp(name.data());
    }
    ~HostKeys() override { std::filesystem::remove_all(folder_); }

    std::string file(const std::string& name, const std::string& text) const {
        std::ofstream(folder_ / name) << text;
        return folder_ / name;
    }

    /// Returns the verdict on gpu1's key `a` if these are the texts of the two user files, the global file
    /// and the file of revoked keys.
    HostKeyStanding standing(const std::string& first, const std::string& second = "",
                             const std::string& global = "", const std::string& revoked = "") const {
        HostKeySettings settings;
        settings.algorithms = {"ssh-ed25519"};
        settings.user_files = {file("first", first), file("second", second)};
        settings.global_files = {file("global", global)};
        if (!revoked.empty()) settings.revoked_file = file("revoked", revoked);
        return judge_host_key(settings, read_host_key_files(settings, "gpu1"), {"gpu1", 22, {}},
                              {*parse_key_text(key_of('a')), {"ssh-ed25519"}})
            .standing;
    }

    std::filesystem::path folder_;
};

TEST_F(HostKeys, AreRefusedIfALineRevokesThem) {
    const std::string known = "gpu1 " + key_of('a') + "\n", revokes = "@revoked * " + key_of('a') + "\n";
    EXPECT_EQ(standing(known), Known);
    EXPECT_EQ(standing(known + revokes), Revoked);
    EXPECT_EQ(standing(revokes + known), Revoked);
    EXPECT_EQ(standing(known, revokes), Revoked);
    EXPECT_EQ(standing(known, "", revokes), Revoked);
    EXPECT_EQ(standing("", revokes), Revoked);
    EXPECT_EQ(standing(known, "@revoked gpu1 ssh-ed25519 AAAA\n"), RevokedUnreadable);
    EXPECT_EQ(standing(known, "@revoked * " + key_of('b') + "\n@revoked gpu2 " + key_of('a') + "\n"), Known);
}

TEST_F(HostKeys, AreRefusedIfTheFileOfRevokedKeysListsThem) {
    const std::string known = "gpu1 " + key_of('a') + "\n";
    EXPECT_EQ(standing(known, "", "", key_of('b') + "\n"), Known);
    EXPECT_EQ(standing(known, "", "", key_of('b') + "\n" + key_of('a') + " a comment\n"), Revoked);
    EXPECT_EQ(standing(known, "", "", "no key\n"), RevokedUnreadable);
}

TEST_F(HostKeys, AreLookedUpInEveryFile) {
    const std::string known = "gpu1 " + key_of('a') + "\n", changed = "gpu1 " + key_of('b') + "\n";
    EXPECT_EQ(standing("gpu2 " + key_of('a')), Unknown);
    EXPECT_EQ(standing("", known), Known);
    EXPECT_EQ(standing("", "", known), Known);
    EXPECT_EQ(standing("", changed), Changed);
    EXPECT_EQ(standing("", "", changed), Changed);
}

}  // namespace
}  // namespace ringmaster
