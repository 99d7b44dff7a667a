#include "engine/train/trainer.h"

#include <ATen/ATen.h>

#include <chrono>
#include <cmath>
#include <cstdio>
#include <limits>
#include <numeric>
#include <utility>

#include "engine/config/offloading.h"
#include "engine/config/policy.h"
#include "engine/data/batch.h"
#include "engine/error.h"
#include "engine/model/host_arena.h"
#include "engine/model/saved_modules.h"
#include "engine/piece_sizes.h"
#include "engine/train/not_finite.h"
#include "engine/train/run_log.h"
#include "engine/train/tensor_memory.h"

namespace ringmaster {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

Sharding sharding_of(const Plan& plan, const Groups& groups) {
    Sharding sharding;
    if (plan.zero_stage > 0) sharding = {plan.zero_stage, groups};
    sharding.states_in_host = states_in_host(plan.config);
    sharding.weights_in_host = plan.config.parameter_offloading;
    return sharding;
}

Sampler sampler_of(const Plan& plan, const TokenFile* tokens, int64_t rows, int64_t rows_per_step) {
    const Config& config = plan.config;
    if (!config.group_by_length || !tokens)
        return {rows, rows_per_step, config.seed, config.curriculum_sampling};
    std::vector<int64_t> lengths;
    for (int64_t row = 0; row < rows; ++row) lengths.push_back(tokens->tokens_of(row));
    return {std::move(lengths), rows_per_step, config.seed};
}

std::unique_ptr<TokenFile> prepared_rows(const std::string& path) {
    return path.empty() ? nullptr : std::make_unique<TokenFile>(path);
}

/// Returns how many rows the run has: the prepared rows, or those that arrive during all of its steps.
int64_t rows_of_run(const Config& config, const TokenFile* tokens, int64_t rows_per_step) {
    return tokens ? tokens->rows() : config.max_steps.value_or(1) * rows_per_step;
}

/// Returns the number by which training divides the model's logits.
double logits_divided_by(const Config& config) {
    return config.policy ? config.policy->temperature : 1;
}

std::filesystem::path checkpoint_request(const Config& config) {
    return std::filesystem::path(config.output_dir) / "axolotl_checkpoint.save";
}

/// Exchanges the values of two flat tensors, with little extra memory.
void swap_values(const at::Tensor& one, const at::Tensor& other) {
    for (int64_t begin = 0; begin < one.size(0); begin += pieces::kStatesOnTheirWay) {
        const int64_t count = std::min(pieces::kStatesOnTheirWay, one.size(0) - begin);
        const at::Tensor kept = one.narrow(0, begin, count).clone();
        one.narrow(0, begin, count).copy_(other.narrow(0, begin, count));
        other.narrow(0, begin, count).copy_(kept);
    }
}

}  // namespace

Trainer::Trainer(const Plan& plan, const RunFolder& run, Groups& groups, EventWriter& events,
                 at::Device device)
    : plan_(plan),
      config_(plan.config),
      model_(*plan.model),
      run_(run),
      groups_(groups),
      events_(events),
      device_(device),
      tokens_(prepared_rows(plan.data.tokens)),
      source_(RolloutSource::of_run(run.dir, plan, groups)),
      eval_tokens_(prepared_rows(plan.data.eval_tokens)),
      rows_per_step_(source_ ? source_->rows_per_step() : plan.batch.global),
      rows_(rows_of_run(config_, tokens_.get(), rows_per_step_)),
      sampler_(sampler_of(plan, tokens_.get(), rows_, rows_per_step_)),
      steps_per_epoch_((rows_ + rows_per_step_ - 1) / rows_per_step_),
      total_steps_(config_.max_steps ? *config_.max_steps
                                     : static_cast<int64_t>(std::ceil(
                                           config_.num_epochs * static_cast<double>(steps_per_epoch_)))),
      saving_(saving_of(config_, total_steps_, steps_per_epoch_)),
      evaluation_(evaluation_of(config_, total_steps_, steps_per_epoch_)),
      trained_(model_, config_.lora, config_.precision, device, sharding_of(plan, groups),
               config_.quantization),
      parameters_(trained_.trained()),
      optimizer_(make_optimizer(parameters_, config_, total_steps_)),
      training_(plan, groups, trained_, *optimizer_, what_is_kept(plan)),
      samples_(TrainingSamples::of_run(run.dir, model_, logits_divided_by(config_))),
      patience_(config_) {
    if (groups.rank() == 0) {
        training_.pass().on_layout([this](RingAttnFunc func) {
            log_line("layout from step " + std::to_string(step_ + 1) + " on: " + to_string(func));
        });
    }
    if (groups.rank() == 0) {
        const int64_t longest = config_.sequence_len * sequences_per_row(config_);
        for (const TokenFile* tokens : {tokens_.get(), eval_tokens_.get()}) {
            if (tokens == nullptr) continue;
            tokens->check(model_.vocab_size, model_.head_rows(), longest);
            tokens->check_preferences(config_.preference, config_.sequence_len);
        }
        if (source_) source_->check(tokens_.get());
    }
    if (config_.reinit_weights) {
        trained_.initialize_weights(model_, config_.seed);
    } else {
        trained_.load_weights(config_.model_dir, model_, config_.seed);
    }
    if (trained_.adapter && config_.lora.model_dir.empty()) {
        initialize_adapter(trained_, model_, config_.seed);
    } else if (trained_.adapter) {
        parameters_.load(config_.lora.model_dir);
    }
    if (!source_ || !has_reference(config_)) return;
    const at::Tensor& values = parameters_.master().values;
    first_values_ = lies_in_host(values) ? host_zeros(values.sizes(), values.scalar_type(), device)
                                         : at::empty_like(values);
    first_values_.copy_(values);
}

