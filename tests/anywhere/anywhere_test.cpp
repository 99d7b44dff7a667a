// Tests remembered targets, what a destination requires of a plan, and what Slurm and ~/.ssh/config
// report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "launcher/anywhere/restart.h"
#include "launcher/anywhere/saved_targets.h"
#include "launcher/ssh/aliases.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class Folder : public testing::Test {
  protected:
    Folder() {
        std::string name = testing::TempDir() + "anywhere-XXXXXX";
        dir_ = ::mkdtemp(name.data());
    }
    ~Folder() override { fs::remove_all(dir_); }
    fs::path file(const std::string& name, const std::string& text) const {
        std::ofstream(dir_ / name) << text;
        return dir_ / name;
    }
    fs::path dir_;
};

TargetReport report_of_two_gpus() {
    TargetReport report;
    report.checked = 1763740800;
    report.node = {"gpu1",      NodeVerdict::Warning,  "GPU 1 is in use by ann (12 GiB)", "agree with them",
                   NodeFacts(), {"controlmaster auto"}};
    NodeFacts& facts = *report.node.facts;
    facts.host_name = "gpu1.lab";
    facts.architecture = "x86_64";
    facts.glibc = "2.36";
    facts.cores = 64;
    facts.memory_bytes = int64_t{512} << 30;
    facts.gpus = {{0, "NVIDIA H100", int64_t{80} << 30, 0, {}},
                  {1, "NVIDIA H100", int64_t{80} << 30, int64_t{12} << 30, {"ann"}}};
    return report;
}

using Roster = Folder;

TEST_F(Roster, StartsWithThisMachineAlone) {
    const auto entries = read_saved_targets(dir_ / "nodes.json");
    ASSERT_EQ(entries.size(), 1U);
    EXPECT_EQ(entries[0].target, (Target{TargetKind::Here, ""}));
    EXPECT_FALSE(entries[0].last);
}

TEST_F(Roster, GivesBackWhatWasWritten) {
    TargetReport cluster;
    cluster.checked = 1;
    cluster.partitions = {{"gpu", true, true, "2-00:00:00", 12, 4, "gpu:h100:4", 96, int64_t{1} << 40}};
    std::vector<SavedTarget> written(4);
    written[1].target = make_target(TargetKind::Ssh, "ann@gpu1:2222");
    written[1].last = report_of_two_gpus();
    written[2].target = make_target(TargetKind::Slurm, "login1");
    written[2].last = cluster;
    written[3].target.kind = TargetKind::Slurm;
    write_saved_targets(dir_ / "data/nodes.json", written);
    const auto read = read_saved_targets(dir_ / "data/nodes.json");
    ASSERT_EQ(read.size(), written.size());
    for (size_t i = 0; i < read.size(); ++i) {
        EXPECT_EQ(read[i].target, written[i].target);
        ASSERT_EQ(read[i].last.has_value(), written[i].last.has_value());
        if (!read[i].last) continue;
        EXPECT_EQ(read[i].last->checked, written[i].last->checked);
        EXPECT_EQ(report_to_json(read[i].last->node), report_to_json(written[i].last->node));
    }
    ASSERT_EQ(read[2].last->partitions.size(), 1U);
    EXPECT_EQ(read[2].last->partitions[0].gres, "gpu:h100:4");
    EXPECT_EQ(read[2].last->partitions[0].memory_bytes, int64_t{1} << 40);
}

TEST_F(Roster, LeavesOutWhatIsDamagedAndKeepsTheRest) {
    const auto entries = read_saved_targets(
        file("nodes.json", R"([{"kind": "ssh", "host": "gpu1"}, {"kind": "ssh", "host": "-oProxyCommand=x"},
                               {"kind": "ssh"}, 7, {"kind": "ssh", "host": "gpu2", "checked": 1, "report": {}}])"));
    ASSERT_EQ(entries.size(), 2U);
    EXPECT_EQ(entries[1].target.host, "gpu1");
    EXPECT_EQ(read_saved_targets(file("none.json", "no JSON")).size(), 1U);
}

