#include "launcher/run/start_record.h"

#include <chrono>
#include <thread>

#include "engine/error.h"
#include "engine/events/event_log.h"

namespace ringmaster {

namespace {

constexpr std::chrono::seconds kLongestWait{10};
constexpr std::chrono::milliseconds kBetweenReads{20};

void record_end(const RunDirectory& run, RunPhase phase, Reason why, const std::string& code = {}) {
    RunState state = read_run_state(run.dir);
    state.state = phase;
    give_reason(state, std::move(why));
    state.code = code;
    state.ended = state.updated = unix_now();
    state.writer = this_process();
    write_run_state(run.dir, state);
}

}  // namespace

bool is_active(const RunState& state) {
    return living_process(state) || (!is_over(state.state) && (state.writer.pid != 0 || state.is_of_slurm()));
}

RunState state_after_processes_end(const RunDirectory& run, const Progress& progress) {
    const auto latest = std::chrono::steady_clock::now() + kLongestWait;
    RunState state = read_run_state(run.dir);
    while (is_over(state.state) && living_process(state) && std::chrono::steady_clock::now() < latest) {
        progress.stop_if_cancelled();
        std::this_thread::sleep_for(kBetweenReads);
        state = read_run_state(run.dir);
    }
    return state;
}

void refuse_to_resume(const RunDirectory& run, RunPhase phase) {
    throw Error(Failure::Refused, Code("RUN-ACTIVE"),
                "is " + std::string(to_string(phase)) + ": only a run that has ended can be resumed",
                run.name(), "`ringmaster watch " + run.name() + "` shows it");
}

void record_failed_start(const RunDirectory& run, const std::function<void()>& work) {
    try {
        work();
    } catch (const Cancelled&) {
        record_end(run, RunPhase::Stopped, {{"interrupted"}});
        throw;
    } catch (const Error& problem) {
        record_end(run, RunPhase::Failed, {{"text", {problem.text()}}}, problem.code);
        throw;
    }
}

void record_running(const RunDirectory& run, int attempt, int ranks) {
    RunState state = read_run_state(run.dir);
    state.state = RunPhase::Running;
    state.reason.clear();
    state.attempt = attempt;
    state.ranks = ranks;
    state.started = state.updated = unix_now();
    state.ended = 0;
    state.writer = {};
    state.nodes.clear();
    write_run_state(run.dir, state);
}

}  // namespace ringmaster
