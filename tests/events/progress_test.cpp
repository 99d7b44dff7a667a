#include "engine/events/progress.h"

#include <fcntl.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>

#include "engine/error.h"

namespace ringmaster {
namespace {

TEST(Progress, OfAStoppedProcessIsReadByAnother) {
    ProgressTable table(2);
    const pid_t rank = ::fork();
    if (rank == 0) {
        RankProgress progress(table.descriptor(), 1);
        progress.set_hops(true);
        progress.begin(Activity::Training, 7);
        progress.begin_micro_batch(2);
        progress.enter_layer(Pass::Backward, 12);
        progress.enter_hop(4);
        ::raise(SIGSTOP);
        progress.wait_for({progress.place(), {Partner::Role::Sender, 2, "keys and values"}, "ring", 411});
        ::raise(SIGSTOP);
        progress.wait_is_over();
        progress.leave_layers();
        ::_exit(0);
    }
    ::waitpid(rank, nullptr, WUNTRACED);
    const Reason in_hop = {
        {"is-at-work"}, {"in-hop", {"12", "4"}}, {"in-backward", {"7", "2"}}, {"end-of-place"}};
    EXPECT_EQ(as_reason(table.of(1)), in_hop);
    ::kill(rank, SIGCONT);
    ::waitpid(rank, nullptr, WUNTRACED);
    const Reason waits = {{"waits"},
                          {"in-hop", {"12", "4"}},
                          {"for-sender", {"2", "keys and values"}},
                          {"in-backward", {"7", "2"}},
                          {"in-transfer", {"411", "ring"}}};
    EXPECT_EQ(as_reason(table.of(1)), waits);
    ::kill(rank, SIGCONT);
    ::waitpid(rank, nullptr, 0);
    const Reason after = {{"is-at-work"}, {"after-hop", {"12", "4"}}, {"at-step", {"7"}}, {"end-of-place"}};
    EXPECT_EQ(as_reason(table.of(1)), after);
    const Reason other = {{"is-at-work"}, {"before-layers"}, {"while-starting"}, {"end-of-place"}};
    EXPECT_EQ(as_reason(table.of(0)), other) << "slots are apart";
}

/// Returns the parts of a reason that say where a rank at `place` is (layer and hop) and what it is doing.
Reason work_at(const Place& place) {
    const Reason reason = as_reason(Whereabouts{place, false, {}});
    return {reason.begin() + 1, reason.end() - 1};
}

TEST(Progress, NamesNoHopWhereKeysDoNotTravel) {
    RankProgress progress;
    progress.begin(Activity::Evaluating, 3);
    progress.enter_layer(Pass::Forward, 0);
    EXPECT_EQ(work_at(progress.place()), (Reason{{"in-layer", {"0"}}, {"in-evaluation", {"3"}}}));
    progress.set_hops(true);
    progress.enter_layer(Pass::Forward, 1);
    EXPECT_EQ(work_at(progress.place()), (Reason{{"in-hop", {"1", "0"}}, {"in-evaluation", {"3"}}}));
    progress.leave_layers();
    progress.begin(Activity::Saving, 3);
    EXPECT_EQ(work_at(progress.place()), (Reason{{"after-hop", {"1", "0"}}, {"while-saving", {"3"}}}));
}

TEST(Progress, CutsWhatIsLongerThanItsPlace) {
    ProgressTable table(1);
    RankProgress progress(table.descriptor(), 0);
    progress.wait_for({{}, {Partner::Role::All, 2, std::string(1000, 'w')}, std::string(1000, 'g'), 1});
    EXPECT_THAT(table.of(0).awaited.partner.what, testing::MatchesRegex("w+"));
    EXPECT_LT(table.of(0).awaited.partner.what.size(), 200u);
    EXPECT_LT(table.of(0).awaited.group.size(), 200u);
}

TEST(Progress, RefusesWhatIsNoTableOfTheAgent) {
    ProgressTable table(2);
    EXPECT_THROW(RankProgress(table.descriptor(), 2), Error) << "more ranks than the table holds";
    EXPECT_THROW(RankProgress(table.descriptor(), -1), Error);
    EXPECT_THROW(RankProgress(-1, 0), Error);
    const int other = ::open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
    EXPECT_THROW(RankProgress(other, 0), Error);
    ::close(other);
}

}  // namespace
}  // namespace ringmaster
