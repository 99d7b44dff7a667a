#include "launcher/run/resume.h"

#include <nlohmann/json.hpp>

#include "engine/events/output_claim.h"
#include "engine/files/checkpoints.h"
#include "engine/plan/resolve/plan_json.h"
#include "launcher/base/files.h"
#include "launcher/run/local_node.h"
#include "launcher/run/start_record.h"

namespace ringmaster {

Request request_of(const RunDirectory& run) {
    return request_from_json(read_json_file(run.options()), run.options().string());
}

namespace {

void start(const RunDirectory& run, const Attempt& attempt, const Places& places) {
    record_failed_start(run, [&] { start_agent(run, attempt, places); });
}

/// Returns the step to continue from; warns of each checkpoint that it skips.
std::optional<int64_t> step_to_resume(const RunDirectory& run, std::optional<int64_t> asked,
                                      const Progress& progress) {
    progress.report({"verify"});
    restore_folders(run.checkpoints());
    const CheckpointChoice choice =
        choose_checkpoint(run.checkpoints(), asked, [&] { progress.stop_if_cancelled(); });
    for (const std::string& line : words_of(choice)) progress.warn(line);
    return choice.step;
}

Request kept_request(const RunDirectory& run, const ResumeOptions& options) {
    Request kept = request_of(run);
    if (options.ranks) kept.ranks = options.ranks;
    if (options.nodes) kept.nodes = options.nodes;
    add_settings(kept, options.set);
    return kept;
}

/// Returns the request with the configuration files of the run directory in place of the user's.
Request as_it_lies(const RunDirectory& run, Request request) {
    request.config = run.config().string();
    if (!request.accelerate_file.empty()) request.accelerate_file = run.accelerate().string();
    return request;
}

Plan replan(const RunDirectory& run, const ResumeOptions& options, const Machine& machine,
            const Places& places, const Progress& progress) {
    const Request kept = kept_request(run, options);
    const Proposal proposal = propose(as_it_lies(run, kept), machine, places);
    require_launchable(proposal);
    const Plan plan = fill_plan(proposal, run, machine, places, progress).plan;
    write_file(run.options(), request_to_json(kept).dump(2) + "\n");
    return plan;
}

}  // namespace

void start_run(const RunDirectory& run, const Plan& plan, const Machine& machine, const Places& places) {
    require_startable(plan, machine, places);
    start(run, {plan.ranks, 1, "none", request_of(run).restarts}, places);
}

int restarts_of(const RunDirectory& run) {
    std::error_code none;
    return std::filesystem::exists(run.options(), none) ? request_of(run).restarts : 0;
}

Proposal propose_resume(const RunDirectory& run, const ResumeOptions& options, const Machine& machine,
                        const Places& places) {
    return propose(as_it_lies(run, kept_request(run, options)), machine, places);
}

bool is_completed(const RunDirectory& run) {
    return read_run_state(run.dir).state == RunPhase::Completed;
}

ResumedRun prepare_resume(const RunDirectory& run, const ResumeOptions& options, const Machine& machine,
                          const Places& places, const Progress& progress) {
    const RunState state = state_after_processes_end(run, progress);
    if (is_active(state)) refuse_to_resume(run, state.state);
    ResumedRun resumed;
    resumed.attempt = state.attempt + 1;
    resumed.from_step = step_to_resume(run, options.checkpoint, progress);
    if (options.checkpoint) resumed.wish = std::to_string(*options.checkpoint);
    resumed.plan = read_plan(run.plan().string());
    if (options.ranks || options.nodes || !options.set.empty() || resumed.plan.data.rows <= 0) {
        resumed.plan = replan(run, options, machine, places, progress);
        resumed.replanned = true;
    }
    if (const std::string& output_dir = resumed.plan.config.output_dir; !output_dir.empty())
        claim_output(output_dir, run.dir, run.name());
    if (resumed.replanned) write_plan(run.plan().string(), resumed.plan);
    return resumed;
}

void start_resumed(const RunDirectory& run, const ResumedRun& resumed, const Machine& machine,
                   const Places& places) {
    if (read_run_state(run.dir).is_of_slurm())
        throw Error(Failure::Refused, Code("RUN-ELSEWHERE"), "is a job of Slurm", run.name(),
                    "`ringmaster resume " + run.name() + "` in a terminal submits it again");
    require_startable(resumed.plan, machine, places);
    start(run, {resumed.plan.ranks, resumed.attempt, resumed.wish, request_of(run).restarts}, places);
}

}  // namespace ringmaster