TEST(Targets, AreNamesOfMachinesAndNothingElse) {
    EXPECT_EQ(make_target(TargetKind::Ssh, "ann@gpu2:2222").host, "ann@gpu2:2222");
    EXPECT_EQ(make_target(TargetKind::Slurm, "").host, "");
    for (const char* name : {"", "a b", "a;b", "$(touch x)", "-oProxyCommand=x", "a\nb", "a@b@c:0"})
        EXPECT_THROW(make_target(TargetKind::Ssh, name), Error) << name;
}

TEST(Targets, ThisMachineAnswersTheSameQuestions) {
    const NodeReport report = check_this_machine({"x86_64", "2.17", "2.11.0", ""});
    ASSERT_TRUE(report.facts);
    EXPECT_EQ(report.host, report.facts->host_name);
    EXPECT_GT(report.facts->cores, 0);
    EXPECT_GT(report.facts->memory_bytes, 0);
    EXPECT_FALSE(report.message.empty());
}

Plan plan_of(int ranks, int context_parallel, int64_t micro, int64_t accumulation) {
    Plan plan;
    plan.ranks = ranks;
    plan.context_parallel.size = plan.mesh.ring = context_parallel;
    plan.mesh.dp_shard = ranks / context_parallel;
    plan.batch.micro = micro;
    plan.batch.accumulation = accumulation;
    plan.batch.global = micro * accumulation * plan.mesh.dp_shard;
    return plan;
}

using Settings = std::vector<std::pair<std::string, std::string>>;

TEST(Shrinking, KeepsTheRowsOfAStepByAccumulatingMore) {
    const auto settings = shrink_settings(plan_of(8, 2, 2, 1), 4);
    EXPECT_EQ(settings.front(), (Settings{{"gradient_accumulation_steps", "2"}}));
}

TEST(Shrinking, TakesFewerRanksForASequenceWhereTheOldNumberDoesNotFit) {
    EXPECT_EQ(shrink_settings(plan_of(4, 4, 2, 1), 2).front(), (Settings{{"context_parallel_size", "2"}}));
    const auto settings = shrink_settings(plan_of(4, 4, 1, 3), 3);
    EXPECT_EQ(settings.front(), (Settings{{"context_parallel_size", "3"}}));
    EXPECT_EQ(settings.back(),
              (Settings{{"context_parallel_size", "1"}, {"gradient_accumulation_steps", "1"}}));
}

TEST(Shrinking, ChangesTheBatchOnlyWhereNothingElseIsLeft) {
    const auto settings = shrink_settings(plan_of(3, 1, 2, 1), 2);  // 6 rows per step cannot be 2 × 2 × n
    ASSERT_EQ(settings.size(), 1U);
    EXPECT_TRUE(settings.front().empty());
}

TEST(Shrinking, SizesThatTheFileNamesFollow) {
    Plan plan = plan_of(8, 2, 1, 1);
    plan.config.ulysses_size = 2;
    plan.config.dp_shard_size = 4;
    plan.config.dp_replicate_size = 1;
    EXPECT_EQ(shrink_settings(plan, 6).front(), (Settings{{"dp_shard_size", "3"}})) << "4 rows are not 3 × n";
    EXPECT_THAT(shrink_settings(plan, 4),
                testing::Contains(Settings{{"dp_shard_size", "2"}, {"gradient_accumulation_steps", "2"}}));
    EXPECT_THAT(shrink_settings(plan, 1), ElementsAre(Settings{{"context_parallel_size", "1"},
                                                               {"ulysses_size", "1"},
                                                               {"dp_shard_size", "1"},
                                                               {"gradient_accumulation_steps", "4"}}));
}

TEST(Restarting, IsTheAgentsOnOneMachineAndTheFollowersOnSeveral) {
    EXPECT_EQ(backend_for({})->restarter(), Restarter::Agent);
    EXPECT_EQ(backend_for({{"a"}, std::nullopt})->restarter(), Restarter::Agent);
    EXPECT_EQ(backend_for({{"a", "b"}, std::nullopt})->restarter(), Restarter::Follower);
    EXPECT_EQ(backend_for({{"login"}, SlurmOptions()})->restarter(), Restarter::Slurm);
}

