#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "engine/error.h"
#include "engine/events/event.h"
#include "launcher/slurm/queue.h"
#include "launcher/slurm/script.h"
#include "launcher/slurm/slurm_run.h"
#include "launcher/slurm/verdict.h"

namespace ringmaster {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string refusal(const std::vector<std::string>& words) {
    try {
        parse_slurm_options(words);
        return "";
    } catch (const Error& problem) {
        EXPECT_EQ(problem.failure, Failure::Usage);
        return problem.text();
    }
}

TEST(SlurmRecord, IsDamagedInOurWords) {
    const std::filesystem::path dir = std::filesystem::path(testing::TempDir()) / "damaged-slurm-run";
    std::filesystem::create_directories(dir);
    std::ofstream(dir / "slurm.json") << R"({"options": {}, "job": 3})";
    EXPECT_THAT([&] { read_slurm_record({dir}); },
                testing::ThrowsMessage<Error>(Not(HasSubstr("exception"))));
    std::filesystem::remove_all(dir);
}

TEST(SlurmOptions, KnowWhatTheyMeanForTheRun) {
    const SlurmOptions options =
        parse_slurm_options({"nodes=2", "gres=gpu:a100:4", "time=1-2:30", "exclusive"});
    EXPECT_EQ(options.nodes(), 2);
    EXPECT_EQ(options.gpus_per_node(), 4);
    EXPECT_TRUE(options.asks_for_gpus());
    EXPECT_EQ(options.time_s(), 86400 + 2 * 3600 + 30 * 60);
    EXPECT_EQ(options.value("exclusive"), "");
    EXPECT_EQ(parse_slurm_options({"gpus-per-node=8"}).gpus_per_node(), 8);
    EXPECT_FALSE(parse_slurm_options({"gres=shard:4"}).asks_for_gpus());
}

TEST(SlurmOptions, ALaterOneReplacesAnEarlier) {
    const SlurmOptions older = parse_slurm_options({"time=1:00:00", "partition=a", "partition=b"});
    const SlurmOptions all = merged(older, parse_slurm_options({"time=2:00:00"}));
    EXPECT_EQ(all.value("partition"), "b");
    EXPECT_EQ(all.time_s(), 7200);
    EXPECT_EQ(all.values.size(), 2u);
}

TEST(SlurmOptions, WarnAFifthOfAShortTimeAheadAndNeverBeforeTheStart) {
    EXPECT_EQ(parse_slurm_options({}).warning_s(), 120);
    EXPECT_EQ(parse_slurm_options({"time=4:00:00"}).warning_s(), 120);
    EXPECT_EQ(parse_slurm_options({"time=5"}).warning_s(), 60);
    EXPECT_EQ(parse_slurm_options({"time=5", "signal=USR1@30"}).warning_s(), 30);
    EXPECT_EQ(parse_slurm_options({"signal=45"}).warning_s(), 45);
    EXPECT_NE(refusal({"time=2", "signal=USR1@120"}), "");
}

TEST(SlurmOptions, RefuseWhatTheScriptSaysItself) {
    EXPECT_THAT(refusal({"output=x"}), HasSubstr("agent.log"));
    EXPECT_THAT(refusal({"ntasks=4"}), HasSubstr("--ranks"));
    EXPECT_THAT(refusal({"p=gpu"}), HasSubstr("no option of sbatch"));
    EXPECT_THAT(refusal({"=x"}), HasSubstr("no option of sbatch"));
    EXPECT_THAT(refusal({"comment=a\nb"}), HasSubstr("control character"));
    EXPECT_THAT(refusal({"signal=B:USR1@60"}), HasSubstr("signal=USR1@120"));
}

TEST(SlurmTime, ReadsTheSixFormsAndNothingElse) {
    EXPECT_EQ(slurm_seconds("90"), 5400);
    EXPECT_EQ(slurm_seconds("1:30"), 90);
    EXPECT_EQ(slurm_seconds("1:30:00"), 5400);
    EXPECT_EQ(slurm_seconds("2-0"), 172800);
    EXPECT_EQ(slurm_seconds("1-1:1"), 86400 + 3600 + 60);
    EXPECT_EQ(slurm_seconds("1-1:1:1"), 86400 + 3600 + 61);
    for (const char* text : {"", "x", "1:", ":1", "1:2:3:4", "-1", "1-", "1 0", "1.5"})
        EXPECT_EQ(slurm_seconds(text), std::nullopt) << text;
}

SlurmSubmission small_job() {
    SlurmSubmission job;
    job.run_name = "llama";
    job.run_dir = "/data/runs/llama";
    job.engine = "/opt/bin/ringmaster-engine";
    job.ranks = 4;
    job.nodes = 2;
    return job;
}

TEST(SubmitScript, SpreadsTheRanksEvenlyAndRefusesWhatDoesNotGoTogether) {
    SlurmSubmission job = small_job();
    EXPECT_THAT(submit_script(job),
                HasSubstr("#SBATCH --nodes=2\n#SBATCH --ntasks=4\n#SBATCH --ntasks-per-node=2\n"));
    job.ranks = 3;
    EXPECT_THROW(submit_script(job), Error);
    job.ranks = 4;
    job.options = parse_slurm_options({"ntasks-per-node=4"});
    EXPECT_THROW(submit_script(job), Error);
}

TEST(SubmitScript, AsksForAGpuForEachRankUnlessThePersonDid) {
    SlurmSubmission job = small_job();
    EXPECT_THAT(submit_script(job), Not(HasSubstr("gres")));
    job.device = Device::Cuda;
    EXPECT_THAT(submit_script(job), HasSubstr("#SBATCH --gres=gpu:2\n"));
    job.options = parse_slurm_options({"gpus-per-node=4"});
    EXPECT_THAT(submit_script(job), Not(HasSubstr("--gres")));
}

TEST(SubmitScript, QuotesForSlurmAndForTheShell) {
    SlurmSubmission job = small_job();
    job.run_dir = "/data/it's 50%j \"$(x)\"/r";
    job.run_name = "$(x) ü";
    const std::string script = submit_script(job);
    EXPECT_THAT(script, HasSubstr(R"x(--output="/data/it's 50%%j \"$(x)\"/r/agent.log")x"));
    EXPECT_THAT(script, HasSubstr(R"x(run='/data/it'\''s 50%j "$(x)"/r')x"));
    EXPECT_THAT(script, HasSubstr("--job-name=\"__x____\""));
    job.run_dir = "/data/a\nb";
    EXPECT_THROW(submit_script(job), Error);
    job.run_dir = "/data/a\\b";
    EXPECT_THROW(submit_script(job), Error);
}

TEST(SubmitScript, LeavesRequeueingToThePerson) {
    SlurmSubmission job = small_job();
    EXPECT_THAT(submit_script(job), HasSubstr("#SBATCH --requeue\n"));
    job.options = parse_slurm_options({"no-requeue"});
    EXPECT_THAT(submit_script(job), Not(HasSubstr("#SBATCH --requeue\n")));
    EXPECT_THAT(submit_script(job), HasSubstr("#SBATCH --no-requeue\n"));
}

TEST(SlurmOutput, TheJobsNumber) {
    EXPECT_EQ(parse_job_id("42\n").number, "42");
    EXPECT_EQ(parse_job_id("42;north\n").cluster, "north");
    EXPECT_EQ(parse_job_id("Submitted batch job 42\n").number, "");
    EXPECT_EQ(parse_job_id("").number, "");
}

TEST(SlurmOutput, TheQueue) {
    const auto jobs =
        parse_squeue("CLUSTER: north\n42|PENDING|Resources|\n43|RUNNING|None|gpu[03-04]\nnonsense\n");
    ASSERT_EQ(jobs.size(), 2u);
    EXPECT_TRUE(jobs.at("42").waits());
    EXPECT_EQ(jobs.at("42").reason, "Resources");
    EXPECT_EQ(jobs.at("43").nodes, "gpu[03-04]");
    EXPECT_FALSE(jobs.at("43").is_over() || jobs.at("43").waits());
}

TEST(SlurmOutput, TheNewestJobOfAFolder) {
    const std::string out = "CLUSTER: north\n45|/runs/b c\n44|/runs/a\n43|/runs/a\n42|/runs/a/x\n";
    EXPECT_EQ(parse_jobs_of_folder(out, "/runs/a"), "44");
    EXPECT_EQ(parse_jobs_of_folder(out, "/runs/b c"), "45");
    EXPECT_EQ(parse_jobs_of_folder(out, "/runs"), "");
    EXPECT_EQ(parse_jobs_of_folder("4;rm|/runs/a\n", "/runs/a"), "4");
    EXPECT_EQ(parse_jobs_of_folder("x|/runs/a\n", "/runs/a"), "");
}

TEST(SlurmOutput, WhatTheAccountingSaysLastCounts) {
    const JobStatus status = parse_sacct("42|NODE_FAIL|0:0|n1\n42|CANCELLED by 1000|0:15|n[1-2]\n");
    EXPECT_EQ(status.state, "CANCELLED");
    EXPECT_EQ(status.exit_signal, 15);
    EXPECT_TRUE(parse_sacct("").is_over());
}

TEST(SlurmOutput, TheControllersRecord) {
    const JobStatus status = parse_scontrol(
        "JobId=1 JobName=x JobState=FAILED Reason=JobLaunchFailure ExitCode=0:53 NodeList=vm "
        "ReqNodeList=(null)");
    EXPECT_EQ(status.state, "FAILED");
    EXPECT_EQ(status.exit_signal, 53);
    EXPECT_EQ(status.nodes, "vm");
}

TEST(SlurmOutput, TheJobsLogSinceItsLastStart) {
    EXPECT_EQ(parse_job_log("::ringmaster-start 1 0 n\nslurmstepd: error: *** STEP 1.0 ON n CANCELLED AT T "
                            "DUE TO TIME LIMIT ***\n")
                  .state,
              "TIMEOUT");
    EXPECT_EQ(parse_job_log("::ringmaster-start 1 0 n\n*** JOB 1 CANCELLED AT T DUE TO TIME LIMIT "
                            "***\n::ringmaster-start 2 0 n\n")
                  .state,
              "");
    EXPECT_EQ(parse_job_log("slurmstepd: error: Detected 1 oom_kill event in StepId=1.0.\n").state,
              "OUT_OF_MEMORY");
}

RunState running() {
    RunState state;
    state.name = "llama";
    state.state = RunPhase::Running;
    state.ranks = 2;
    state.attempt = 1;
    state.started = 100;
    state.writer = {kSlurmJob, 42, 0, ""};
    return state;
}

std::optional<RunState> judged(const RunState& before, const JobStatus& status,
                               const RunTraces& traces = {}) {
    return judge(before, status, {"42", ""}, traces);
}

TEST(SlurmVerdict, AJobThatEndedWithoutAWordHasAReason) {
    RunTraces saved;
    saved.checkpoint = 30;
    const struct {
        const char* state;
        RunPhase phase;
        const char* why;
    } kCases[] = {{"TIMEOUT", RunPhase::Failed, "slurm-time"},
                  {"OUT_OF_MEMORY", RunPhase::Failed, "slurm-memory"},
                  {"NODE_FAIL", RunPhase::Failed, "slurm-node"},
                  {"CANCELLED", RunPhase::Stopped, "slurm-cancelled"},
                  {"PREEMPTED", RunPhase::Failed, "slurm-preempted"},
                  {"FAILED", RunPhase::Failed, "slurm-status"},
                  {"COMPLETED", RunPhase::Failed, "slurm-silent"},
                  {"", RunPhase::Failed, "slurm-lost"}};
    for (const auto& one : kCases) {
        const auto after = judged(running(), {one.state, "", "n1"}, saved);
        ASSERT_TRUE(after) << one.state;
        EXPECT_EQ(after->state, one.phase) << one.state;
        EXPECT_EQ(after->why.at(0).code, one.why);
        EXPECT_GT(after->ended, 0);
    }
    EXPECT_EQ(judged(running(), {"TIMEOUT", "", ""}, saved)->why.at(1),
              (ReasonPart{"newest-checkpoint", {"30"}}));
    EXPECT_EQ(judged(running(), {"TIMEOUT", "", ""})->why.at(1), ReasonPart{"nothing-saved"});
}

TEST(SlurmVerdict, ALivingJobAndACompletedRunAreLeftAlone) {
    EXPECT_FALSE(judged(running(), {"RUNNING", "", "n1"}));
    EXPECT_FALSE(judged(running(), {"COMPLETING", "", "n1"}));
    RunState done = running();
    done.state = RunPhase::Completed;
    EXPECT_FALSE(judged(done, {"COMPLETED", "", ""}));
    EXPECT_FALSE(judged(done, {"NODE_FAIL", "", ""}));
}

TEST(SlurmVerdict, AStopThatWasAskedForIsNoFailure) {
    RunTraces asked;
    asked.stop_asked = true;
    EXPECT_EQ(judged(running(), {"CANCELLED", "", ""}, asked)->state, RunPhase::Stopped);
    EXPECT_EQ(judged(running(), {"FAILED", "", ""}, asked)->state, RunPhase::Stopped);
    RunState stopped = running();
    stopped.state = RunPhase::Stopped;
    EXPECT_FALSE(judged(stopped, {"COMPLETED", "", ""}, asked));
}

TEST(SlurmVerdict, ARunningRunWhoseJobWaitsIsQueuedAgain) {
    const auto after = judged(running(), {"PENDING", "BeginTime", ""});
    ASSERT_TRUE(after);
    EXPECT_EQ(after->state, RunPhase::Queued);
    EXPECT_TRUE(after->is_of_slurm());
    RunState queued = running();
    queued.state = RunPhase::Queued;
    EXPECT_FALSE(judged(queued, {"PENDING", "Resources", ""}));
}

/// Returns the traces of a running job whose log has this text.
RunTraces logged(const std::string& log) {
    return traces_of({"/nonexistent"}, running(), log);
}

TEST(SlurmVerdict, TheJobsLogMarksAPreemption) {
    const std::string start = "::ringmaster-start 42 0 n1\n", mark = "::ringmaster-preempted\n";
    EXPECT_TRUE(logged(start + mark).preempted);
    EXPECT_FALSE(logged(start + mark + start).preempted) << "that was the start before";
    EXPECT_FALSE(logged(start + "the ranks saved, preempted by another job\n").preempted);
    EXPECT_EQ(logged(start + "old\n" + start + "new\n").last_words, "new");
    EXPECT_EQ(logged(start + "Slurm job 7 is what this rank prints\n").last_words,
              "Slurm job 7 is what this rank prints");
    const std::string script = submit_script(small_job());
    EXPECT_THAT(script, HasSubstr("echo \"$start_mark $SLURM_JOB_ID"));
    EXPECT_THAT(script, HasSubstr("\nstart_mark=::ringmaster-start\n"));
    EXPECT_THAT(script, HasSubstr("\npreempted_mark=::ringmaster-preempted\n"));
}

TEST(SlurmVerdict, APreemptedRunSaysSoAlsoWhereItsRanksTookItForAStop) {
    RunTraces preempted = logged(
        "::ringmaster-start 42 0 n1\nslurmstepd: error: *** JOB 42 ON n1 CANCELLED AT T DUE TO PREEMPTION "
        "***\n");
    ASSERT_TRUE(preempted.preempted);
    RunState stopped = running();
    stopped.state = RunPhase::Stopped;
    give_reason(stopped, {{"stopped-after", {"9"}}});
    preempted.checkpoint = 9;
    const auto queued = judged(stopped, {"PENDING", "BeginTime", ""}, preempted);
    ASSERT_TRUE(queued);
    EXPECT_EQ(queued->state, RunPhase::Queued);
    EXPECT_EQ(queued->why.at(0).code, "slurm-preempted-requeued");
    for (const char* state : {"COMPLETED", "PREEMPTED"}) {
        const auto over = judged(stopped, {state, "", "n1"}, preempted);
        ASSERT_TRUE(over) << state;
        EXPECT_EQ(over->state, RunPhase::Failed) << "nobody asked for it";
        EXPECT_EQ(over->why.at(0), (ReasonPart{"slurm-preempted", {"42", " (n1)"}}));
        EXPECT_EQ(over->why.at(1), (ReasonPart{"newest-checkpoint", {"9"}}));
    }
    preempted.stop_asked = true;
    EXPECT_FALSE(judged(stopped, {"COMPLETED", "", "n1"}, preempted));
}

TEST(SlurmVerdict, ASavedRunThatSlurmDidNotTakeBackIsStopped) {
    RunState queued = running();
    queued.state = RunPhase::Queued;
    give_reason(queued, {{"time-over", {"9"}}});
    const auto after = judged(queued, {"COMPLETED", "", ""});
    ASSERT_TRUE(after);
    EXPECT_EQ(after->state, RunPhase::Stopped);
    EXPECT_EQ(after->why.at(0), (ReasonPart{"slurm-not-requeued", {"42"}}));
}

TEST(SlurmVerdict, SlurmsKnowledgeComesBeforeWhatTheOtherRanksSaw) {
    RunState failed = running();
    failed.state = RunPhase::Failed;
    give_reason(failed, {{"rank-status", {"0", "1"}}});
    EXPECT_EQ(judged(failed, {"OUT_OF_MEMORY", "", ""})->why.at(0).code, "slurm-memory");
    EXPECT_FALSE(judged(failed, {"FAILED", "", ""}));
    const RunTraces traces =
        traces_of({"/nonexistent"}, failed,
                  "::ringmaster-start 42 0 n1\nerror: reset\nsrun: error: n1: task 1: Killed\n"
                  "srun: error: n1: task 0: Exited with exit code 1\n");
    EXPECT_EQ(traces.lost_rank, "rank 1 on n1: Killed");
    EXPECT_EQ(judged(failed, {"FAILED", "", ""}, traces)->why.at(0),
              (ReasonPart{"text", {"rank 1 on n1: Killed"}}));
    const RunTraces own =
        traces_of({"/nonexistent"}, failed,
                  "srun: error: n1: task 0: Exited with exit code 1\nsrun: error: n1: task 1: Killed\n");
    EXPECT_EQ(own.lost_rank, "");
}

TEST(SlurmVerdict, ARankThatSrunSawKilledAfterAnotherExitedIsTheReason) {
    const std::filesystem::path run = testing::TempDir() + "slurm_verdict";
    std::filesystem::remove_all(run);
    std::filesystem::create_directories(run / "events");
    const auto rank_0_says = [&](const char* code) {
        std::ofstream(run / "events/rank-00000.jsonl")
            << to_json_line({running().started + 1, 0, ErrorEvent{"m", "", code}}) << "\n";
    };
    const auto lost = [&](const std::string& killed) {
        RunState failed = running();
        failed.ranks = 3;
        return traces_of({run}, failed,
                         "srun: error: n1: task 0: Exited with exit code 1\n"
                         "srun: launch/slurm: _step_signal: Terminating StepId=4.0\n" +
                             killed)
            .lost_rank;
    };
    const std::string one = "srun: error: n2: task 1: Killed\n", other = "srun: error: n2: task 2: Killed\n";
    rank_0_says("RANKS-TRANSFER");
    EXPECT_EQ(lost(one), "rank 1 on n2: Killed");
    EXPECT_EQ(lost(one + other), "") << "srun killed one of them";
    rank_0_says("TRAIN-LOSS");
    EXPECT_EQ(lost(one), "") << "rank 0 had a reason of its own";
}

TEST(SlurmVerdict, ARunDirectoryThatTheNodesDoNotSeeIsNamed) {
    JobStatus status{"FAILED", "", "n1"};
    status.exit_signal = 53;
    EXPECT_EQ(judged(running(), status)->code, "SLURM-OUTPUT");
}

}  // namespace
}  // namespace ringmaster
