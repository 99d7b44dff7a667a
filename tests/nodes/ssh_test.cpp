#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "engine/error.h"
#include "launcher/nodes/deep.h"
#include "launcher/nodes/facts.h"
#include "launcher/run/local_node.h"
#include "launcher/ssh/finding.h"
#include "launcher/ssh/host_key_files.h"
#include "launcher/ssh/key_agent.h"
#include "launcher/ssh/login_refusals.h"
#include "launcher/ssh/settings.h"
#include "launcher/ssh/target.h"

namespace ringmaster {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

TEST(SshTarget, ReadsUserHostAndPort) {
    const SshTarget plain = parse_target("gpu1");
    EXPECT_EQ(plain.host, "gpu1");
    EXPECT_EQ(plain.user, "");
    EXPECT_FALSE(plain.port);
    const SshTarget whole = parse_target("ann@10.0.0.7:2222");
    EXPECT_EQ(whole.host, "10.0.0.7");
    EXPECT_EQ(whole.user, "ann");
    EXPECT_EQ(whole.port, 2222);
    EXPECT_EQ(parse_target("ann@site.org@gate").user, "ann@site.org");
}

TEST(SshTarget, ReadsAddressesOfIpv6) {
    EXPECT_EQ(parse_target("fe80::1%eth0").host, "fe80::1%eth0");
    const SshTarget bracketed = parse_target("[::1]:22");
    EXPECT_EQ(bracketed.host, "::1");
    EXPECT_EQ(bracketed.port, 22);
    EXPECT_EQ(bracketed.text(), "[::1]:22");
}

TEST(SshTarget, RefusesWhatIsMoreThanAName) {
    for (const char* text : {"",        "-v",      "-oProxyCommand=x",
                             "a b",     "a;b",     "$(x)",
                             "`x`",     "a'b",     "a\"b",
                             "a|b",     "a&b",     "a>b",
                             "a\nb",    "a/b",     "a*",
                             "-l@a",    "a;b@c",   "a\\@c",
                             "@a",      "a@",      "a:0",
                             "a:65536", "a:22x",   "[::1",
                             "[::1]x",  "a\x1b[2J"}) {
        EXPECT_THROW(parse_target(text), Error) << text;
    }
}

TEST(SshSettings, TakesWhatSshSaysIsEffective) {
    const std::string defaults =
        "hostname x\nuser me\nport 22\nforwardagent no\nciphers a,b\nidentityfile ~/.ssh/id_rsa\n";
    const std::string effective =
        "hostname 10.1.2.3\nuser ann\nport 2222\nforwardagent yes\nciphers a,b\nidentityfile "
        "/keys/one\nidentityfile /keys/two\n"
        "identitiesonly yes\nuserknownhostsfile /k/one /k/two\nproxyjump gate,bob@inner:23\nconnecttimeout "
        "7\npasswordauthentication no\n";
    const SshSettings settings = parse_ssh_g(parse_target("gpu1"), effective, defaults);
    EXPECT_EQ(settings.host_name, "10.1.2.3");
    EXPECT_EQ(settings.user, "ann");
    EXPECT_EQ(settings.port, 2222);
    EXPECT_EQ(settings.connect_timeout_s, 7);
    EXPECT_THAT(settings.identity_files, ElementsAre("/keys/one", "/keys/two"));
    EXPECT_TRUE(settings.identities_only);
    EXPECT_THAT(settings.host_keys.user_files, ElementsAre("/k/one", "/k/two"));
    ASSERT_EQ(settings.jumps.size(), 2U);
    EXPECT_EQ(settings.jumps[1].text(), "bob@inner:23");
    EXPECT_FALSE(settings.uses_password);
    EXPECT_TRUE(settings.uses_keyboard);
    EXPECT_EQ(settings.ciphers, "");  // because nobody chose the default
    EXPECT_THAT(settings.ignored, ElementsAre("forwardagent yes"));
}

TEST(SshSettings, RefusesAHostNameThatIsNone) {
    EXPECT_THROW(parse_ssh_g(parse_target("a"), "hostname $(x)\nuser me\nport 22\n", ""), Error);
    EXPECT_THROW(parse_ssh_g(parse_target("a"), "hostname a\nuser -x\nport 22\n", ""), Error);
}

TEST(SshSettings, CannotTellTheOrderOfAlgorithmsIfTheFilesHaveSeveralForms) {
    const std::string named = "hostname x\nuser me\nport 22\nhostkeyalgorithms ssh-ed25519,rsa-sha2-512\n";
    const std::string standard = "hostkeyalgorithms rsa-sha2-512\n";
    const auto order = [&](const std::string& defaults, const std::vector<std::string>& written) {
        return parse_ssh_g(parse_target("x"), named, defaults, written).host_keys.order;
    };
    EXPECT_EQ(order(named, {}), AlgorithmOrder::KnownFirst);
    EXPECT_EQ(order(standard, {"+ssh-ed25519"}), AlgorithmOrder::KnownFirst);
    EXPECT_EQ(order(standard, {"ssh-ed25519,rsa-sha2-512"}), AlgorithmOrder::AsListed);
    EXPECT_EQ(order(standard, {"ssh-ed25519,rsa-sha2-512", "+ssh-ed25519"}), AlgorithmOrder::Unclear);
    EXPECT_EQ(order(named, {"ssh-ed25519,rsa-sha2-512"}), AlgorithmOrder::Unclear);
}

TEST(PublicKey, ReadsStrictBase64Alone) {
    EXPECT_EQ(decode_base64("aGk="), "hi");
    EXPECT_EQ(decode_base64("aGk=\r"), "hi");
    for (const char* text : {"aGk", "aGk==", "aGl=", "aG=k", "a", "=", "aGk=a", "aG!="})
        EXPECT_FALSE(decode_base64(text)) << text;
    for (const std::string bytes : {"", "a", "ab", "abc", "abcd"})
        EXPECT_EQ(decode_base64(encode_base64(bytes)), bytes);
}

TEST(KnownHosts, MatchesNamesAsOpenSshDoes) {
    for (const char* names :
         {"gpu1", "GPU1", "a,gpu1", "g*1", "gpu?", "*", "**", "!x,gpu1", "*,!gpu", "gpu1,"})
        EXPECT_TRUE(names_host(names, "gpu1")) << names;
    for (const char* names :
         {"gpu", "gpu11", "!gpu1", "*,!gpu1", "!gpu1,*", "gpu1 ", "g?1", "", ",", "|1|gpu1", "[gpu1]:22"})
        EXPECT_FALSE(names_host(names, "gpu1")) << names;
    EXPECT_FALSE(names_host(std::string(1023, 'a') + ",*", "gpu1"));  // OpenSSH does not match such a list
    EXPECT_EQ(known_hosts_name("Gpu1", 2222), "[gpu1]:2222");
    const std::string hash = hashed_host_name("[gpu1]:2222");
    EXPECT_THAT(hash, testing::StartsWith("|1|"));
    EXPECT_NE(hash, hashed_host_name("[gpu1]:2222"));
    EXPECT_TRUE(names_host(hash, "[gpu1]:2222"));
    EXPECT_FALSE(names_host(hash, "gpu1"));
    EXPECT_FALSE(names_host(hash + ",gpu1", "gpu1"));
}

TEST(KnownHosts, TakesTimeInProportionToAPattern) {
    std::string stars;
    for (int i = 0; i < 300; ++i) stars += "a*";
    EXPECT_FALSE(names_host(stars + "b", std::string(200, 'a')));
}

class KnownHostsFile : public testing::Test {
  protected:
    KnownHostsFile() {
        std::string name = std::filesystem::temp_directory_path() / "known-hosts-XXXXXX";
        folder_ = ::mkdtemp(name.data());
    }
    ~KnownHostsFile() override { std::filesystem::remove_all(folder_); }

