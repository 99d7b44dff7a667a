#include "launcher/history/diagnostics_bundle.h"

#include <QProcess>
#include <QStringList>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/base/secrets.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {
namespace {

const std::set<std::string> kNone;

std::string masked(const std::string& text) {
    return without_secrets(text, kNone);
}

TEST(Secrets, AreKnownByTheirKeysName) {
    for (const char* key :
         {"HF_TOKEN", "hf_token", "hub-token", "token", "WANDB_API_KEY", "apiKey", "AWS_SECRET_ACCESS_KEY",
          "aws_access_key_id", "password", "db.password", "Authorization", "ssh_private_key"})
        EXPECT_TRUE(names_secret(key)) << key;
    for (const char* key :
         {"special_tokens", "eos_token", "pad_token", "tokens", "tokenizer_config", "tokens_per_s",
          "num_tokens", "key", "keys", "heads_k_stride", "valid_tokens", "author", "monkey"})
        EXPECT_FALSE(names_secret(key)) << key;
}

TEST(Secrets, AreTakenOutOfYamlAndJsonAndEnvironments) {
    for (const char* text :
         {"hf_token: abcdefgh", "hf_token: 'abc defgh'", "hf_token: \"abc\\\"defgh\"",
          "  - api_key: abcdefgh # mine", "{hf_token: abcdefgh, seed: 1}",
          R"({"hf_token": "abcdefgh", "seed": 1})", "HF_TOKEN=abcdefgh python x",
          "export HF_TOKEN='abcdefgh'", "--token abcdefgh", "--hub-token=abcdefgh",
          "password: two words defgh", "token: >-\n  abcd\n  defgh\nseed: 1",
          "credentials:\n  - abcd\n  - defgh\nseed: 1", "credentials:\n- abcdefgh\nseed: 1",
          "credentials:\n  user: me\n  pass: abcdefgh\nseed: 1",
          "password: \"first\n  second defgh\"\nseed: 1", "x-api-key: abcdefgh",
          "Authorization: Bearer abcdefgh"})
        EXPECT_EQ(masked(text).find("defgh"), std::string::npos) << text << "\n became\n" << masked(text);
}

TEST(Secrets, AreTakenOutOfAPlanThatKeepsItsPaths) {
    const std::string commit(40, 'a');
    nlohmann::json plan = {{"model_dir", "/models/opensesame"},
                           {"config", {{"base_model", "https://me:opensesame@host/x"}, {"revision", commit}}},
                           {"notes", {"opensesame", 3, nullptr}}};
    mask_secrets(plan, {"opensesame"}, {"model_dir"});
    EXPECT_EQ(plan.at("model_dir"), "/models/opensesame");
    EXPECT_EQ(plan.at("config").at("revision"), commit);
    plan.erase("model_dir");
    EXPECT_EQ(plan.dump().find("opensesame"), std::string::npos) << plan.dump();
    EXPECT_EQ(plan.at("notes").at(1), 3);
}

TEST(Secrets, AreKnownByTheirLook) {
    for (const std::string& text :
         {std::string("got hf_abcdefghijklmnopqrstuv from the hub"),
          std::string("sk-abcdefghijklmnopqrstuvwx"), std::string("ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
          std::string("AKIAABCDEFGHIJKLMNOP"), std::string("https://me:opensesame@host/x.git"),
          std::string("https://x/y?a=1&X-Amz-Signature=opensesame&b=2"),
          std::string("header Bearer opensesame1234"), "wandb: " + std::string(40, 'a'),
          std::string("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0In0.opensesame"),
          std::string("-----BEGIN OPENSSH PRIVATE KEY-----\nopensesame\n-----END OPENSSH PRIVATE KEY-----"),
          std::string("-----BEGIN RSA PRIVATE KEY-----\nopensesame and no end")}) {
        const std::string clean = masked(text);
        EXPECT_NE(clean.find(kMasked), std::string::npos) << text;
        EXPECT_EQ(clean.find("opensesame"), std::string::npos) << clean;
    }
}

TEST(Secrets, LeaveEverythingElseAsItIs) {
    const std::string text =
        "base_model: meta-llama/Llama-3.1-8B\nspecial_tokens:\n  pad_token: <|end_of_text|>\n  eos_token: "
        "</s>\n"
        "sequence_len: 131072 # tokens: many\nuse_auth_token: true\nhub_token: null\n"
        "{\"type\":\"step\",\"tokens\":8192,\"valid_tokens\":8001,\"tokens_per_s\":19883.5,\"t\":1763719445."
        "25}\n"
        "rank 3: the token expired; see https://huggingface.co/docs?x=1\n"
        "boot_id: 0b2c7e6e-7d5e-4d34-9f3e-000000000000\n";
    EXPECT_EQ(masked(text), text);
}

TEST(Secrets, ThatAreKnownGoWhereverTheyStand) {
    const std::set<std::string> known = secrets_of_document("wandb:\n  api_key: opensesame-1\nseed: 3\n");
    EXPECT_EQ(known, std::set<std::string>{"opensesame-1"});
    EXPECT_EQ(without_secrets("curl failed: opensesame-1 was refused", known),
              "curl failed: [removed] was refused");
}

class DiagnosticsBundle : public RunFixture {
  protected:
    DiagnosticsBundle() {
        places_ = find_places();
        places_.runs_dir = dir_ / "runs";
        places_.programs_dir = dir_ / "bin";
        run_ = make_run("llama");
        write(run_.config(), "hf_token: hf_secretsecretsecret\nhub_password: open sesame\nseed: 1\n");
        write(run_.plan(), R"({"ranks": 2, "config": {"hub_password": "open sesame"}})");
        write(run_.options(), R"({"set": [], "environment": {"WANDB_API_KEY": "wandb-sesame-9"}})");
        write(run_.agent_log(), "starting with WANDB_API_KEY=wandb-sesame-9\n");
        for (int rank = 0; rank < 2; ++rank) {
            EventWriter writer(run_.events(), rank);
            for (int step = 1; step <= 3000; ++step) writer.write(step_event(step, 2.5));
            writer.write(ErrorEvent{"open sesame was refused by https://me:pass1234@hub/x", "hub"});
            write(run_.logs() / log_file_name(rank), "rank says wandb-sesame-9 and HOME_TOKEN_123456\n");
        }
    }
    std::map<std::string, std::string> files() {
        std::map<std::string, std::string> all;
        for (const BundledFile& file : diagnostics_of(run_, machine_facts(Machine{}, places_), places_))
            all[file.name] = file.text;
        return all;
    }
    Places places_;
    RunDirectory run_;
};

TEST_F(DiagnosticsBundle, HoldWhatIsNeededAndNoSecret) {
    ::setenv("RINGMASTER_TEST_TOKEN", "HOME_TOKEN_123456", 1);
    const auto all = files();
    for (const char* name :
         {"README.txt", "versions.txt", "machine.json", "plan.json", "config.yaml", "run.json",
          "options.json", "agent.log", "events/rank-00000.jsonl", "logs/rank-00001.log"})
        EXPECT_TRUE(all.contains(name)) << name;
    for (const auto& [name, text] : all) {
        for (const char* secret : {"sesame", "hf_secret", "pass1234", "HOME_TOKEN_123456"})
            EXPECT_EQ(text.find(secret), std::string::npos) << name << " tells " << secret;
    }
    EXPECT_NE(all.at("config.yaml").find("seed: 1"), std::string::npos);
    EXPECT_NE(all.at("events/rank-00000.jsonl").find("\"step\":3000"), std::string::npos);
    EXPECT_LT(all.at("events/rank-00000.jsonl").size(), 300u << 10);
    ::unsetenv("RINGMASTER_TEST_TOKEN");
}

TEST_F(DiagnosticsBundle, AreWrittenAsOneArchive) {
    const auto file = save_diagnostics(run_, dir_ / "with a space: and colon", Machine{}, places_);
    EXPECT_EQ(file, dir_ / "with a space: and colon.tar.gz");
    QProcess tar;
    tar.start(QStringLiteral("tar"), {QStringLiteral("--force-local"), QStringLiteral("-tzf"),
                                      QString::fromStdString(file.string())});
    ASSERT_TRUE(tar.waitForFinished());
    const QString names = QString::fromUtf8(tar.readAllStandardOutput());
    EXPECT_TRUE(names.contains(QStringLiteral("diagnostics-llama/events/rank-00001.jsonl\n")))
        << names.toStdString();
    EXPECT_TRUE(names.contains(QStringLiteral("diagnostics-llama/machine.json\n")));
    for (const auto& entry : std::filesystem::directory_iterator(dir_))
        EXPECT_NE(entry.path().extension(), ".part") << entry.path();
}

TEST_F(DiagnosticsBundle, AreMadeOfDamagedRunsToo) {
    const RunDirectory torn{dir_ / "runs" / "torn"};
    write(torn.plan(), "{\"hf_token\": \"open sesame\", ");
    write(torn.config(), "a: [\npassword: open sesame\n");
    run_ = torn;
    const auto all = files();
    EXPECT_EQ(all.at("plan.json").find("sesame"), std::string::npos);
    EXPECT_EQ(all.at("config.yaml").find("sesame"), std::string::npos);
    EXPECT_NE(all.at("README.txt").find("run.json: is missing"), std::string::npos);
}

TEST_F(DiagnosticsBundle, SayWhereTheyCannotBeWritten) {
    EXPECT_THROW(save_diagnostics(run_, "/proc/nowhere/x.tar.gz", Machine{}, places_), Error);
}

}  // namespace
}  // namespace ringmaster
