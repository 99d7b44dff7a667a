/// Judges the state of a run and says what to do next. Reports only the most urgent finding.
///
/// The straggler rule: in a synchronous step all ranks wait for the slowest one, so the culprit is the rank
/// that waits least. The score is (longest wait − shortest wait) ÷ step time of the longest-waiting rank, all
/// as medians over the last steps. Below 10 % there is no finding, from 20 % on it is critical. With fewer
/// than 20 steps, or a rank without figures, there is no score.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/events/event.h"
#include "engine/events/run_state.h"
#include "engine/plan/plan.h"
#include "launcher/history/history.h"

namespace ringmaster {

enum class Finding {
    Waiting,           ///< queued or preparing
    Starting,          ///< running; no step has finished yet
    AwaitingRollouts,  ///< the next step's rows have not come into the folder of rollouts
    RunningWell,
    Saving,  ///< exporting the final model
    Stopping,
    NotANumber,  ///< the loss is NaN
    Hanging,     ///< no event for max(60 s, 10 × the median step); 300 s outside training
    MemoryNearlyFull,
    Straggler,
    LossSpike,
    ThroughputDrop,
    HighOverhead,
    Disconnected,  ///< run.json cannot be read, or the host that writes it is silent; the run may be fine
    Completed,
    Gone,  ///< the run has ended, and its files can no longer be read
    Stopped,
    Failed,
};

/// Returns false if no steps are expected to follow now, so that a remaining time would be meaningless.
constexpr bool goes_on(Finding finding) {
    return finding != Finding::Hanging && finding != Finding::AwaitingRollouts &&
           finding != Finding::Disconnected && finding != Finding::Stopping;
}

enum class Urgency { None, Good, Warning, Critical };

struct Diagnosis {
    Finding finding = Finding::Waiting;
    Urgency urgency = Urgency::None;
    std::optional<int> rank = {};      ///< rank that the finding is about
    std::optional<int64_t> step = {};  ///< step at which the problem began, or from which to resume
    bool may_be_earlier = false;  ///< true if the problem may have begun before `step`, the first known step
    double share = 0;             ///< share of the step, of the memory or of the lost throughput
    double seconds = 0;           ///< seconds of silence, or seconds left
    std::string host = {};        ///< host of `rank`
    std::string text = {};        ///< reason of the end, output folder, or phase of a hanging rank
    Reason why = {};              ///< parts of the reason why the run ended; empty if none is known
    std::string code = {};        ///< code of a failed run
    std::optional<Diagnostic> advice = {};  ///< plan diagnostic whose hint says what to do next

    /// Returns true if the run completed with fewer steps than planned; `step` is then its last step.
    bool is_cut_short() const { return finding == Finding::Completed && step.has_value(); }
};

/// A rank's last steps and related facts, taken from a RunHistory.
struct RankEvidence {
    int rank = 0;
    std::string host;
    std::string phase;
    double last_heard = 0;
    std::vector<TimedStep> recent;       ///< last steps of the newest attempt, ascending
    int64_t start_step = 0;              ///< step from which the newest attempt continued
    const StepColumns* steps = nullptr;  ///< all known steps; null: only `recent` is known
};

struct Evidence {
    RunState state;
    std::string problem;  ///< why the run directory cannot be read; empty if it can
    double now = 0;
    std::vector<RankEvidence> ranks;
    std::optional<int64_t> total_steps;
    bool is_done = false;  ///< an event says that a rank completed the run, perhaps sooner by early stopping
    int64_t device_bytes = 0;  ///< memory of one device; 0: unknown
    std::optional<double> planned_overhead;
    std::optional<Diagnostic> layout_advice;  ///< plan diagnostic whose fixes name a better layout
    std::optional<int64_t> checkpoint;        ///< step of the newest complete checkpoint
    std::string error_message;                ///< message of the first error event; empty: none
    std::optional<int> error_rank;
    std::string output_dir;
};

struct Straggler {
    int rank = 0;
    double score = 0;
    int64_t since_step = 0;       ///< first known step of the unbroken stretch in which the rank lagged
    bool may_be_earlier = false;  ///< true if the stretch may have begun earlier
};
/// Returns nullopt if the rule does not apply: one rank, missing figures, or a rank with fewer than 20 steps.
std::optional<Straggler> find_straggler(const std::vector<RankEvidence>& ranks);

/// Returns the silence, in seconds, that counts as a hang: max(60 s, 10 × rank 0's median step).
double hang_seconds(const std::vector<RankEvidence>& ranks);

Diagnosis diagnose(const Evidence& evidence);

/// The diagnosis in English, for a terminal.
struct DiagnosisText {
    std::string verdict, why, next;
};
DiagnosisText text_of(const Diagnosis& diagnosis);

/// Collects the evidence from a run. The evidence points to the history's steps, so the history must outlive
/// it.
Evidence evidence_of(const RunHistory& history, double now);
/// Adds the plan's facts: total steps, memory, overhead, and the finding that names a better layout.
void add_plan(Evidence& evidence, const Plan& plan);

}  // namespace ringmaster
