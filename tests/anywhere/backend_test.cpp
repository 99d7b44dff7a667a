// Tests which backend an existing run gets, and what that backend answers without a connection.
#include "launcher/backends/backend.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdlib>

#include "engine/error.h"
#include "launcher/backends/needs.h"
#include "launcher/backends/run_follower.h"
#include "launcher/backends/run_results.h"
#include "launcher/slurm/slurm_run.h"

namespace ringmaster {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::IsEmpty;

class ExistingRun : public testing::Test {
  protected:
    ExistingRun() {
        std::string name = testing::TempDir() + "backend-XXXXXX";
        run_.dir = ::mkdtemp(name.data());
        set(RunPhase::Running);
    }
    ~ExistingRun() override { fs::remove_all(run_.dir); }

    void set(RunPhase phase) const {
        RunState state;
        state.state = phase;
        state.ranks = 2;
        write_run_state(run_.dir, state);
    }
    void put_on_nodes() const {
        write_remote_run(run_, {2,
                                {{"gpu1", "/r/run", "/p/bin/ringmaster-agent", "10.0.0.1", 0, 1},
                                 {"ann@gpu2:2222", "/r/run", "/p/bin/ringmaster-agent", "10.0.0.2", 1, 1}}});
    }
    void put_in_slurm(bool settled) const {
        write_slurm_record(run_, {parse_slurm_options({"partition=gpu"}), {"42", ""}, settled});
    }
    bool is_pending() const { return backend_of(run_)->is_pending(run_); }

    RunDirectory run_;
};

TEST_F(ExistingRun, OnThisMachineNeedsNoFollower) {
    EXPECT_THAT(place_of(run_).hosts, IsEmpty());
    EXPECT_FALSE(place_of(run_).job);
    EXPECT_FALSE(is_pending());
    EXPECT_EQ(follower_of(run_, {}, {}), nullptr);
    EXPECT_FALSE(backend_of(run_)->has_results_elsewhere(run_));
    EXPECT_EQ(backend_of(run_)->model_elsewhere(run_), "");
    EXPECT_THROW(backend_of(run_)->results(run_, {}), Error);
}

TEST_F(ExistingRun, OnNodesIsPendingUntilItIsOver) {
    put_on_nodes();
    EXPECT_THAT(place_of(run_).hosts, ElementsAre("gpu1", "ann@gpu2:2222"));
    EXPECT_FALSE(place_of(run_).job);
    EXPECT_TRUE(is_pending());
    EXPECT_EQ(backend_of(run_)->model_elsewhere(run_), "gpu1:/r/run/output");
    EXPECT_EQ(backend_for(destination_of(run_))->restarter(), Restarter::Follower);
    set(RunPhase::Stopped);
    EXPECT_FALSE(is_pending());
    EXPECT_FALSE(backend_of(run_)->stop(run_, StopHow::Now, {})) << "it is over, so no node is asked";
}

TEST_F(ExistingRun, InSlurmIsPendingUntilSlurmHasSaidHowItEnded) {
    put_in_slurm(false);
    EXPECT_EQ(place_of(run_).job, "42");
    EXPECT_THAT(place_of(run_).hosts, IsEmpty());
    EXPECT_TRUE(is_pending());
    set(RunPhase::Failed);
    EXPECT_TRUE(is_pending());
    put_in_slurm(true);
    EXPECT_FALSE(is_pending());
    EXPECT_NO_THROW(backend_of(run_)->settle(run_, {})) << "nothing is left to ask";
    EXPECT_TRUE(backend_for(destination_of(run_))->has_queue());
}

TEST_F(ExistingRun, SubmittedOnALoginNodeHasBothAHostAndAJob) {
    put_on_nodes();
    put_in_slurm(false);
    EXPECT_EQ(place_of(run_).job, "42");
    EXPECT_THAT(place_of(run_).hosts, ElementsAre("gpu1", "ann@gpu2:2222"));
    EXPECT_TRUE(backend_of(run_)->has_results_elsewhere(run_));
    EXPECT_EQ(backend_for(destination_of(run_))->restarter(), Restarter::Slurm);
    EXPECT_FALSE(backend_for(destination_of(run_))->can_shrink());
}

TEST_F(ExistingRun, ContinuesOnlyWithOptionsThatItsPlaceCanKeep) {
    const SlurmOptions longer = parse_slurm_options({"time=10"});
    EXPECT_THROW(backend_for(destination_of(run_))->continue_run(run_, {}, longer), Error);
    EXPECT_NO_THROW(backend_for(destination_of(run_))->continue_run(run_, {{}, 4, {}}, {}));
    put_on_nodes();
    const auto nodes = backend_for(destination_of(run_));
    EXPECT_TRUE(nodes->can_shrink());
    EXPECT_THROW(nodes->continue_run(run_, {{}, 4, {}}, {}), Error) << "the ranks stay on their nodes";
    EXPECT_NO_THROW(nodes->continue_run(run_, {}, {}));
    put_in_slurm(true);
    const auto cluster = backend_for(destination_of(run_));
    cluster->continue_run(run_, {}, longer);
    EXPECT_EQ(cluster->destination().slurm->value("time"), "10");
    EXPECT_EQ(cluster->destination().slurm->value("partition"), "gpu");
}

TEST(Needs, SumWhatSeveralNodesAreSent) {
    std::vector<ProgressStep> seen;
    Progress progress;
    progress.step = [&](const ProgressStep& step) { seen.push_back(step); };
    const Progress one = summed(progress);
    one.report({"send", {"gpu1"}, 1, 10, true});
    one.report({"send", {"gpu2"}, 2, 20, true});
    one.report({"read", {"sending to gpu3"}, 3, 30, true});
    ASSERT_EQ(seen.size(), 3U);
    EXPECT_EQ(seen[0].code, "send");
    EXPECT_EQ(seen[1].code, "send-nodes");
    EXPECT_EQ(seen[1].with, std::vector<std::string>{"2"});
    EXPECT_EQ(std::pair(seen[1].done, seen[1].total), std::pair(int64_t{3}, int64_t{30}));
    EXPECT_EQ(seen[2].done, 3) << "this is another step";
}

}  // namespace
}  // namespace ringmaster
