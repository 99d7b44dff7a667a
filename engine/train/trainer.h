/// Runs the training loop of one rank: trains the plan step by step, with the same losses on every mesh.
#pragma once

#include <ATen/core/Tensor.h>

#include <atomic>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "engine/comm/groups.h"
#include "engine/data/rollouts.h"
#include "engine/data/sampler.h"
#include "engine/data/tokens.h"
#include "engine/events/event_log.h"
#include "engine/optimizers/optimizer.h"
#include "engine/optimizers/schedule.h"
#include "engine/plan/plan.h"
#include "engine/train/checkpoint.h"
#include "engine/train/patience.h"
#include "engine/train/reference.h"
#include "engine/train/rollout_source.h"
#include "engine/train/run_folder.h"
#include "engine/train/training_samples.h"
#include "engine/train/training_step.h"

namespace ringmaster {

enum class TrainingEnd { Completed, Stopped };

class Trainer {
  public:
    /// Maps the data, makes the parameters, and reads or initialises them. Throws Error.
    Trainer(const Plan& plan, const RunFolder& run, Groups& groups, EventWriter& events, at::Device device);

    /// Computes or reads the reference's log-probabilities, if the loss compares with them. Call it before
    /// the weights change. Returns false if some rank has `stop_requested` before all of them are known.
    bool prepare_reference(const std::atomic<bool>& stop_requested);

    /// Resumes from a complete checkpoint as if there had been no interruption.
    void resume(int64_t step);

    /// Trains until the last step, or until some rank has `stop_requested`: then finishes the step and
    /// saves a checkpoint. Throws Error with rank, layer and step if the loss or a gradient is not
    /// finite.
    TrainingEnd train(const std::atomic<bool>& stop_requested);

    int64_t completed_steps() const { return step_; }
    TrainedModel& trained_model() { return trained_; }
    /// Returns the rows that preflight may use: the prepared rows, or the rows that arrive for the next step.
    /// Returns null if rank 0 has `stop_requested` while it waits for rows to arrive.
    const TokenFile* tokens(const std::atomic<bool>& stop_requested);
    Optimizer& optimizer() { return *optimizer_; }
    /// Returns the next rows: at least `count`, or as many as the epoch has left.
    std::vector<int64_t> next_rows(int64_t count) const;
    int64_t total_steps() const { return total_steps_; }

  private:
    std::optional<TrainingStep::Requests> step(const std::atomic<bool>& stop_requested);
    TrainingStep::Requests requests(bool stop_requested) const;
    void finish(const StepRows& rows, StepEvent& event, double wall_s);
    std::optional<std::vector<Row>> rows_of_next_step(const std::atomic<bool>& stop_requested);
    /// Computes the log-probabilities of a step's sampled completions under the weights that the run began
    /// with, if the loss compares with them.
    void compare_with_start(const StepRows& rows);
    bool get_rows(const std::vector<int64_t>& chosen, const char* phase, const std::function<bool()>& stops);
    Sampler sampler_of_stream(int64_t consumed, int64_t steps) const;
    void check_sampler_gap(const StepEvent& event);
    void save_if_new();
    bool update(const TrainingStep::Computed& computed, StepEvent& event);
    [[noreturn]] void report_not_finite(const StepRows& rows, double loss, double norm);
    void evaluate();
    /// Returns the rows for evaluation; sets the plan's micro-batch to theirs.
    StepRows evaluation_rows(Plan& plan) const;
    void evaluate_labels(EvalEvent& event);
    void evaluate_preferences(EvalEvent& event);
    bool computes_reference(ReferenceLogProbs& reference, const Sampler& sampler, int64_t steps,
                            const std::atomic<bool>& stop_requested);
    void take_samples();
    void take_samples(TrainingSamples& samples);
    void take_wanted_samples();
    void note_evaluation(double loss);
    void watch_loss(double loss);
    bool stops_early() const;
    void take_best_model();
    void save();
    void log_step(const StepEvent& event) const;

    const Plan& plan_;
    const Config& config_;
    const ModelConfig& model_;
    const RunFolder& run_;
    Groups& groups_;
    EventWriter& events_;
    const at::Device device_;

    std::unique_ptr<TokenFile> tokens_;       ///< null if the rows come from a folder
    std::unique_ptr<RolloutSource> source_;   ///< null if the rows are prepared
    std::unique_ptr<TokenFile> eval_tokens_;  ///< null if the run does not evaluate
    int64_t rows_per_step_;                   ///< rows, or prompts, per step
    int64_t rows_;                            ///< prepared rows, or rows that will arrive during the run
    Sampler sampler_;
    int64_t steps_per_epoch_;
    int64_t total_steps_;
    Interval saving_;
    Interval evaluation_;

    TrainedModel trained_;
    Parameters& parameters_;  ///< trained_.trained()
    std::unique_ptr<Optimizer> optimizer_;
    TrainingStep training_;
    std::unique_ptr<Rollouts> rollouts_;                             ///< null if the rows are not rollouts
    std::unique_ptr<ReferenceLogProbs> reference_, eval_reference_;  ///< null if the loss has no reference
    /// Copy of the trained values at the start; undefined if rows that arrive during the run do not need it.
    at::Tensor first_values_;
    /// Log-probabilities of the newest step's labels, by place.
    std::map<int64_t, double> sampled_reference_;
    std::unique_ptr<TrainingSamples> samples_;  ///< null if there are no prompts to continue
    Patience patience_;
    int64_t step_ = 0;
    int64_t skipped_steps_ = 0;  ///< number of completed steps without an update
    int64_t saved_step_ = -1;
    /// Peak of memory during the evaluations since the last step; 0 if there were none.
    int64_t evaluation_peak_bytes_ = 0;
    BestModel best_;
    WatchedLoss watched_;
    bool warned_of_gap_ = false;
    bool loss_stays_high_ = false;  ///< true if the watchdog ends the run after the newest step
};

}  // namespace ringmaster
