/// What to think of a run at this moment, and what to do next: one finding, the most urgent there is.
///
/// The straggler rule: in a synchronous step the others wait for the slowest rank, so the culprit is the rank
/// that waits least. score = (longest wait − shortest wait) ÷ the waiting rank's step time, medians over the
/// last steps: below 10 % nothing is said, from 20 % on it is critical; fewer than 20 steps, or a rank
/// without figures, and it is not applicable rather than 0.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "engine/events/event.h"
#include "engine/events/run_state.h"
#include "engine/plan/plan.h"
#include "launcher/follower.h"
#include "launcher/history.h"

namespace ringmaster {

enum class Finding {
    Waiting,   ///< queued or preparing
    Starting,  ///< running, no step yet
    RunningWell,
    Saving,  ///< between steps: a checkpoint, the final model
    Stopping,
    NotANumber,  ///< the loss is no number any more
    Hanging,     ///< no step for max(60 s, 10 × the median)
    MemoryNearlyFull,
    Straggler,
    LossSpike,
    ThroughputDrop,
    HighOverhead,
    Disconnected,  ///< it cannot be read, or its writer elsewhere is silent: nothing is known, nothing failed
    Completed,
    Gone,  ///< It had ended, and its files cannot be read any more.
    Stopped,
    Failed,
};

enum class Urgency { None, Good, Warning, Critical };

struct Diagnosis {
    Finding finding = Finding::Waiting;
    Urgency urgency = Urgency::None;
    std::optional<int> rank = {};           ///< whom it is about
    std::optional<int64_t> step = {};       ///< where it began, or the step to resume from
    double share = 0;                       ///< of a step, of the memory, of the throughput that was lost
    double seconds = 0;                     ///< silence; time left
    std::string host = {};                  ///< the rank's
    std::string text = {};                  ///< the reason of an end, or the last phase of a rank that hangs
    std::optional<Diagnostic> advice = {};  ///< a finding of the plan whose hint is what to do next
};

/// A rank's last steps and what else is needed; of a RunHistory or of a RunFollower.
struct RankEvidence {
    int rank = 0;
    std::string host;
    std::string phase;
    double last_heard = 0;
    std::vector<TimedStep> recent;  ///< ascending, of the newest attempt
};

struct Evidence {
    RunState state;
    std::string problem;  ///< why the run directory cannot be read; empty: it can
    double now = 0;
    std::vector<RankEvidence> ranks;
    std::optional<int64_t> total_steps;
    int64_t device_bytes = 0;  ///< 0: not known
    std::optional<double> planned_overhead;
    std::optional<Diagnostic> layout_advice;  ///< the plan's finding whose fixes name a better layout
    std::optional<int64_t> checkpoint;        ///< the newest complete one
    std::string error_message;                ///< of the first error event; empty: none
    std::optional<int> error_rank;
    std::string output_dir;
};

struct Straggler {
    int rank = 0;
    double score = 0;
    int64_t since_step = 0;  ///< the first of the last steps that shows it
};
/// Empty where the rule cannot be applied: one rank, missing figures, fewer than 20 steps that all have told.
std::optional<Straggler> find_straggler(const std::vector<RankEvidence>& ranks);

/// max(60 s, 10 × the median step) without a step is a hang.
double hang_seconds(const std::vector<RankEvidence>& ranks);

Diagnosis diagnose(const Evidence& evidence);

/// As a person reads it on a terminal, in English.
struct DiagnosisText {
    std::string verdict, why, next;
};
DiagnosisText text_of(const Diagnosis& diagnosis);

Evidence evidence_of(const RunHistory& history, double now);
Evidence evidence_of(const RunFollower& follower, double now);
/// What the plan adds: its total steps, memory, overhead, the better layout among its findings.
void add_plan(Evidence& evidence, const Plan& plan);

}  // namespace ringmaster
