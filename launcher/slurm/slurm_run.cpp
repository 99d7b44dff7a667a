#include "launcher/slurm/slurm_run.h"

#include <algorithm>
#include <chrono>
#include <nlohmann/json.hpp>
#include <thread>

#include "engine/error.h"
#include "engine/events/bounded_json.h"
#include "engine/events/event_log.h"
#include "engine/json_problem.h"
#include "launcher/base/files.h"
#include "launcher/slurm/verdict.h"

namespace ringmaster {

namespace fs = std::filesystem;
using Json = nlohmann::json;

namespace {

constexpr const char* kState = "run.json";
/// Time for a submission to end: sbatch may outlive the program that started it.
constexpr double kSubmission_s = 15;
constexpr const char* kStop = "stop";  ///< the script checks for this file

fs::path record_file(const RunDirectory& run) {
    return run.dir / "slurm.json";
}

/// Returns run.json as the job sees it. Throws Error(Refused) if it is missing or damaged.
RunState state_at(SlurmSite& site) {
    return parse_run_state(site.read(kState).value_or(""), site.run_dir() + "/" + kState);
}

/// Writes run.json for the job, and also here, since the mirror of a remote run may have ended earlier.
void write_state(SlurmSite& site, const RunDirectory& run, const RunState& state) {
    site.write(kState, run_state_text(state));
    if (!site.host().empty()) write_run_state(run.dir, state);
}

void say_not_taken(SlurmSite& site, const RunDirectory& run, RunState state, const Error& why) {
    state.state = RunPhase::Failed;
    give_reason(state, {{"text", {why.text()}}});
    state.code = why.code;
    state.ended = state.updated = unix_now();
    state.writer = this_process();
    write_state(site, run, state);
}

/// Acts on the job's status; `before` is run.json as read before the status.
void settle(SlurmSite& site, const RunDirectory& run, SlurmRecord record, const RunState& before,
            const JobStatus& seen) {
    const bool over = seen.is_over();
    if (record.settled || (!over && !seen.waits())) return;
    const bool needs_no_word = before.state == RunPhase::Completed;
    if (!needs_no_word) {
        RunTraces traces = traces_of(run, before, site.read("agent.log").value_or(""));
        traces.stop_asked = site.read(kStop).has_value();
        const auto after = judge(before, over ? end_of(site, record.job) : seen, record.job, traces);
        if (after && state_at(site).updated == before.updated) write_state(site, run, *after);
    }
    if (!over) return;
    record.settled = true;
    write_slurm_record(run, record);
}

}  // namespace

bool is_stop_asked(const RunDirectory& run) {
    std::error_code none;
    return fs::exists(run.dir / kStop, none);
}

bool is_slurm(const RunDirectory& run) {
    std::error_code none;
    return fs::exists(record_file(run), none);
}

SlurmRecord read_slurm_record(const RunDirectory& run) {
    const Json json = read_json_file(record_file(run));
    try {
        return {
            slurm_options_of(json.at("options")), {json.at("job"), json.at("cluster")}, json.at("settled")};
    } catch (const Json::exception& problem) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged: " + json_problem(problem),
                    record_file(run).string());
    }
}

void write_slurm_record(const RunDirectory& run, const SlurmRecord& record) {
    write_file(record_file(run), Json{{"job", record.job.number},
                                      {"cluster", record.job.cluster},
                                      {"options", to_json(record.options)},
                                      {"settled", record.settled}}
                                         .dump(2) +
                                     "\n");
}

JobId submit_run(SlurmSite& site, const RunDirectory& run, const SlurmSubmission& submission) {
    const std::string script = submit_script(submission);
    write_file(run.dir / kSubmitScript, script);
    if (!site.host().empty()) site.write(kSubmitScript, script);
    site.remove(kStop);
    fs::remove(run.dir / kStop);
    SlurmRecord record{submission.options, {}, false};
    write_slurm_record(run, record);
    RunState state = read_run_state(run.dir);
    state.state = RunPhase::Queued;
    state.reason.clear();
    state.attempt = submission.attempt;
    state.ranks = submission.ranks;
    state.ended = 0;
    state.updated = unix_now();
    state.writer = {kSlurmJob, 0, 0, ""};
    state.nodes.clear();
    write_state(site, run, state);
    try {
        record.job = submit(site, kSubmitScript);
    } catch (const Error& problem) {
        say_not_taken(site, run, state, problem);
        throw;
    }
    write_slurm_record(run, record);
    return record.job;
}

