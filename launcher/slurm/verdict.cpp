#include "launcher/slurm/verdict.h"

#include <algorithm>
#include <iterator>
#include <set>
#include <sstream>
#include <vector>

#include "engine/error.h"
#include "engine/events/event_log.h"
#include "engine/exit_status.h"
#include "launcher/run/recorded_run.h"
#include "launcher/slurm/script.h"

namespace ringmaster {

namespace fs = std::filesystem;

namespace {

constexpr int64_t kTailBytes = 256 << 10;
constexpr size_t kShownLog = 600;
constexpr int kCannotOpenOutput = 53;  ///< Slurm's signal number for a job whose output file cannot be opened

std::string end_of(std::string text) {
    while (!text.empty() && (text.back() == '\n' || text.back() == ' ')) text.pop_back();
    while (!text.empty() && text.front() == '\n') text.erase(0, 1);
    return text.size() > kShownLog ? "…" + text.substr(text.size() - kShownLog) : text;
}

/// One of srun's lines "srun: error: n3: task 1: Killed".
struct TaskEnd {
    std::string node, rank, how;

    bool exited() const { return how.find("Exited with exit code") != std::string::npos; }
    std::string text() const { return "rank " + rank + " on " + node + ": " + how; }
};

std::vector<TaskEnd> task_ends_in(const std::string& log) {
    constexpr std::string_view kHead = "srun: error: ", kTask = ": task ";
    std::vector<TaskEnd> ends;
    std::istringstream lines(log);
    for (std::string line; std::getline(lines, line);) {
        const size_t head = line.find(kHead), node = head + kHead.size();
        const size_t task = head == std::string::npos ? head : line.find(kTask, node);
        const size_t rank = task + kTask.size();
        const size_t how = task == std::string::npos ? task : line.find(": ", rank);
        if (how == std::string::npos) continue;
        ends.push_back({line.substr(node, task - node), line.substr(rank, how - rank), line.substr(how + 2)});
    }
    return ends;
}

/// Returns the rank that was killed from outside; empty if there is none. srun's first line names that rank,
/// unless another rank exits before srun has noticed the kill. In that case all errors are transfer errors,
/// and only the killed rank has reported none. If several ranks have reported none, srun itself has killed
/// some of them.
std::string lost_rank_of(const std::string& log, const std::string& first_error,
                         const std::set<std::string>& told) {
    const std::vector<TaskEnd> ends = task_ends_in(log);
    if (!ends.empty() && !ends[0].exited()) return ends[0].text();
    std::vector<TaskEnd> silent;
    std::copy_if(ends.begin(), ends.end(), std::back_inserter(silent),
                 [&](const TaskEnd& end) { return !end.exited() && !told.contains(end.rank); });
    return first_error == "RANKS-TRANSFER" && silent.size() == 1 ? silent[0].text() : "";
}

struct Ending {
    RunPhase phase = RunPhase::Failed;
    Reason why;
    std::string code = {};
};

ReasonPart saved(const RunTraces& traces) {
    if (!traces.checkpoint) return {"nothing-saved"};
    return {"newest-checkpoint", {std::to_string(*traces.checkpoint)}};
}

ReasonPart plain(const std::string& text) {
    return {"text", {text}};
}

Ending ending_of(const JobStatus& status, const std::string& job, const RunTraces& traces) {
    const std::string nodes = status.nodes.empty() ? "" : " (" + status.nodes + ")";
    const std::string& state = status.state;
    if (state == "TIMEOUT" || state == "DEADLINE")
        return {RunPhase::Failed, {{"slurm-time", {job}}, saved(traces), {"slurm-time-next"}}, "SLURM-TIME"};
    if (state == "OUT_OF_MEMORY")
        return {RunPhase::Failed,
                {{"slurm-memory", {job}}, saved(traces), {"slurm-memory-next"}},
                "SLURM-MEMORY"};
    if (state == "NODE_FAIL" || state == "BOOT_FAIL")
        return {RunPhase::Failed,
                {{"slurm-node", {job, nodes}}, saved(traces), {"slurm-node-next"}},
                "SLURM-NODE"};
    if (state == "PREEMPTED" || state == "REVOKED")
        return {RunPhase::Failed,
                {{"slurm-preempted", {job, nodes}}, saved(traces), {"resume-next"}},
                "SLURM-PREEMPTED"};
    if (state == "CANCELLED") return {RunPhase::Stopped, {{"slurm-cancelled", {job}}, saved(traces)}};
    if (status.exit_signal == kCannotOpenOutput)
        return {RunPhase::Failed, {{"slurm-output", {job, nodes}}, {"slurm-output-next"}}, "SLURM-OUTPUT"};
    if (!traces.lost_rank.empty()) return {RunPhase::Failed, {plain(traces.lost_rank)}, "RANK-FAILED"};
    if (!traces.error.empty()) return {RunPhase::Failed, {plain(traces.error)}, traces.error_code};
    const ReasonPart said = plain(traces.last_words.empty() ? "" : ":\n" + traces.last_words);
    if (state == "FAILED") {
        Reason why{{"slurm-status", {job, std::to_string(status.exit_status)}}};
        if (status.exit_signal != 0) why.push_back({"slurm-signal", {std::to_string(status.exit_signal)}});
        why.push_back(said);
        return {RunPhase::Failed, std::move(why),
                could_not_start(status.exit_status) ? "PROGRAM-START" : "RANK-FAILED"};
    }
    if (state.empty())
        return {RunPhase::Failed, {{"slurm-lost", {job}}, saved(traces), {"resume-next"}}, "SLURM-LOST"};
    return {RunPhase::Failed, {{"slurm-silent", {job, state}}, said}, "SLURM-LOST"};
}

/// Returns true if Slurm knows more about the end than the run, which has recorded its end itself.
bool knows_better(const std::string& state) {
    return state == "TIMEOUT" || state == "OUT_OF_MEMORY" || state == "NODE_FAIL" || state == "PREEMPTED";
}

RunState ended(const RunState& before, const Ending& ending) {
    RunState after = before;
    after.state = ending.phase;
    give_reason(after, ending.why);
    after.code = ending.code;
    after.updated = unix_now();
    if (!is_over(before.state)) after.ended = after.updated;
    return after;
}

std::optional<RunState> judge_waiting(const RunState& before, const JobStatus& status, const std::string& job,
                                      const RunTraces& traces) {
    const bool went_on = before.state == RunPhase::Queued || before.state == RunPhase::Completed;
    if (went_on || traces.stop_asked) return std::nullopt;
    RunState after = before;
    after.state = RunPhase::Queued;
    const std::string reason = status.reason.empty() ? "" : " (" + status.reason + ")";
    give_reason(after, {{traces.preempted ? "slurm-preempted-requeued" : "slurm-requeued", {job}},
                        plain(reason),
                        saved(traces)});
    after.ended = 0;
    after.updated = unix_now();
    after.nodes.clear();
    return after;
}

}  // namespace

RunTraces traces_of(const RunDirectory& run, const RunState& state, const std::string& job_log) {
    RunTraces traces;
    double first_error = 0;
    std::set<std::string> told;  // ranks with an error
    for (int rank = 0; rank < std::max(1, state.ranks); ++rank) {
        for (const EventLine& line : last_events(run, rank, kTailBytes)) {
            if (const auto* saved = std::get_if<CheckpointEvent>(&line.event))
                traces.checkpoint = std::max(traces.checkpoint.value_or(0), saved->step);
            const auto* error = std::get_if<ErrorEvent>(&line.event);
            if (error == nullptr || line.t < state.started) continue;
            told.insert(std::to_string(rank));
            if (!traces.error.empty() && line.t >= first_error) continue;
            first_error = line.t;
            traces.error = "rank " + std::to_string(rank) + ": " +
                           (error->where.empty() ? "" : error->where + ": ") + error->message;
            traces.error_code = error->code;
        }
    }
    const std::vector<int64_t> complete = complete_checkpoints(run);
    if (!complete.empty()) traces.checkpoint = complete.back();
    const std::string said = since_last_start(job_log);
    traces.last_words = end_of(said);
    traces.lost_rank = lost_rank_of(said, traces.error_code, told);
    traces.preempted = parse_job_log(job_log).state == "PREEMPTED";
    return traces;
}

std::optional<RunState> judge(const RunState& before, const JobStatus& status, const JobId& id,
                              const RunTraces& traces) {
    const std::string& job = id.number;
    if (status.waits()) return judge_waiting(before, status, job, traces);
    if (!status.is_over()) return std::nullopt;
    if (before.state == RunPhase::Completed) return std::nullopt;
    if (is_over(before.state)) {
        if (traces.stop_asked) return std::nullopt;
        if (before.state == RunPhase::Stopped && traces.preempted)  // preempted and not requeued
            return ended(before, ending_of({"PREEMPTED", "", status.nodes}, job, traces));
        if (before.state == RunPhase::Failed && !knows_better(status.state) && !traces.lost_rank.empty())
            return ended(
                before,
                {RunPhase::Failed, {plain(traces.lost_rank), plain("\n" + before.reason)}, "RANK-FAILED"});
        if (!knows_better(status.state)) return std::nullopt;
        Ending ending = ending_of(status, job, traces);
        const bool saved_in_time = before.state == RunPhase::Stopped && status.state == "TIMEOUT";
        if (saved_in_time) ending.phase = RunPhase::Stopped;
        return ended(before, ending);
    }
    if (traces.stop_asked) return ended(before, {RunPhase::Stopped, {{"stopped"}, saved(traces)}});
    if (before.state == RunPhase::Queued && !before.reason.empty() && status.state == "COMPLETED")
        return ended(before, {RunPhase::Stopped, {{"slurm-not-requeued", {job}}, saved(traces)}});
    return ended(before, ending_of(status, job, traces));
}

}  // namespace ringmaster