TEST(Restarting, IsKeptWithTheRunAsItWasAskedFor) {
    Request asked;
    asked.restarts = 3;
    asked.shrink = true;
    const Request kept = request_from_json(request_to_json(asked), "options.json");
    EXPECT_EQ(kept.restarts, 3);
    EXPECT_TRUE(kept.shrink);
    auto older = request_to_json(asked);
    older.erase("shrink");
    EXPECT_FALSE(request_from_json(older, "options.json").shrink);
}

using Aliases = Folder;

TEST_F(Aliases, AreTheHostsOfTheConfigurationWithoutPatterns) {
    file("more", "Host c\n  HostName 10.0.0.3\n");
    const fs::path config = file(
        "config", "# Host x\nHost a b *.lab !d\n  User ann\nhost=e\nHOST \"f\"\nInclude " +
                      (dir_ / "mor*").string() + "\nHost a\nHost *\n  Port 22\nHost -evil $(touch x) g;h\n");
    EXPECT_THAT(ssh_aliases(config), ElementsAre("a", "b", "e", "f", "c"));
}

TEST_F(Aliases, OfAFileThatIncludesItselfAreFound) {
    const fs::path config = dir_ / "config";
    file("config", "Host a\nInclude " + config.string() + "\nHost b\n");
    EXPECT_THAT(ssh_aliases(config), ElementsAre("a", "b"));
    EXPECT_THAT(ssh_aliases(dir_ / "none"), ElementsAre());
}

TEST(Partitions, AreThoseOfSinfoEachOnce) {
    const auto partitions = parse_sinfo(
        "gpu*|up|2-00:00:00|12|8/4/0/12|gpu:h100:4|96|1031000\n"
        "gpu*|up|2-00:00:00|2|2/0/0/2|gpu:a100:8|64+|515000\n"
        "cpu|up|infinite|40|0/40/0/40|(null)|32|190000\nold|down|1:00:00|1|0/0/1/1|(null)|8|1\nnonsense\n");
    ASSERT_EQ(partitions.size(), 3U);
    EXPECT_EQ(partitions[0].name, "gpu");
    EXPECT_TRUE(partitions[0].is_default);
    EXPECT_EQ(partitions[0].nodes, 14);
    EXPECT_EQ(partitions[0].idle, 4);
    EXPECT_EQ(partitions[0].gres, "gpu:h100:4 or gpu:a100:8");
    EXPECT_EQ(partitions[0].cpus, 64);
    EXPECT_EQ(partitions[1].gres, "");
    EXPECT_EQ(partitions[1].time_limit, "infinite");
    EXPECT_FALSE(partitions[2].is_up);
}

Machine machine_without_gpus() {
    Machine machine;
    machine.cores = 8;
    return machine;
}

TEST(Destinations, SayHowManyNodesAndRanks) {
    const Machine machine = machine_without_gpus();
    EXPECT_FALSE(backend_for({})->complete({}, machine).nodes);
    const Request three = backend_for({{"a", "b", "c"}, std::nullopt})->complete({}, machine);
    EXPECT_EQ(three.nodes, 3);
    EXPECT_EQ(three.ranks, 3);
    const auto cluster = backend_for(slurm_destination({"nodes=2", "gres=gpu:h100:4"}, {}));
    const Request eight = cluster->complete({}, machine);
    EXPECT_EQ(eight.nodes, 2);
    EXPECT_EQ(eight.ranks, 8);
    EXPECT_EQ(eight.device, Device::Cuda);
    Request asked;
    asked.ranks = 6;
    EXPECT_EQ(cluster->complete(asked, machine).ranks, 6);
    asked.nodes = 3;
    EXPECT_THROW(cluster->complete(asked, machine), Error);
}

TEST(Destinations, OfSlurmHaveOneLoginNodeAtMost) {
    try {
        reach({{"a", "b"}, SlurmOptions()}, {}, {}, {});
        FAIL();
    } catch (const Error& problem) {
        EXPECT_EQ(problem.failure, Failure::Usage);
        EXPECT_THAT(problem.hint, HasSubstr("nodes=N"));
    }
}

}  // namespace
}  // namespace ringmaster
