#include "launcher/machine/machine_report.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

namespace ringmaster {
namespace {

const MachineCheck& check(const std::vector<MachineCheck>& checks, Topic topic) {
    for (const MachineCheck& each : checks) {
        if (each.topic == topic) return each;
    }
    static const MachineCheck none{Topic::Devices, CheckState::Missing, "there is no such check", ""};
    return none;
}

MachineFacts good_facts() {
    MachineFacts facts;
    facts.machine.cores = 16;
    facts.machine.ram_bytes = int64_t{128} << 30;
    facts.machine.gpus = {{0, "GPU-1", "NVIDIA H200", int64_t{141} << 30}};
    facts.driver = "580.95";
    facts.available_bytes = int64_t{100} << 30;
    facts.engine_there = facts.cuda_part_there = facts.python_there = true;
    facts.torch_version = "2.11.0";
    facts.runs = {"/runs", int64_t{1} << 40, int64_t{2} << 40};
    facts.cache = {"/cache", int64_t{1} << 40, int64_t{2} << 40};
    facts.ssh_agent = SshAgent::Answers;
    return facts;
}

TEST(MachineReport, HasNothingToDoOnAMachineThatHasAll) {
    for (const MachineCheck& each : machine_checks(good_facts())) {
        EXPECT_EQ(each.state, CheckState::Ok) << each.what;
        EXPECT_EQ(each.fix, "") << each.what;
        EXPECT_NE(each.what, "");
    }
}

TEST(MachineReport, SaysWhatToDoAboutWhatIsMissing) {
    MachineFacts facts = good_facts();
    facts.python_there = facts.cuda_part_there = facts.engine_there = false;
    facts.cache.free_bytes = int64_t{3} << 30;
    facts.ssh_agent = SshAgent::Silent;
    const std::vector<MachineCheck> checks = machine_checks(facts);
    for (const Topic topic : {Topic::Python, Topic::Cuda, Topic::Engine}) {
        EXPECT_EQ(check(checks, topic).state, CheckState::Missing);
        EXPECT_NE(check(checks, topic).fix, "");
    }
    EXPECT_EQ(check(checks, Topic::CacheDisk).state, CheckState::Note);
    EXPECT_EQ(check(checks, Topic::Ssh).state, CheckState::Note);
    for (const MachineCheck& each : checks) EXPECT_EQ(each.fix.find('\n'), std::string::npos) << each.fix;
}

TEST(MachineReport, DoesNotMissCudaWhereThereIsNoGpu) {
    MachineFacts facts = good_facts();
    facts.machine.gpus.clear();
    facts.driver.clear();
    facts.cuda_part_there = false;
    const auto checks = machine_checks(facts);
    EXPECT_EQ(check(checks, Topic::Cuda).what, "there is no such check");
    EXPECT_EQ(check(checks, Topic::Devices).state, CheckState::Note);
}

TEST(MachineReport, NamesAGpuThatIsTooOld) {
    MachineFacts facts = good_facts();
    facts.machine.gpus = {{0, "GPU-a", "Tesla V100-SXM2-32GB", int64_t{32} << 30, "7.0"}};
    const MachineCheck devices = check(machine_checks(facts), Topic::Devices);
    EXPECT_EQ(devices.state, CheckState::Note);
    EXPECT_NE(devices.what.find("GPU 0, Tesla V100-SXM2-32GB, has compute capability 7.0"), std::string::npos)
        << devices.what;
    EXPECT_NE(devices.fix.find("--device cpu"), std::string::npos) << devices.fix;
}

TEST(MachineReport, AsksThisMachine) {
    Places places = find_places();
    places.runs_dir = std::filesystem::temp_directory_path() / "nobody/made/this";
    places.share_dir = "/nowhere";  // without requirements.txt, nothing can be set up
    const MachineFacts facts = machine_facts(this_machine(), places);
    EXPECT_GT(facts.available_bytes, 0);
    EXPECT_GT(facts.runs.total_bytes, 0) << "the disk of the nearest folder that is there";
    EXPECT_FALSE(facts.python_there);
    EXPECT_EQ(checks_to_json(machine_checks(facts)).size(), machine_checks(facts).size());
}

TEST(SshHosts, AreCountedWithoutPatterns) {
    EXPECT_EQ(count_ssh_hosts("Host a b\n  HostName x\nhost=\"c\"\n# Host d\nHost *\nHost !e f?\nHostName g\n"
                              "\tHOST a\nMatch host h\nHost i # j\n"),
              4);  // the counted hosts are a, b, c and i
    EXPECT_EQ(count_ssh_hosts(""), 0);
}

TEST(SshAgentSocket, AnswersOnlyWhileSomebodyListens) {
    const std::string path =
        (std::filesystem::temp_directory_path() / ("agent-" + std::to_string(getpid()))).string();
    EXPECT_FALSE(socket_answers(path));
    const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::strncpy(address.sun_path, path.c_str(), sizeof address.sun_path - 1);
    ASSERT_EQ(::bind(listener, reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    ASSERT_EQ(::listen(listener, 1), 0);
    EXPECT_TRUE(socket_answers(path));
    ::close(listener);
    EXPECT_FALSE(socket_answers(path));
    std::filesystem::remove(path);
    EXPECT_FALSE(socket_answers(std::string(500, 'x')));
}

}  // namespace
}  // namespace ringmaster
