#include "launcher/nodes/from_node.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <iterator>

#include "engine/error.h"
#include "launcher/nodes/facts.h"
#include "launcher/nodes/record_file.h"
#include "launcher/nodes/remote_run.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kEvents = "events/rank-00000.jsonl";

std::string refusal(const std::string& text, std::map<std::string, int64_t> record = {{kEvents, 0}}) {
    FollowFrames frames(std::move(record));
    frames.take(text);
    try {
        while (frames.next()) {
        }
    } catch (const Error& problem) {
        return problem.what();
    }
    return "";
}

TEST(FollowFrames, AreCutWhereverTheyArrive) {
    const std::string text = "state 2\n{}file events/rank-00000.jsonl 3 4\nabc\nbeat\nover\n";
    for (size_t piece = 1; piece <= text.size(); ++piece) {
        FollowFrames frames({{kEvents, 3}});
        std::vector<FollowFrame> found;
        for (size_t at = 0; at < text.size(); at += piece) {
            frames.take(std::string_view(text).substr(at, piece));
            while (auto frame = frames.next()) found.push_back(std::move(*frame));
        }
        ASSERT_EQ(found.size(), 4U);
        EXPECT_EQ(found[0].bytes, "{}");
        EXPECT_EQ(found[1].file, kEvents);
        EXPECT_EQ(found[1].offset, 3);
        EXPECT_EQ(found[1].bytes, "abc\n");
        EXPECT_EQ(found[3].kind, FollowFrame::Kind::Over);
    }
}

TEST(FollowFrames, AreOfTheNodesOwnFilesAlone) {
    for (const char* name : {"plan.json", "config.yaml", "remote.json", "run.json", "../.bashrc",
                             "/etc/passwd", "", "events/../plan.json", "events/./rank-00000.jsonl",
                             "events/rank-00001.jsonl", "events/rank-00000.jsonl ", "node-1/agent.log"}) {
        EXPECT_THAT(refusal("file " + std::string(name) + " 0 1\nx"), HasSubstr("sends what it may not"))
            << name;
    }
}

TEST(FollowFrames, GoOnWhereTheFileEndsHere) {
    const std::string head = "file events/rank-00000.jsonl ";
    for (const char* offset : {"1", "-1", "1099511627776", "99999999999999999999", "x", "0x0", " 0"})
        EXPECT_NE(refusal(head + offset + " 1\nx"), "") << offset;
    EXPECT_EQ(refusal(head + "0 2\nab" + head + "2 1\nc"), "");
    EXPECT_NE(refusal(head + "0 2\nab" + head + "0 1\nc"), "");
}

TEST(FollowFrames, HaveHeadsAndSizesWithALimit) {
    for (const char* text : {"state -1\n", "state 4194305\n", "state 9223372036854775807\n", "state\n",
                             "state x\n", "\n", "overt\n", "file\n", "file 0 0\n", "beat 3\n"}) {
        EXPECT_NE(refusal(text), "") << text;
    }
    EXPECT_NE(refusal(std::string(257, 'x')), "");
    EXPECT_EQ(refusal("state 4194304\n"), "");  // the rest has not arrived yet
}

TEST(Manifest, TakesPlainNamesAndLeavesOutTheOthers) {
    const std::string hash(64, 'a');
    std::string hashes, sizes;
    for (const std::string name :
         {"model-00001-of-00002.safetensors", "config.json", "complete", "../evil.json", "/etc/evil.json",
          "a/b.json", ".bashrc", "-rf.json", "evil.py", "a b.json", "ringmaster-run.json"}) {
        hashes += hash + "  ./" + name + "\n";
        sizes += "    7 ./" + name + "\n";
    }
    const Manifest manifest = parse_manifest(hashes + "sizes\n" + sizes + "   77 total\n");
    EXPECT_EQ(manifest.files.size(), 3U);
    EXPECT_EQ(manifest.bytes, 21);
    EXPECT_EQ(manifest.files.at("complete").hash, hash);
    EXPECT_EQ(manifest.left_out.size(), 7U);
}

TEST(Manifest, RefusesSizesThatCannotBe) {
    const std::string file = std::string(64, 'a') + "  ./model.safetensors\nsizes\n";
    for (const char* size : {"-1", "4611686018427387904", "99999999999999999999", "1e3", ""})
        EXPECT_THROW(parse_manifest(file + " " + size + " ./model.safetensors\n"), Error) << size;
    EXPECT_THROW(parse_manifest(file), Error);
}

TEST(Manifest, HasALimitOfFiles) {
    const auto of = [](int count) {
        std::string hashes, sizes;
        for (int i = 0; i < count; ++i) {
            hashes += std::string(64, 'a') + "  ./" + std::to_string(i) + ".json\n";
            sizes += " 1 ./" + std::to_string(i) + ".json\n";
        }
        return hashes + "sizes\n" + sizes;
    };
    EXPECT_EQ(parse_manifest(of(4096)).bytes, 4096);
    EXPECT_THROW(parse_manifest(of(4097)), Error);
}

TEST(Checkpoints, AreThoseOfTheirExactName) {
    EXPECT_THAT(parse_checkpoints("step-00000100\nstep-00000002\nstep-2\n../step-00000003\nstep-00000004/..\n"
                                  "step-9223372036854775807\nstep--9223372036854775808\n"),
                ElementsAre(2, 100));
}