bool Trainer::prepare_reference(const std::atomic<bool>& stop_requested) {
    if (config_.policy && !source_) rollouts_ = std::make_unique<Rollouts>(plan_.data.tokens);
    PreferenceFacts facts;
    if (source_) {
        facts.advantage = [this](int64_t place) { return source_->rollouts().advantage(place); };
        facts.old_log_p = [this](int64_t place) { return source_->rollouts().old_log_p(place); };
        if (config_.sampling && config_.sampling->server && config_.sampling->server->corrects)
            facts.sampled_log_p = [this](int64_t place) { return source_->rollouts().sampled_log_p(place); };
        facts.reference = [this](const DocumentKey& key) { return sampled_reference_.at(key.first); };
    }
    if (rollouts_) {
        facts.advantage = [this](int64_t place) { return rollouts_->advantage(place); };
        facts.old_log_p = [this](int64_t place) { return rollouts_->old_log_p(place); };
    }
    training_.set_facts(facts);
    if (!has_reference(config_) || source_) return true;
    reference_ = std::make_unique<ReferenceLogProbs>(plan_, groups_, *tokens_, run_.reference("train"));
    facts.reference = reference_->facts().reference;
    facts.is_desirable = reference_->facts().is_desirable;
    training_.set_facts(facts);
    if (!computes_reference(*reference_, sampler_, total_steps_, stop_requested)) return false;
    if (!eval_tokens_) return true;
    eval_reference_ =
        std::make_unique<ReferenceLogProbs>(plan_, groups_, *eval_tokens_, run_.reference("eval"));
    const Sampler all(eval_tokens_->rows(), eval_tokens_->rows(), 0, true);
    return computes_reference(*eval_reference_, all, 1, stop_requested);
}

bool Trainer::computes_reference(ReferenceLogProbs& reference, const Sampler& sampler, int64_t steps,
                                 const std::atomic<bool>& stop_requested) {
    groups_.progress().begin(Activity::Evaluating, step_);
    return reference.compute(
        training_.pass(), sampler, steps, [&] { return stop_requested.load(); },
        [&](int64_t done, int64_t total) {
            const auto hundredths = [total](int64_t part) { return total > 0 ? 100 * part / total : 0; };
            if (groups_.rank() == 0 && (done == 0 || hundredths(done) != hundredths(done - 1)))
                events_.write(PhaseEvent{"reference", done, total});
        });
}

void Trainer::resume(int64_t step) {
    const std::filesystem::path dir = run_.checkpoint(step);
    const TrainerState state = load_checkpoint(dir, parameters_, *optimizer_);
    if (tokens_ && state.rows != rows_) {
        throw Error(Failure::Refused, Code("RUN-CHECKPOINT"),
                    "was saved over " + std::to_string(state.rows) + " rows, the data has " +
                        std::to_string(rows_) + " now",
                    dir.string(), "resume with the data that the run was started with, or launch a new run");
    }
    step_ = state.step;
    skipped_steps_ = state.skipped_steps;
    training_.loss_scale() = state.loss_scale;
    best_ = state.best;
    watched_ = state.watched;
    saved_step_ = step_;
    if (!tokens_) sampler_ = sampler_of_stream(state.consumed_rows, total_steps_ - step_);
    sampler_.seek(state.consumed_rows);
}

