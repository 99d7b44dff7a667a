#include "launcher/resume.h"

#include "tests/launcher/run_fixture.h"

namespace ringmaster {

namespace {

class ResumeTest : public RunFixture {
  protected:
    ResumedRun resume(const RunDirectory& run, const ResumeOptions& options = {}) {
        return prepare_resume(run, options, {}, {}, {});
    }

    /// As it was prepared: with a plan whose rows are there.
    RunDirectory prepared(RunPhase phase) {
        const RunDirectory run = make_run("run", phase);
        Plan plan;
        plan.ranks = 2;
        plan.data.tokens = "/tokens.safetensors";
        write_plan(run.plan().string(), plan);
        return run;
    }
};

TEST_F(ResumeTest, GoesOnFromTheNewestCompleteCheckpoint) {
    const RunDirectory run = prepared(RunPhase::Failed);
    write(run.checkpoints() / "step-00000004/complete", "");
    write(run.checkpoints() / "step-00000008/complete", "");
    write(run.checkpoints() / "step-00000012/model.safetensors", "half");
    const ResumedRun resumed = resume(run);
    EXPECT_EQ(resumed.from_step, 8);
    EXPECT_EQ(resumed.attempt, 2);
    EXPECT_FALSE(resumed.replanned);
    EXPECT_EQ(resume(run, {4, {}, {}}).from_step, 4);
}

TEST_F(ResumeTest, WithoutACheckpointItStartsFromTheBeginning) {
    EXPECT_FALSE(resume(prepared(RunPhase::Stopped)).from_step);
}

TEST_F(ResumeTest, NamesTheCheckpointsThatThereAre) {
    const RunDirectory run = prepared(RunPhase::Failed);
    write(run.checkpoints() / "step-00000004/complete", "");
    try {
        resume(run, {5, {}, {}});
        FAIL();
    } catch (const Error& problem) {
        EXPECT_EQ(problem.failure, Failure::Usage);
        EXPECT_THAT(problem.text(),
                    testing::AllOf(testing::HasSubstr("step 5"), testing::HasSubstr("of step 4")));
    }
}

TEST_F(ResumeTest, ARunningRunIsLeftAlone) {
    const RunDirectory run = prepared(RunPhase::Running);
    RunState state = read_run_state(run.dir);
    state.writer = this_process();
    state.nodes = {{this_host(), this_process(), {}}};
    write_run_state(run.dir, state);
    EXPECT_THROW(resume(run), Error);
}

TEST_F(ResumeTest, AJobOfSlurmIsNeitherResumedWhileItWaitsNorStartedHere) {
    const RunDirectory run = prepared(RunPhase::Queued);
    RunState state = read_run_state(run.dir);
    state.writer = {kSlurmJob, 0, 0, ""};
    write_run_state(run.dir, state);
    EXPECT_THROW(resume(run), Error);
    EXPECT_THROW(delete_run(run), Error);
    state.state = RunPhase::Stopped;
    write_run_state(run.dir, state);
    const ResumedRun resumed = resume(run);
    EXPECT_THROW(start_resumed(run, resumed, {}, {}), Error);
    EXPECT_EQ(read_run_state(run.dir).state, RunPhase::Stopped);
    delete_run(run);
}

}  // namespace

}  // namespace ringmaster
