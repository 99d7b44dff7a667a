#include "launcher/resume.h"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>

#include "engine/events/output_claim.h"
#include "launcher/files.h"
#include "launcher/local_node.h"

namespace ringmaster {

Request request_of(const RunDirectory& run) {
    return request_from_json(read_json_file(run.options()), run.options().string());
}

namespace {

/// Where the agent did not come up, nobody else says so in run.json.
void start(const RunDirectory& run, const Attempt& attempt, const Places& places) {
    try {
        start_agent(run, attempt, places);
    } catch (const Error& problem) {
        RunState state = read_run_state(run.dir);
        state.state = RunPhase::Failed;
        state.reason = problem.text();
        state.code = problem.code;
        state.ended = state.updated = static_cast<double>(std::time(nullptr));
        state.writer = this_process();
        write_run_state(run.dir, state);
        throw;
    }
}

std::optional<int64_t> choose_checkpoint(const RunDirectory& run, std::optional<int64_t> asked) {
    const std::vector<int64_t> steps = complete_checkpoints(run);
    if (!asked) return steps.empty() ? std::nullopt : std::optional(steps.back());
    if (std::find(steps.begin(), steps.end(), *asked) != steps.end()) return asked;
    std::string there;
    for (int64_t step : steps) there += (there.empty() ? "" : ", ") + std::to_string(step);
    throw Error(Failure::Usage, Code("RUN-CHECKPOINT"),
                "there is no complete checkpoint of step " + std::to_string(*asked),
                run.checkpoints().string(),
                there.empty() ? "there is none at all: without --checkpoint the run starts from the beginning"
                              : "there are complete ones of step " + there);
}

Request kept_request(const RunDirectory& run, const ResumeOptions& options) {
    Request kept = request_of(run);
    if (options.ranks) kept.ranks = options.ranks;
    if (options.nodes) kept.nodes = options.nodes;
    add_settings(kept, options.set);
    return kept;
}

/// Of the files that the run directory keeps.
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
    const RunState state = read_run_state(run.dir);
    const auto alive = living_process(state);
    if (alive || (!is_over(state.state) && (state.writer.pid != 0 || state.is_of_slurm()))) {
        throw Error(
            Failure::Refused, Code("RUN-ACTIVE"),
            "is " + std::string(to_string(state.state)) + ": only a run that has ended can be resumed",
            run.name(), "`ringmaster watch " + run.name() + "` shows it");
    }
    ResumedRun resumed;
    resumed.attempt = state.attempt + 1;
    resumed.from_step = choose_checkpoint(run, options.checkpoint);
    resumed.plan = read_plan(run.plan().string());
    if (options.ranks || options.nodes || !options.set.empty() || resumed.plan.data.tokens.empty()) {
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
    start(run,
          {resumed.plan.ranks, resumed.attempt,
           resumed.from_step ? std::to_string(*resumed.from_step) : "none", request_of(run).restarts},
          places);
}

}  // namespace ringmaster