/// Returns a sampler for rows that arrive during the run, in their order: the rows used so far, and the rows
/// of `steps` more steps. Earlier steps may have had another number of rows.
Sampler Trainer::sampler_of_stream(int64_t consumed, int64_t steps) const {
    return {consumed + std::max<int64_t>(1, steps) * rows_per_step_, rows_per_step_, config_.seed, true};
}

TrainingEnd Trainer::train(const std::atomic<bool>& stop_requested) {
    while (step_ < total_steps_) {
        const std::optional<TrainingStep::Requests> agreed = step(stop_requested);
        if (!agreed) {
            save_if_new();
            return TrainingEnd::Stopped;
        }
        const bool epoch_ended = sampler_.ends_epoch();
        if (evaluation_.is_due(step_, epoch_ended)) {
            if (eval_tokens_) evaluate();
            take_samples();
        }
        if (agreed->sample) take_wanted_samples();
        const bool is_best = config_.save_strategy == "best" && best_.step == step_;
        if (agreed->save || is_best || saving_.is_due(step_, epoch_ended)) save();
        if (stops_early() || loss_stays_high_) break;
        if (agreed->stop && step_ < total_steps_) {
            save_if_new();
            return TrainingEnd::Stopped;
        }
    }
    take_best_model();
    take_samples();
    return TrainingEnd::Completed;
}

/// Returns whether to stop early, as transformers' EarlyStoppingCallback does with a threshold of 0.
bool Trainer::stops_early() const {
    return config_.early_stopping_patience && best_.waited >= *config_.early_stopping_patience;
}

void Trainer::watch_loss(double loss) {
    loss_stays_high_ = loss_stays_high(config_, step_, loss, watched_);
    if (!loss_stays_high_ || groups_.rank() != 0) return;
    log_line("the run ends here: its loss was above loss_watchdog_threshold for " +
             std::to_string(watched_.high) + " steps in a row");
}

void Trainer::note_evaluation(double loss) {
    constexpr double kNone = std::numeric_limits<double>::max();  // a first loss of NaN is never the best
    const bool is_first = !best_.loss;
    best_.loss = best_.loss.value_or(kNone);
    const bool is_better = loss < *best_.loss;
    best_.waited = is_first || is_better ? 0 : best_.waited + 1;
    if (!is_better) return;
    best_.loss = loss;
    best_.step = step_;
}

/// Loads the best checkpoint's weights as the run's result.
void Trainer::take_best_model() {
    if (!config_.load_best_model_at_end || best_.checkpoint == 0 || best_.step == step_) return;
    load_checkpoint(run_.checkpoint(best_.checkpoint), parameters_, *optimizer_);
    if (groups_.rank() == 0)
        log_line("the result is the checkpoint of step " + std::to_string(best_.checkpoint) +
                 ", with the lowest loss of an evaluation");
}

/// Saves the newest completed step if no checkpoint holds it.
void Trainer::save_if_new() {
    if (step_ > 0 && saved_step_ != step_) save();
}

/// Gets the next step's rows from the source, in the run's phase `phase`. Returns false if the run has to
/// stop and rank 0 therefore stops waiting for rows.
bool Trainer::get_rows(const std::vector<int64_t>& chosen, const char* phase,
                       const std::function<bool()>& stops) {
    // The other ranks wait while rank 0 waits for a server, a folder or reward functions.
    groups_.set_timeout(std::max(patience_.elsewhere(), source_->patience() + patience_.in_steps()));
    bool waited = false;
    Policy policy{training_.pass().decoder(), trained_.weights.compute_dtype(),
                  trained_.weights.stage() >= 3};
    policy.write = [this](const std::filesystem::path& folder) {
        write_policy(plan_, parameters_, groups_.rank(), folder);
        groups_.world().barrier();
    };
    policy.warn = [this](const std::string& text) {
        log_event(events_, WarningEvent{text, source_->place()});
    };
    policy.waits = [&](int64_t seconds, int64_t allowed) {
        if (!waited) log_line("waiting for rollouts in " + source_->place());
        waited = true;
        events_.write(PhaseEvent{"rollouts", seconds, allowed});
    };
    policy.stops = stops;
    const bool has_rows = source_->next(step_ + 1, tokens_.get(), chosen, policy);
    if (waited) events_.write(PhaseEvent{phase, step_, total_steps_});
    groups_.set_timeout(patience_.in_steps());
    return has_rows;
}

