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
    EXPECT_EQ(english(as_reason(table.of(1))),
              " is at work in layer 12, hop 4 (backward of step 7, micro-batch 2)");
    ::kill(rank, SIGCONT);
    ::waitpid(rank, nullptr, WUNTRACED);
    EXPECT_EQ(
        english(as_reason(table.of(1))),
        " waits in layer 12, hop 4, for rank 2 to send keys and values (backward of step 7, micro-batch 2; "
        "transfer 411 of ring)");
    ::kill(rank, SIGCONT);
    ::waitpid(rank, nullptr, 0);
    EXPECT_EQ(english(as_reason(table.of(1))), " is at work after layer 12, hop 4 (step 7)");
    EXPECT_EQ(english(as_reason(table.of(0))), " is at work before the first layer (starting)")
        << "slots are apart";
}

std::string work_at(const Place& place) {
    return english(as_reason(Whereabouts{place, false, {}}));
}

TEST(Progress, NamesNoHopWhereKeysDoNotTravel) {
    RankProgress progress;
    progress.begin(Activity::Evaluating, 3);
    progress.enter_layer(Pass::Forward, 0);
    EXPECT_EQ(work_at(progress.place()), " is at work in layer 0 (forward of the evaluation after step 3)");
    progress.set_hops(true);
    progress.enter_layer(Pass::Forward, 1);
    EXPECT_EQ(work_at(progress.place()),
              " is at work in layer 1, hop 0 (forward of the evaluation after step 3)");
    progress.leave_layers();
    progress.begin(Activity::Saving, 3);
    EXPECT_EQ(work_at(progress.place()), " is at work after layer 1, hop 0 (saving after step 3)");
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
