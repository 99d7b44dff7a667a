#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <set>
#include <thread>
#include <vector>

#include "engine/auth/run_secret.h"
#include "engine/auth/sealed.h"
#include "engine/auth/sha256.h"
#include "engine/error.h"

namespace ringmaster {
namespace {

std::string hash(const std::string& text) {
    return to_hex(bytes_of(sha256(text)));
}

TEST(Sha256, HashesTheExamplesOfItsStandard) {  // NIST, FIPS 180-4 examples
    EXPECT_EQ(hash("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
    EXPECT_EQ(hash(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    EXPECT_EQ(hash("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
              "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
    EXPECT_EQ(hash(std::string(1000000, 'a')),
              "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Sha256, HashesPiecesAsTheWhole) {
    const std::string text(200, 'x');
    for (size_t cut = 0; cut <= text.size(); ++cut) {
        Sha256 pieces;
        pieces.add(text.substr(0, cut)).add(text.substr(cut));
        EXPECT_EQ(pieces.digest(), sha256(text)) << cut;
    }
}

TEST(Hmac, AuthenticatesTheExamplesOfItsStandard) {  // RFC 4231, cases 1, 2, 6 and 7
    const auto hmac = [](const std::string& key, const std::string& text) {
        return to_hex(bytes_of(hmac_sha256(key, text)));
    };
    EXPECT_EQ(hmac(std::string(20, '\x0b'), "Hi There"),
              "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    EXPECT_EQ(hmac("Jefe", "what do ya want for nothing?"),
              "5bdcc146bf60754e6a042426089575c75a003f089d2739839dec58b964ec3843");
    EXPECT_EQ(hmac(std::string(131, '\xaa'), "Test Using Larger Than Block-Size Key - Hash Key First"),
              "60e431591ee0b67f0d8a26aacbf5b77f8e0bc6213728c5140546040f0ee37f54");
    EXPECT_EQ(
        hmac(std::string(131, '\xaa'),
             "This is a test using a larger than block-size key and a larger than block-size data. The key "
             "needs to be hashed before being used by the HMAC algorithm."),
        "9b09ffa71b942fcb27635fbcd5b0e944bfdc63644f0713938a7f51535c3a35e2");
}

TEST(Hmac, TellsPartsApart) {
    EXPECT_NE(mac("key", {"ab", "c"}), mac("key", {"a", "bc"}));
    EXPECT_NE(mac("key", {"ab", ""}), mac("key", {"ab"}));
}

TEST(Sealed, OpensWithItsKeyUnderItsNameAlone) {
    const std::string text = "10.0.0.7:4242 " + std::string(100, 'x');
    const std::string value = sealed("key", "rank 1", text);
    EXPECT_EQ(opened("key", "rank 1", value), text);
    EXPECT_EQ(opened("another", "rank 1", value), std::nullopt);
    EXPECT_EQ(opened("key", "rank 2", value), std::nullopt);
    EXPECT_EQ(value.find("10.0.0.7"), std::string::npos);
    EXPECT_NE(sealed("key", "rank 1", text), value);
    for (size_t i = 0; i < value.size(); ++i) {
        std::string changed = value;
        changed[i] = static_cast<char>(changed[i] ^ 1);
        EXPECT_EQ(opened("key", "rank 1", changed), std::nullopt) << i;
        EXPECT_EQ(opened("key", "rank 1", value.substr(0, i)), std::nullopt) << i;
    }
    EXPECT_EQ(opened("key", "n", sealed("key", "n", "")), "");
}

class RunSecret : public testing::Test {
  protected:
    RunSecret() {
        std::string pattern = (std::filesystem::temp_directory_path() / "secret-XXXXXX").string();
        dir_ = ::mkdtemp(pattern.data());
    }
    ~RunSecret() override { std::filesystem::remove_all(dir_); }
    std::filesystem::path dir_;
};

TEST_F(RunSecret, IsMadeOnceAndForTheUserAlone) {
    std::vector<std::string> seen(8);
    std::vector<std::thread> threads;
    for (std::string& one : seen) threads.emplace_back([&] { one = run_secret(dir_); });
    for (std::thread& thread : threads) thread.join();
    EXPECT_EQ(std::set<std::string>(seen.begin(), seen.end()).size(), 1U);
    EXPECT_EQ(seen[0].size(), 32U);
    EXPECT_EQ(read_run_secret(dir_), seen[0]);
    struct stat about {};
    ASSERT_EQ(::stat((dir_ / "token").c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 0777, 0600U);
    EXPECT_EQ(std::distance(std::filesystem::directory_iterator(dir_), {}), 1);
}

TEST_F(RunSecret, IsRefusedWhereItIsNoSecret) {
    EXPECT_THROW(read_run_secret(dir_), Error);
    std::ofstream(dir_ / "token") << "short\n";
    try {
        run_secret(dir_);
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.failure, Failure::Refused);
        EXPECT_THAT(error.text(), testing::HasSubstr("token"));
    }
}

}  // namespace
}  // namespace ringmaster