/// Returns the next step's rows, or none if the run has to stop without them. If the rows cannot be obtained,
/// saves what has been trained before it throws.
std::optional<std::vector<Row>> Trainer::rows_of_next_step(const std::atomic<bool>& stop_requested) {
    const int64_t before = sampler_.consumed();
    const std::vector<int64_t> chosen = sampler_.next_step();
    if (!source_) return sequences_of(config_, rows_of(*tokens_, chosen));
    try {
        if (get_rows(chosen, "train", [&] { return stop_requested.load(); }))
            return rows_of(source_->tokens(), source_->rows());
    } catch (const MissingRollouts&) {
        sampler_.seek(before);
        save_if_new();
        throw;
    }
    sampler_.seek(before);
    return std::nullopt;
}

/// Warns once if the log-probabilities of the server's sampler are far from the run's.
void Trainer::check_sampler_gap(const StepEvent& event) {
    constexpr double kLarge = 0.3;  // rounding to 16 bits causes a few hundredths
    if (warned_of_gap_ || groups_.rank() != 0 || event.preference.sampler_gap.value_or(0) <= kLarge) return;
    warned_of_gap_ = true;
    const std::string text =
        "the log-probabilities of the server differ from the run's by " +
        std::to_string(*event.preference.sampler_gap) +
        " on average: it may hold other weights, or give them before the temperature (vLLM "
        "needs --logprobs-mode processed_logprobs)";
    log_event(events_, WarningEvent{text, source_->place()});
}

const TokenFile* Trainer::tokens(const std::atomic<bool>& stop_requested) {
    if (!source_) return tokens_.get();
    Sampler next = sampler_;
    if (!get_rows(next.next_step(), "preflight", [&] { return stop_requested.load(); })) return nullptr;
    return &source_->tokens();
}

std::vector<int64_t> Trainer::next_rows(int64_t count) const {
    if (source_) return source_->rows();
    Sampler sampler = sampler_;
    std::vector<int64_t> rows = sampler.next_step();
    while (static_cast<int64_t>(rows.size()) < count && !sampler.ends_epoch()) {
        const std::vector<int64_t> more = sampler.next_step();
        rows.insert(rows.end(), more.begin(), more.end());
    }
    return rows;
}

void Trainer::compare_with_start(const StepRows& rows) {
    if (!first_values_.defined()) return;
    const auto exchange = [&] {
        swap_values(parameters_.master().values, first_values_);
        parameters_.share_update();
    };
    exchange();
    sampled_reference_ = label_log_probs(groups_, training_.pass(), rows);
    exchange();
}

TrainingStep::Requests Trainer::requests(bool stop_requested) const {
    const bool may_ask = groups_.rank() == 0;
    return {stop_requested, may_ask && std::filesystem::exists(checkpoint_request(config_)),
            may_ask && samples_are_wanted(run_.dir)};
}

std::optional<TrainingStep::Requests> Trainer::step(const std::atomic<bool>& stop_requested) {
    reset_peak(device_);
    reset_host_peak();
    groups_.take_totals();
    const Clock::time_point start = Clock::now();
    groups_.progress().begin(Activity::Training, step_ + 1);
    StepEvent event;
    if (trained_.adapter) trained_.adapter->begin_step(config_.seed, step_ + 1);
    training_.pass().begin_step(config_.seed, step_ + 1);
    const std::optional<std::vector<Row>> read = rows_of_next_step(stop_requested);
    if (!read) return std::nullopt;
    const StepRows rows = step_rows(plan_, *read, groups_.rank());
    compare_with_start(rows);
    event.data_s = seconds_since(start);

    const TrainingStep::Requests own_requests = requests(stop_requested.load());
    const TrainingStep::Computed computed = training_.compute(rows, own_requests);
    if (own_requests.save) std::filesystem::remove(checkpoint_request(config_));
    const Shares& shares = computed.own.shares;
    event.data_s += computed.own.data_s;
    event.rank_valid_tokens = shares.labels;
    event.position_sum = shares.positions;
    event.attention_cells = shares.cells / plan_.mesh.ulysses;
    event.preference = computed.preference;
    if (source_) {
        source_->record(step_ + 1);
        event.sampling = source_->figures();
        check_sampler_gap(event);
    }
    if (event.rank_valid_tokens > 0 && !weighs_documents(config_))
        event.rank_loss = computed.own.loss_sum / static_cast<double>(event.rank_valid_tokens);
    event.loss = computed.loss;
    event.router_loss = computed.router_loss;
    event.grad_norm = computed.grad_norm;
    if (!update(computed, event)) report_not_finite(rows, event.loss, event.grad_norm);
    ++step_;
    watch_loss(event.loss);
    const double seconds = seconds_since(start);
    finish(rows, event, seconds);
    patience_.step_took(seconds);
    groups_.set_timeout(patience_.in_steps());
    return computed.requests;
}