TEST(Meeting, IsOneWord) {
    EXPECT_EQ(parse_meeting("motd\nmeet 10.0.0.1:29500:29501\n"), "10.0.0.1:29500:29501");
    EXPECT_EQ(parse_meeting("meet a b\n"), "");
    EXPECT_EQ(parse_meeting("meet a\x1b[2J\n"), "");
    EXPECT_EQ(parse_meeting("meet " + std::string(300, 'x')), "");
}

TEST(NodeFacts, KeepNumbersInTheirRanges) {
    std::string gpus;
    for (int i = 0; i < 5000; ++i) gpus += "gpu 0, 81559, 12, GPU-1, H100\n";
    const NodeFacts facts = parse_facts(
        "cores 9223372036854775807\nmemory_kb 9223372036854775807\navailable_kb -5\ndisk_kb "
        "99999999999999999999\n"
        "clock -9223372036854775807\ndata_dir ../x\nwritable yes\nlibtorch relative\naddress $(touch x)\n"
        "interface a;b\ndriver " +
        std::string(9000, 'x') + "\nhost_name a\x1b[2J\n" + gpus);
    EXPECT_EQ(facts.cores, 0);
    EXPECT_EQ(facts.memory_bytes, 0);
    EXPECT_EQ(facts.available_bytes, 0);
    EXPECT_EQ(facts.disk_free_bytes, 0);
    EXPECT_EQ(facts.data_dir, "");
    EXPECT_FALSE(facts.is_writable);
    EXPECT_EQ(facts.libtorch, "");
    EXPECT_EQ(facts.address, "");
    EXPECT_EQ(facts.interface, "");
    EXPECT_EQ(facts.driver.size(), 1024U);
    EXPECT_EQ(facts.host_name, "a [2J");
    EXPECT_EQ(facts.gpus.size(), 1024U);
}

std::string remote_json(const std::string& ranks, const std::string& nodes) {
    return R"({"ranks":)" + ranks + R"(,"adopted":false,"nodes":[)" + nodes + "]}";
}

std::string node_json(const std::string& first_rank, const std::string& ranks,
                      const std::string& target = "gpu1") {
    return R"({"target":")" + target + R"(","run_dir":"/r","agent":"/a","address":"1.2.3.4","first_rank":)" +
           first_rank + R"(,"ranks":)" + ranks + "}";
}

TEST(RemoteRunFile, SharesItsRanksAmongItsNodes) {
    EXPECT_EQ(
        parse_remote_run(remote_json("4", node_json("0", "2") + "," + node_json("2", "2")), "x").nodes.size(),
        2U);
    for (const std::string& text :
         {remote_json("4", node_json("0", "2")),
          remote_json("4", node_json("0", "4") + "," + node_json("2", "2")),
          remote_json("2147483647", node_json("0", "2147483647")), remote_json("-1", node_json("0", "-1")),
          remote_json("9223372036854775808", node_json("0", "1")), remote_json("1.5", node_json("0", "1")),
          remote_json("1", ""), remote_json("1", node_json("0", "1", "-oProxyCommand=x")),
          remote_json("1", node_json("0", "1", "")), remote_json("1", node_json("0", "1", "a\\u001b")),
          std::string(50000, '['), std::string("null"), std::string("[]")}) {
        EXPECT_THAT([&] { parse_remote_run(text, "x"); },
                    testing::ThrowsMessage<Error>(testing::Not(testing::HasSubstr("exception"))))
            << text.substr(0, 200);
    }
}

class RecordFile : public testing::Test {
  protected:
    RecordFile() {
        std::string pattern = (fs::temp_directory_path() / "record-XXXXXX").string();
        dir_ = ::mkdtemp(pattern.data());
        fs::create_directories(dir_ / "run");
        std::ofstream(dir_ / "mine") << "mine";
    }
    ~RecordFile() override { fs::remove_all(dir_); }

    std::string text(const fs::path& file) const {
        std::ifstream in(dir_ / file);
        return {std::istreambuf_iterator<char>(in), {}};
    }
    fs::path run() const { return dir_ / "run"; }

    fs::path dir_;
};

TEST_F(RecordFile, GrowsAtItsEndAlone) {
    EXPECT_EQ(record_bytes(run(), kEvents), 0);
    append_record(run(), kEvents, 0, "abc");
    append_record(run(), kEvents, 3, "def");
    EXPECT_EQ(record_bytes(run(), kEvents), 6);
    for (const int64_t offset : {0, 5, 7}) EXPECT_THROW(append_record(run(), kEvents, offset, "x"), Error);
    EXPECT_EQ(text(fs::path("run") / kEvents), "abcdef");
}

TEST_F(RecordFile, FollowsNoLink) {
    fs::create_directories(run() / "events");
    fs::create_symlink(dir_ / "mine", run() / kEvents);
    fs::create_symlink(dir_ / "nothing", run() / "agent.log");
    fs::create_directory_symlink(dir_, run() / "logs");
    ASSERT_EQ(::mkfifo((run() / "pipe").c_str(), 0600), 0);
    for (const char* name : {kEvents, "agent.log", "logs/mine", "logs/new", "pipe"}) {
        EXPECT_THROW(append_record(run(), name, 0, "evil"), Error) << name;
        EXPECT_THROW(append_record(run(), name, 4, "evil"), Error) << name;
    }
    EXPECT_THROW(record_bytes(run(), kEvents), Error);
    EXPECT_EQ(text("mine"), "mine");
    EXPECT_FALSE(fs::exists(dir_ / "nothing") || fs::exists(dir_ / "new"));
}

}  // namespace
}  // namespace ringmaster
