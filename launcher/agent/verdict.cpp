#include "launcher/agent/verdict.h"

#include <sys/wait.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <string_view>
#include <tuple>

#include "engine/error.h"
#include "engine/events/library_words.h"
#include "engine/exit_status.h"
#include "launcher/agent/stop_clock.h"

namespace ringmaster {

namespace {

std::string joined(const std::vector<std::string>& lines, const std::string& before_each) {
    std::string text;
    for (const std::string& line : lines) text += before_each + line;
    return text;
}

/// Returns why the rank failed, as a constant of namespace cause. The rank's error event names the cause; for
/// a rank that died without such an event, the log decides.
std::string_view cause_of(const RankRecord& record) {
    if (!record.error) return cause_in(joined(record.last_log_lines, "\n"));
    return record.error->code == "ENGINE-MEMORY" ? cause::kMemory : std::string_view(record.error->cause);
}

bool lost_a_peer(const RankEnd& end) {
    return cause_of(end.record) == cause::kPeerLost;
}

bool ran_out_of_memory(const RankEnd& end, const Ending& ending) {
    if (WIFSIGNALED(end.wait_status) && WTERMSIG(end.wait_status) == SIGKILL)
        return ending.kernel_killed_for_memory;
    return cause_of(end.record) == cause::kMemory;
}

Reason& operator+=(Reason& reason, const Reason& more) {
    reason.insert(reason.end(), more.begin(), more.end());
    return reason;
}

ReasonPart how_it_ended(const RankEnd& end) {
    const std::string rank = std::to_string(end.rank);
    if (!WIFSIGNALED(end.wait_status))
        return {"rank-status", {rank, std::to_string(WEXITSTATUS(end.wait_status))}};
    const int signal = WTERMSIG(end.wait_status);
    return {"rank-signal", {rank, std::to_string(signal), ::strsignal(signal)}};
}

Reason end_of_log(const RankRecord& record) {
    if (record.last_log_lines.empty()) return {};
    return {{"log-end", {joined(record.last_log_lines, "\n  ")}}};
}

Reason sentence_of(const RankEnd& end, const Ending& ending) {
    Reason why{how_it_ended(end)};
    const auto& error = end.record.error;
    const bool memory = ran_out_of_memory(end, ending);
    if (memory && !(error && cause_of(end.record) == cause::kMemory)) why.push_back({"out-of-memory"});
    if (error) {
        why.push_back({"error", {(error->where.empty() ? "" : error->where + ": ") + error->message}});
        return why;
    }
    if (!memory && ending.disk_full) why.push_back({"disk-full"});
    why += end_of_log(end.record);
    return why;
}

/// Returns the failure's code, for programs: the code in the rank's error event, or else one derived from how
/// the rank ended.
std::string code_of(const RankEnd& end, const Ending& ending) {
    if (end.record.error && !end.record.error->code.empty()) return end.record.error->code;
    if (ran_out_of_memory(end, ending)) return "ENGINE-MEMORY";
    if (WIFSIGNALED(end.wait_status)) return "RANK-KILLED";
    return could_not_start(WEXITSTATUS(end.wait_status)) ? "PROGRAM-START" : "RANK-FAILED";
}

const RankEnd& root_cause(const std::vector<const RankEnd*>& failed) {
    auto order = [](const RankEnd* end) {
        // A library may abort after it lost a peer; other signals come from outside or from the rank's own
        // fault.
        const bool by_itself = !WIFSIGNALED(end->wait_status) || WTERMSIG(end->wait_status) == SIGABRT;
        return std::tuple(lost_a_peer(*end), by_itself, end->record.error ? end->record.error_t : end->t);
    };
    return **std::min_element(failed.begin(), failed.end(),
                              [&](auto* a, auto* b) { return order(a) < order(b); });
}

std::vector<const RankEnd*> failed_ranks(const Ending& ending) {
    std::vector<const RankEnd*> failed;
    for (const RankEnd& end : ending.ranks) {
        if (!end.killed_by_us && has_failed(end.wait_status, ending.stop_requested)) failed.push_back(&end);
    }
    return failed;
}

/// Returns text such as "; the last checkpoint is of step 10".
Reason what_is_saved(const RankRecord& record) {
    const int64_t step = record.checkpoint ? record.checkpoint->step : record.start_step;
    if (step == 0) return {{"no-checkpoint"}};
    return {{"last-checkpoint", {std::to_string(step)}}};
}

/// Appends a rank's place to `reason`, introduced by the part `code`.
void add_place(Reason& reason, const char* code, const RankEnd& end) {
    reason.push_back({code, {std::to_string(end.rank)}});
    reason += end.place;
}

/// Returns "; rank 2 is at work in layer 12, hop 4 (…)" for ranks that kept others waiting, at most four.
Reason ranks_at_work(const Ending& ending) {
    constexpr int kNamed = 4;
    Reason ranks;
    int named = 0;
    for (const RankEnd& end : ending.ranks) {
        if (end.waits || end.place.empty() || !end.killed_by_us || named++ >= kNamed) continue;
        add_place(ranks, "rank-kept-waiting", end);
    }
    return ranks;
}

/// Returns one line for each rank whose last place is known, among the first 64 ranks.
Reason all_places(const Ending& ending) {
    constexpr size_t kLines = 64;
    Reason lines;
    for (size_t i = 0; i < ending.ranks.size() && i < kLines; ++i)
        if (!ending.ranks[i].place.empty()) add_place(lines, "place-of-rank", ending.ranks[i]);
    return lines;
}

/// Returns the verdict of a run that a stop request ended before it could report its end: says its last step,
/// and what is saved. `how` is "stopped" or "stopped-now".
RunVerdict stopped_unsaved(const std::string& how, const RankRecord& record) {
    const int64_t step = record.step.value_or(record.start_step);
    const int64_t saved = record.checkpoint ? record.checkpoint->step : record.start_step;
    Reason why;
    if (step == 0) {
        why.push_back({how + "-begin"});
    } else {
        why.push_back({how + "-after", {std::to_string(step)}});
        why.push_back({saved == step ? "is-saved" : "is-not-saved"});
    }
    if (step == 0 || saved != step) why += what_is_saved(record);
    return {RunPhase::Stopped, std::move(why)};
}

RunVerdict ended_well(const RankRecord& first) {
    if (!first.done) {
        Reason why{{"not-done"}};
        why += end_of_log(first);
        return {RunPhase::Failed, std::move(why), "RANK-FAILED"};
    }
    const std::string step = std::to_string(first.done->step);
    if (first.done->state == "completed") return {RunPhase::Completed, {{"completed-after", {step}}}};
    Reason why{{"stopped-after", {step}}};
    if (first.checkpoint && first.checkpoint->step == first.done->step)
        why.push_back({"saved-in", {first.checkpoint->path}});
    return {RunPhase::Stopped, std::move(why)};
}

Reason unkillable_ranks(const Ending& ending) {
    Reason ranks;
    for (const RankEnd& end : ending.ranks)
        if (end.unkillable) ranks.push_back({"rank-unkillable", {std::to_string(end.rank)}});
    return ranks;
}

RunVerdict judge_ranks(const Ending& ending) {
    const RankRecord& first = ending.ranks.front().record;
    if (ending.trigger == Trigger::StopNow && first.done) return ended_well(first);
    if (ending.trigger == Trigger::StopNow) return stopped_unsaved("stopped-now", first);
    if (ending.trigger == Trigger::StopTooEarly) return stopped_unsaved("stopped", first);
    for (const RankEnd& end : ending.ranks) {
        if (end.stopped.empty()) continue;
        Reason why{stopped_part(end), {"and-it"}};
        why += end.place;
        why += what_is_saved(first);
        why += all_places(ending);
        return {RunPhase::Failed, std::move(why), "RANK-STOPPED", end.rank};
    }
    const std::vector<const RankEnd*> failed = failed_ranks(ending);
    if (ending.lost_node && (failed.empty() || lost_a_peer(root_cause(failed)))) {
        Reason why{*ending.lost_node};
        why += what_is_saved(first);
        return {RunPhase::Failed, std::move(why), "NODE-LOST"};
    }
    if (failed.empty()) return ended_well(first);
    const RankEnd& end = root_cause(failed);
    Reason why = sentence_of(end, ending);
    if (cause_of(end.record) == cause::kTimeout) {
        why += ranks_at_work(ending);
        why += all_places(ending);
    }
    return {RunPhase::Failed, std::move(why), code_of(end, ending), end.rank};
}

}  // namespace

ReasonPart stopped_part(const RankEnd& end) {
    return {"rank-stopped",
            {std::to_string(end.rank), end.stopped, std::to_string(StopClock::kPatience.count())}};
}

bool has_failed(int wait_status, bool stop_requested) {
    if (stop_requested && WIFSIGNALED(wait_status) && WTERMSIG(wait_status) == SIGTERM) return false;
    return wait_status != 0;
}

RunVerdict judge(const Ending& ending) {
    RunVerdict verdict = judge_ranks(ending);
    verdict.why += unkillable_ranks(ending);
    return verdict;
}

}  // namespace ringmaster