/// Updates the weights, or skips the step if float16 cannot hold its scaled gradients: as with
/// torch.amp.GradScaler and transformers, a skipped step counts, but does not change weights, optimizer or
/// learning rate. Returns false if the numbers are not finite and a smaller scale cannot help.
bool Trainer::update(const TrainingStep::Computed& computed, StepEvent& event) {
    event.loss_scale = computed.loss_scale;
    event.skipped = computed.overflowed;
    const int64_t updates = step_ + 1 - skipped_steps_;
    event.lr = learning_rate_at(config_, updates, total_steps_);
    if (computed.loss_scale) training_.loss_scale().update(computed.overflowed);
    if (computed.overflowed) {
        ++skipped_steps_;
        event.grad_norm =
            std::numeric_limits<double>::infinity();  // torch reports infinity for such float16 gradients
        return !training_.loss_scale().is_least();
    }
    if (!std::isfinite(computed.loss) || !std::isfinite(computed.grad_norm)) return false;
    training_.update(computed, updates, event.lr);
    return true;
}

void Trainer::finish(const StepRows& rows, StepEvent& event, double wall_s) {
    const CommTotals comm = groups_.take_totals();
    const TensorMemory memory = tensor_memory(device_);
    event.step = step_;
    event.epoch = sampler_.epoch();
    event.tokens = rows.counts.tokens;
    event.valid_tokens = rows.counts.valid_labels;
    event.step_s = wall_s;
    event.comm_s = comm.in_flight_s;
    event.exposed_comm_s = std::min(comm.exposed_s, wall_s - event.data_s);
    event.compute_s = wall_s - event.data_s - event.exposed_comm_s;
    event.comm_bytes = comm.sent_bytes;
    event.memory_bytes = memory.current_bytes;
    event.peak_memory_bytes = std::max(memory.peak_bytes, std::exchange(evaluation_peak_bytes_, 0));
    if (host_peak_bytes() > 0) event.host_memory_bytes = host_peak_bytes();
    event.tokens_per_s = static_cast<double>(event.tokens) / wall_s;
    events_.write(event);
    log_step(event);
}

void Trainer::log_step(const StepEvent& event) const {
    if (groups_.rank() != 0 || (step_ % config_.logs_every() != 0 && step_ != total_steps_)) return;
    char line[200];
    std::snprintf(
        line, sizeof line,
        "step %lld/%lld  loss %.6f  grad_norm %.4f  lr %.3e  %.3f s  %.0f tokens/s  %.1f %% exposed%s",
        static_cast<long long>(step_), static_cast<long long>(total_steps_), event.loss, event.grad_norm,
        event.lr, event.step_s, event.tokens_per_s, 100 * event.exposed_comm_s / event.step_s,
        event.skipped ? "  skipped: float16 overflowed, the loss scale is halved" : "");
    log_line(line);
}

void Trainer::report_not_finite(const StepRows& rows, double loss, double norm) {
    NotFiniteFinder finder(training_.pass().decoder());
    training_.pass().forward_backward(
        rows.micro_batches, rows.rounds, 1,
        parameters_.gradients_are_taken() ? Gradients::OfAllRanks : Gradients::OfThisRank);
    const std::string place = finder.agree(groups_, parameters_, device_);
    const std::vector<int64_t> good = complete_checkpoints(run_.checkpoints());
    const std::string narrow =
        training_.loss_scale().is_least() ? "bf16: true, whose range is that of float32, or " : "";
    throw Error(Failure::Refused, Code("ENGINE-NOT-FINITE"),
                (std::isfinite(loss) ? "the gradient norm is " + std::to_string(norm)
                                     : "the loss is " + std::to_string(loss)) +
                    " at step " + std::to_string(step_ + 1) +
                    (narrow.empty() ? "" : ", at the least loss scale") + ": first seen " + place,
                {},
                narrow + (good.empty() ? "lower learning_rate or look at the data of that step"
                                       : "lower learning_rate and resume: the last good checkpoint is step " +
                                             std::to_string(good.back())));
}

