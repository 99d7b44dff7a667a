#include "launcher/run/resume.h"

#include <sys/wait.h>
#include <unistd.h>

#include "engine/files/checkpoints.h"
#include "engine/plan/resolve/plan_json.h"
#include "tests/launcher/run_fixture.h"

namespace ringmaster {

namespace {

class ResumeTest : public RunFixture {
  protected:
    ResumedRun resume(const RunDirectory& run, const ResumeOptions& options = {}) {
        return prepare_resume(run, options, {}, {}, {});
    }

    /// Returns a run directory as prepare leaves it: with a plan whose rows exist.
    RunDirectory prepared(RunPhase phase) {
        const RunDirectory run = make_run("run", phase);
        Plan plan;
        plan.ranks = 2;
        plan.data.tokens = "/tokens.safetensors";
        plan.data.rows = 8;
        write_plan(run.plan().string(), plan);
        return run;
    }

    /// Writes a complete checkpoint of one file.
    void save(const RunDirectory& run, int64_t step) {
        FolderAside aside(run.checkpoints() / checkpoint_name(step));
        const WrittenFile model = write_file_durably(aside.path() / "model.safetensors", "weights");
        write_file_durably(aside.path() / kCompleteFile, complete_text({model}));
        aside.appear();
    }
};

TEST_F(ResumeTest, GoesOnFromTheNewestWholeCheckpointAndSaysWhatItPassedOver) {
    const RunDirectory run = prepared(RunPhase::Failed);
    save(run, 4);
    save(run, 8);
    save(run, 10);
    write_file_durably(run.checkpoints() / "step-00000010/model.safetensors", "weightz");
    write(run.checkpoints() / "step-00000012/model.safetensors", "half");
    std::vector<std::string> warnings;
    Progress progress;
    progress.warning = [&](const std::string& text) { warnings.push_back(text); };
    const ResumedRun resumed = prepare_resume(run, {}, {}, {}, progress);
    EXPECT_EQ(resumed.from_step, 8);
    EXPECT_EQ(resumed.wish, "latest");
    EXPECT_EQ(resumed.attempt, 2);
    EXPECT_FALSE(resumed.replanned);
    EXPECT_THAT(warnings, testing::ElementsAre(testing::HasSubstr("step 12 is passed over"),
                                               testing::HasSubstr("model.safetensors has another content")));
    EXPECT_EQ(resume(run, {4, {}, {}}).from_step, 4);
    EXPECT_EQ(resume(run, {4, {}, {}}).wish, "4");
}

TEST_F(ResumeTest, ADamagedCheckpointThatIsAskedForIsAnError) {
    const RunDirectory run = prepared(RunPhase::Failed);
    save(run, 4);
    save(run, 8);
    write_file_durably(run.checkpoints() / "step-00000008/model.safetensors", "weight");
    try {
        resume(run, {8, {}, {}});
        FAIL();
    } catch (const Error& problem) {
        EXPECT_EQ(problem.failure, Failure::Refused);
        EXPECT_THAT(problem.text(),
                    testing::AllOf(testing::HasSubstr("model.safetensors has 6 bytes, 7 were saved"),
                                   testing::HasSubstr("newest whole one is of step 4")));
    }
}

TEST_F(ResumeTest, WithoutACheckpointItStartsFromTheBeginning) {
    EXPECT_FALSE(resume(prepared(RunPhase::Stopped)).from_step);
}

TEST_F(ResumeTest, NamesTheCheckpointsThatThereAre) {
    const RunDirectory run = prepared(RunPhase::Failed);
    save(run, 4);
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

TEST_F(ResumeTest, WaitsForAnAgentThatRecordedTheEndAndHasNotExited) {
    const RunDirectory run = prepared(RunPhase::Failed);
    save(run, 4);
    const pid_t agent = fork();
    if (agent == 0) {
        usleep(300'000);
        _exit(0);
    }
    RunState state = read_run_state(run.dir);
    state.nodes = {{this_host(), *find_process(agent), {}}};
    write_run_state(run.dir, state);
    EXPECT_EQ(resume(run).from_step, 4);
    EXPECT_FALSE(find_process(agent));
    EXPECT_EQ(waitpid(agent, nullptr, 0), agent);
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
