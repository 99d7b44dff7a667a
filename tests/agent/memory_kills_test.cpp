#include "launcher/agent/memory_kills.h"

#include <gtest/gtest.h>

#include <fstream>

namespace ringmaster {
namespace {

namespace fs = std::filesystem;

class MemoryKills : public testing::Test {
  protected:
    MemoryKills() {
        std::string pattern = (fs::temp_directory_path() / "kills-XXXXXX").string();
        root_ = ::mkdtemp(pattern.data());
    }
    ~MemoryKills() override { fs::remove_all(root_); }

    void put(const fs::path& file, const std::string& text) const {
        fs::create_directories((root_ / file).parent_path());
        std::ofstream(root_ / file) << text;
    }

    fs::path root_;
};

TEST_F(MemoryKills, AreThoseOfTheControlGroup) {
    put("proc/vmstat", "nr_free_pages 12\noom_kill 9\n");
    put("proc/self/cgroup", "0::/user.slice/run.scope\n");
    put("sys/fs/cgroup/user.slice/run.scope/memory.events", "low 0\nhigh 0\nmax 7\noom 3\noom_kill 2\n");
    EXPECT_EQ(memory_kills(root_), 2);
}

TEST_F(MemoryKills, AreReadFromTheFirstVersionOfControlGroupsToo) {
    put("proc/self/cgroup", "11:cpu,cpuacct:/job\n5:memory:/job\n0::/\n");
    put("sys/fs/cgroup/memory/job/memory.oom_control", "oom_kill_disable 0\nunder_oom 0\noom_kill 4\n");
    EXPECT_EQ(memory_kills(root_), 4);
}

TEST_F(MemoryKills, AreTheMachinesWhereTheGroupSaysNothing) {
    put("proc/vmstat", "nr_free_pages 12\noom_kill 9\n");
    put("proc/self/cgroup", "damaged\n0::\n::\n0::/\n");
    EXPECT_EQ(memory_kills(root_), 9);
    EXPECT_EQ(memory_kills(root_ / "nowhere"), 0);
}

}  // namespace
}  // namespace ringmaster