void Trainer::evaluate() {
    groups_.progress().begin(Activity::Evaluating, step_);
    optimizer_->use_averaged_weights(true);
    reset_peak(device_);
    EvalEvent event{step_, 0, 0, {}};
    if (config_.preference.on()) {
        evaluate_preferences(event);
    } else {
        evaluate_labels(event);
    }
    optimizer_->use_averaged_weights(false);
    evaluation_peak_bytes_ = tensor_memory(device_).peak_bytes;
    if (event.tokens == 0) return;
    note_evaluation(event.loss);
    watched_.logged.reset();
    if (groups_.rank() != 0) return;
    log_event(events_, event);
}

StepRows Trainer::evaluation_rows(Plan& plan) const {
    if (config_.eval_batch_size > 0) plan.batch.micro = config_.eval_batch_size;
    std::vector<int64_t> all(static_cast<size_t>(eval_tokens_->rows()));
    std::iota(all.begin(), all.end(), int64_t{0});
    return step_rows(plan, sequences_of(config_, rows_of(*eval_tokens_, all)), groups_.rank());
}

void Trainer::evaluate_labels(EvalEvent& event) {
    Plan plan = plan_;
    StepRows rows = evaluation_rows(plan);
    rows.micro_batches.resize(rows.rounds);  // adds an empty round if other ranks have one more
    std::vector<double> sum(1);
    for (const std::vector<Row>& micro_batch : rows.micro_batches)
        sum[0] += training_.pass().forward(micro_batch).loss_sum;
    sum_over_ranks(groups_, sum);
    event.tokens = rows.counts.valid_labels;
    if (event.tokens > 0) event.loss = sum[0] / static_cast<double>(event.tokens);
}

void Trainer::take_samples() {
    if (samples_) take_samples(*samples_);
}

/// Answers a user's request for samples. If it cannot be answered, rank 0 writes a warning.
void Trainer::take_wanted_samples() {
    const nlohmann::json wanted = ringmaster::take_wanted_samples(run_.dir, groups_);
    std::unique_ptr<TrainingSamples> samples;
    try {
        samples = std::make_unique<TrainingSamples>(run_.dir, wanted, model_, logits_divided_by(config_),
                                                    samples_ ? samples_->prompts() : 0);
    } catch (const Error& problem) {  // every rank gets the same error
        if (groups_.rank() == 0) events_.write(WarningEvent{problem.text(), "samples"});
        return;
    }
    take_samples(*samples);
}

void Trainer::take_samples(TrainingSamples& samples) {
    groups_.progress().begin(Activity::Evaluating, step_);
    optimizer_->use_averaged_weights(true);
    const auto written = samples.take(step_, training_.pass().decoder(), trained_.weights.compute_dtype(),
                                      trained_.weights.stage() >= 3, groups_);
    if (written) events_.write(*written);
    optimizer_->use_averaged_weights(false);
}

/// Evaluates all rows as one step, so that the loss does not depend on the mesh or the batch.
void Trainer::evaluate_preferences(EvalEvent& event) {
    Plan plan = plan_;
    const StepRows rows = evaluation_rows(plan);
    const PreferenceFacts facts = eval_reference_ ? eval_reference_->facts() : PreferenceFacts{};
    const WeighedStep weighed = weigh_step(plan, groups_, training_.pass(), rows, facts, false);
    event.tokens = rows.counts.valid_labels;
    event.loss = weighed.loss.loss;
    event.preference = weighed.loss.figures;
}

void Trainer::save() {
    saved_step_ = step_;
    if (best_.step == step_) best_.checkpoint = step_;
    groups_.progress().begin(Activity::Saving, step_);
    training_.check_weights();
    groups_.set_timeout(patience_.elsewhere());
    const Clock::time_point start = Clock::now();
    const auto path = save_checkpoint(run_, plan_, parameters_, *optimizer_,
                                      {step_, sampler_.consumed(), rows_, config_.seed, best_, skipped_steps_,
                                       training_.loss_scale(), watched_},
                                      groups_.rank());
    if (groups_.rank() == 0) log_event(events_, CheckpointEvent{step_, path.string(), seconds_since(start)});
    groups_.world().barrier();
    groups_.set_timeout(patience_.in_steps());
}

}  // namespace ringmaster