    std::string write(const std::string& text) {
        std::ofstream(file_path()) << text;
        return file_path();
    }
    std::string file_path() const { return folder_ / "known_hosts"; }
    static std::string read(const std::string& path) {
        std::ifstream in(path);
        return {std::istreambuf_iterator<char>(in), {}};
    }

    std::filesystem::path folder_;
};

TEST_F(KnownHostsFile, KeepsALastLineWithoutItsNewline) {
    const std::string path = write("gpu1 ssh-ed25519 AAAA");
    append_known_host(path, "gpu2 ssh-ed25519 BBBB");
    append_known_host(path, "gpu3 ssh-ed25519 CCCC");
    EXPECT_EQ(read(path), "gpu1 ssh-ed25519 AAAA\ngpu2 ssh-ed25519 BBBB\ngpu3 ssh-ed25519 CCCC\n");
}

TEST_F(KnownHostsFile, KeepsModeAndLinkAndIsPrivateIfNew) {
    const std::string path = write("");
    std::filesystem::permissions(path, std::filesystem::perms(0640));
    const std::string link = folder_ / "link";
    std::filesystem::create_symlink(path, link);
    append_known_host(link, "gpu1 ssh-ed25519 AAAA");
    EXPECT_TRUE(std::filesystem::is_symlink(link));
    EXPECT_EQ(read(path), "gpu1 ssh-ed25519 AAAA\n");
    EXPECT_EQ(std::filesystem::status(path).permissions(), std::filesystem::perms(0640));
    const std::string fresh = folder_ / "ssh" / "known_hosts";
    append_known_host(fresh, "gpu1 ssh-ed25519 AAAA");
    EXPECT_EQ(std::filesystem::status(fresh).permissions(), std::filesystem::perms(0600));
    EXPECT_EQ(std::filesystem::status(folder_ / "ssh").permissions(), std::filesystem::perms(0700));
}

TEST_F(KnownHostsFile, IsAsItWasAfterAnError) {
    EXPECT_THROW(append_known_host("/dev/full", "gpu1 ssh-ed25519 AAAA"), std::system_error);
    EXPECT_THROW(append_known_host(folder_, "gpu1 ssh-ed25519 AAAA"), std::system_error);
    EXPECT_NO_THROW(append_known_host("/dev/null", "gpu1 ssh-ed25519 AAAA"));
}

TEST_F(KnownHostsFile, IsRefusedByItsSettingUnlessItIsAFile) {
    const std::string pipe = folder_ / "pipe";
    ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
    for (const std::string& path : {folder_.string(), pipe, std::string("/dev/zero")}) {
        HostKeySettings settings;
        settings.global_files = {path};
        try {
            read_host_key_files(settings, "gpu1");
            ADD_FAILURE() << path;
        } catch (const NodeError& error) {
            EXPECT_THAT(error.what(), HasSubstr("GlobalKnownHostsFile " + path));
        }
    }
    HostKeySettings settings;
    settings.user_files = {folder_ / "missing", "/dev/null"};
    EXPECT_EQ(read_host_key_files(settings, "gpu1").known.size(), 1U);
    settings.revoked_file = folder_ / "missing";
    EXPECT_THROW(read_host_key_files(settings, "gpu1"), NodeError);
}

TEST(KeyAgent, PutsTheNamedKeysFirst) {
    const std::vector<AgentKey> all = {{"a", "1"}, {"b", "2"}, {"c", "3"}};
    const auto blobs = [](const std::vector<AgentKey>& keys) {
        std::string text;
        for (const AgentKey& key : keys) text += key.blob;
        return text;
    };
    EXPECT_EQ(blobs(choose_keys(all, {"c", "x"}, false)), "cab");
    EXPECT_EQ(blobs(choose_keys(all, {"c", "x"}, true)), "c");
    EXPECT_EQ(blobs(choose_keys(all, {}, false)), "abc");
}

TEST(KeyAgent, ReadsItsOwnMessageAndNoDamagedOne) {
    const std::vector<AgentKey> keys = {{std::string("\0\1\2", 3), "one"}, {"two", ""}};
    const std::string message = identities_message(keys);
    const std::vector<AgentKey> back = parse_identities(message);
    ASSERT_EQ(back.size(), 2U);
    EXPECT_EQ(back[0].blob, keys[0].blob);
    for (size_t size = 0; size < message.size(); ++size)
        EXPECT_TRUE(parse_identities(message.substr(0, size)).empty()) << size;
}

TEST(ShellQuoted, GivesEveryTextBackToTheShellAsOneWord) {
    for (const std::string text : {"",
                                   " ",
                                   "a b",
                                   "'",
                                   "\"",
                                   "\\",
                                   "$(touch canary)",
                                   "`touch canary`",
                                   "a;b",
                                   "a&b",
                                   "*",
                                   "~",
                                   "-n",
                                   "!x",
                                   "a\nb",
                                   "a\tb",
                                   "é漢",
                                   "''''",
                                   "\\'",
                                   "%s",
                                   "a=b",
                                   "#x",
                                   "{a,b}",
                                   "|",
                                   ">f",
                                   "\x7f"}) {
        const std::string command = "printf '%s' " + shell_quoted(text) + "; printf .";
        FILE* pipe = ::popen(command.c_str(), "r");
        std::array<char, 256> buffer{};
        const size_t got = std::fread(buffer.data(), 1, buffer.size(), pipe);
        ::pclose(pipe);
        EXPECT_EQ(std::string(buffer.data(), got), text + ".");
    }
    EXPECT_FALSE(std::filesystem::exists("canary"));
}

TEST(NodeFacts, ComparesVersionsAsNumbers) {
    EXPECT_TRUE(is_older("2.4", "2.36"));
    EXPECT_FALSE(is_older("2.36", "2.4"));
    EXPECT_FALSE(is_older("2.36", "2.36"));
    EXPECT_TRUE(is_older("2.36", "2.36.1"));
}

TEST(NodeFacts, KnowsGpusAndWhoUsesThem) {
    const NodeFacts facts = parse_facts(
        "system Linux\narchitecture x86_64\nglibc glibc 2.36\ncores 8\nmemory_kb 1024\ndriver 580.1\ngpu 0, "
        "81559, 40000, GPU-a, NVIDIA H100 80GB\n"
        "gpu 1, 81559, 0, GPU-b, NVIDIA H100 80GB\ngpu_process GPU-a ann\ngpu_process GPU-a ann\ngpu_process "
        "GPU-x bob\nwritable yes\nexecutable yes\n"
        "sha256sum yes\ndisk_kb 99999999\nlibtorch /t\ninterface eth1\ninfiniband mlx5_0 mlx5_1\n");
    EXPECT_EQ(facts.interface, "eth1");
    EXPECT_THAT(facts.infiniband, ElementsAre("mlx5_0", "mlx5_1"));
    ASSERT_EQ(facts.gpus.size(), 2U);
    EXPECT_EQ(facts.gpus[0].name, "NVIDIA H100 80GB");
    EXPECT_THAT(facts.gpus[0].users, ElementsAre("ann"));
    EXPECT_TRUE(facts.gpus[1].users.empty());
    ProgramNeeds needs{"x86_64", "2.34", "2.11.0", ""};
    const NodeReport report = judge_node("a", facts, needs);
    EXPECT_EQ(report.state, NodeVerdict::Warning);
    EXPECT_THAT(report.message, HasSubstr("GPU 0 is in use by ann"));
    needs.architecture = "aarch64";
    EXPECT_EQ(judge_node("a", facts, needs).state, NodeVerdict::Unusable);
}

TEST(NodeFacts, KnowADriverTooOldForLibTorchsCuda) {
    const auto lacks = [](const std::string& answers) {
        return what_driver_lacks(parse_facts(answers)).code;
    };
    EXPECT_EQ(lacks("driver 535.183.01\n"), "old-driver");
    EXPECT_EQ(lacks("driver 570.86\ndriver_cuda 12.8\n"), "old-driver");
    EXPECT_EQ(lacks("driver 535.183.01\ndriver_cuda 13.0\n"), "") << "forward compatibility";
    EXPECT_EQ(lacks("driver 580.65.06\n"), "");
    EXPECT_EQ(lacks("driver 1000.1\n"), "");
    EXPECT_EQ(lacks("driver \n"), "") << "none is loaded";
}

TEST(NodeFacts, KnowGpusTooOldForTheKernels) {
    const auto lacks = [](const std::string& lines, size_t count) {
        return what_gpus_lack(parse_facts(lines), count);
    };
    const std::string t4 =
        "gpu 0, 81559, 0, GPU-a, NVIDIA A100, 8.0\ngpu 1, 15360, 0, GPU-b, Tesla T4, 7.5\n";
    EXPECT_EQ(lacks(t4, 1).code, "");
    EXPECT_EQ(lacks(t4, 2).code, "old-gpu");
    EXPECT_EQ(lacks(t4, 2).message(),
              "its GPU 1, Tesla T4, has compute capability 7.5, and the engine's kernels need 8.0 or newer");
    EXPECT_EQ(lacks("gpu 0, 81559, 0, GPU-a, NVIDIA H100\n", 1).code, "") << "an old driver does not say it";
}

TEST(NodeFindings, SayEachPlaceOnceAndNothingOfWhatStandsInThem) {
    const NodeFinding finding{"no-answer", {"%3", "22", "3"}};
    EXPECT_EQ(finding.message(), "no answer from %3 port 22 in 3 s");
    EXPECT_THAT(finding.next(), HasSubstr("port 22"));
    EXPECT_EQ(NodeFinding{"of a newer version"}.message(), "");
    const NodeFinding refused{
        "login-refused", {"ann", "publickey", "gpu1"}, {{"tried-agent-keys", {"8"}}, {"tried-key", {"/k"}}}};
    EXPECT_EQ(refused.message(),
              "the login as ann was not accepted. It takes publickey; tried: 8 keys of the ssh-agent (not "
              "accepted), /k (not accepted)");
}

TEST(NodeFindings, HaveEachACodeOfItsOwn) {
    std::set<std::string_view> codes;
    for (const FindingText& text : finding_texts()) {
        EXPECT_TRUE(codes.insert(text.code).second) << text.code;
        EXPECT_STRNE(text.message, "") << text.code;
    }
}

TEST(NodeFindings, KnowRefusedLoginsByTheirCodes) {
    const std::set<std::string_view> refusals = {"login-refused", "login-without-key", "wrong-password",
                                                 "wrong-answer",  "nobody-answers",    "too-many-keys",
                                                 "too-many-tries"};
    size_t refused = 0;
    for (const FindingText& text : finding_texts()) {
        const bool refuses = refuses_login({std::string(text.code)});
        EXPECT_EQ(refuses, refusals.contains(text.code)) << text.code;
        refused += refuses ? 1 : 0;
    }
    EXPECT_EQ(refused, refusals.size());
    const NodeFinding hanging{"shell-hangs"}, cut{"login-ended", {"Socket error"}};  // both mention a login
    EXPECT_THAT(hanging.message() + cut.message(), HasSubstr("login"));
    EXPECT_FALSE(refuses_login(hanging) || refuses_login(cut));
}

TEST(NodeReport, ComesBackFromJsonWithFindingAndTrial) {
    NodeReport report;
    report.host = "inner";
    report.found(NodeVerdict::Unreachable,
                 {"login-refused", {"ann", "publickey", "gate"}, {{"tried-key", {"/k"}}}});
    report.through = "gate";
    report.facts.emplace();
    report.deep = DeepReport{"2.11.0", {"attention"}, 1.5,        7,
                             "a",      "eth0",        "10.0.0.7", {{"b", 1e9, 1e-5}, {"c", 0, 0, "why"}}};
    const NodeReport back = report_from_json(report_to_json(report));
    EXPECT_EQ(back.finding, report.finding);
    EXPECT_EQ(back.through, "gate");
    EXPECT_EQ(back.message, report.message);
    EXPECT_EQ(back.deep, report.deep);
}

TEST(RoundsOfPairs, HaveEveryPairOnceAndNobodyTwiceInARound) {
    for (size_t count = 0; count <= 9; ++count) {
        std::set<std::pair<size_t, size_t>> pairs;
        for (const auto& round : rounds_of_pairs(count)) {
            std::set<size_t> busy;
            for (const auto& [a, b] : round) {
                EXPECT_LT(a, b);
                EXPECT_LT(b, count);
                EXPECT_TRUE(pairs.insert({a, b}).second);
                EXPECT_TRUE(busy.insert(a).second && busy.insert(b).second);
            }
        }
        EXPECT_EQ(pairs.size(), count * (count - (count > 0)) / 2) << count;
    }
}

TEST(NodeFacts, SurvivesAnyText) {
    for (const std::string text :
         {"", "\n\n", "gpu", "gpu ", "gpu ,,,,", "cores x\nclock y\ngpu_process a b\n",
          "memory_kb 99999999999999999999\n"}) {
        EXPECT_NO_THROW(parse_facts(text)) << text;
    }
}

}  // namespace
}  // namespace ringmaster