bool find_submitted_job(SlurmSite& site, const RunDirectory& run) {
    SlurmRecord record = read_slurm_record(run);
    if (!record.job.number.empty()) return true;
    const RunState state = read_run_state(run.dir);
    if (!state.is_of_slurm()) return false;
    const std::string cluster = record.options.value("clusters").value_or("");
    while (true) {
        if (const auto job = job_of_folder(site, cluster)) {
            record.job = *job;
            write_slurm_record(run, record);
            return true;
        }
        if (unix_now() > state.updated + kSubmission_s) return false;
        std::this_thread::sleep_for(std::chrono::milliseconds(500));
    }
}

JobStatus look_and_settle(SlurmSite& site, const RunDirectory& run) {
    const SlurmRecord record = read_slurm_record(run);
    if (record.job.number.empty()) return {};
    const RunState before = state_at(site);
    const JobStatus seen = look_at(site, {record.job})[record.job.number];
    settle(site, run, record, before, seen);
    if (seen.state == "RUNNING" && !is_over(before.state) && site.read(kStop))
        signal_ranks(site, record.job, "TERM");
    return seen;
}

void wait_for_job(SlurmSite& site, const RunDirectory& run, const Progress& progress) {
    using namespace std::chrono_literals;
    for (const auto pause : {0ms, 2000ms, 10000ms, 10000ms, 10000ms, 10000ms, 10000ms}) {
        const auto end = std::chrono::steady_clock::now() + pause;
        while (std::chrono::steady_clock::now() < end) {
            progress.report({"slurm-end", {read_slurm_record(run).job.number}});
            progress.stop_if_cancelled();
            std::this_thread::sleep_for(100ms);
        }
        if (look_and_settle(site, run).is_over() || !is_over(state_at(site).state)) return;
    }
}

void settle_runs(const std::vector<RunDirectory>& runs) {
    struct Looked {
        RunDirectory run;
        SlurmRecord record;
        RunState before;
    };
    std::vector<Looked> looked;
    std::vector<JobId> jobs;
    for (const RunDirectory& run : runs) {
        if (!is_slurm(run) || is_remote(run)) continue;
        const SlurmRecord record = read_slurm_record(run);
        if (record.settled || record.job.number.empty()) continue;
        looked.push_back({run, record, read_run_state(run.dir)});
        jobs.push_back(record.job);
    }
    if (looked.empty()) return;
    const auto site = local_site(looked.front().run.dir.parent_path());
    std::map<std::string, JobStatus> seen = look_at(*site, jobs);
    for (const Looked& one : looked) {
        const auto own = local_site(one.run.dir);
        settle(*own, one.run, one.record, one.before, seen[one.record.job.number]);
    }
}

bool stop_slurm_run(SlurmSite& site, const RunDirectory& run, StopHow how) {
    const SlurmRecord record = read_slurm_record(run);
    const bool is_submitted = !record.job.number.empty();
    if (is_over(is_submitted ? state_at(site).state : read_run_state(run.dir).state)) return false;
    if (!is_submitted)
        throw Error(Failure::Refused, Code("RUN-NOT-STARTED"), "has not been submitted yet", run.name(),
                    "`ringmaster queue remove " + run.name() + "` takes it off the queue");
    site.write(kStop, how == StopHow::Now ? "now\n" : "save\n");
    if (!site.host().empty()) write_file(run.dir / kStop, "");
    const JobStatus seen = look_at(site, {record.job})[record.job.number];
    if (seen.is_over()) return true;
    if (how == StopHow::FinishAndSave && !seen.waits()) {
        signal_ranks(site, record.job, "TERM");
        return true;
    }
    if (!seen.waits()) signal_ranks(site, record.job, "KILL");
    cancel(site, record.job);
    return true;
}

}  // namespace ringmaster
