#include "engine/train/trainer.h"

#include <ATen/ATen.h>

#include <chrono>
#include <cmath>
#include <cstdio>

#include "engine/data/batch.h"
#include "engine/error.h"
#include "engine/train/not_finite.h"
#include "engine/train/run_log.h"
#include "engine/train/tensor_memory.h"

namespace ringmaster {

namespace {

using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::filesystem::path checkpoint_request(const Config& config) {
    return std::filesystem::path(config.output_dir) / "axolotl_checkpoint.save";
}

/// Few lengths at a time: rows of ever new lengths must not pile up tables.
constexpr size_t kKeptShards = 8;

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
      tokens_(plan.data.tokens),
      eval_tokens_(plan.data.eval_tokens.empty() ? nullptr
                                                 : std::make_unique<TokenFile>(plan.data.eval_tokens)),
      sampler_(tokens_.rows(), plan.batch.global, config_.seed, config_.curriculum_sampling),
      steps_per_epoch_((tokens_.rows() + plan.batch.global - 1) / plan.batch.global),
      total_steps_(config_.max_steps ? *config_.max_steps
                                     : static_cast<int64_t>(std::ceil(
                                           config_.num_epochs * static_cast<double>(steps_per_epoch_)))),
      saving_(saving_of(config_, total_steps_, steps_per_epoch_)),
      evaluation_(evaluation_of(config_, total_steps_, steps_per_epoch_)),
      parameters_(model_, config_.precision, device),
      optimizer_(parameters_, config_),
      decoder_(model_, parameters_, config_.gradient_checkpointing),
      reduction_(groups, parameters_),
      patience_(config_) {
    if (groups.rank() == 0) {
        tokens_.check(model_.vocab_size, config_.sequence_len);
        if (eval_tokens_) eval_tokens_->check(model_.vocab_size, config_.sequence_len);
    }
    if (config_.reinit_weights) {
        parameters_.initialize(model_, config_.seed);
    } else {
        parameters_.load(config_.model_dir);
    }
}

void Trainer::resume(int64_t step) {
    const std::filesystem::path dir = run_.checkpoint(step);
    const TrainerState state = load_checkpoint(dir, parameters_, optimizer_);
    if (state.rows != tokens_.rows()) {
        throw Error(Failure::Refused,
                    "was saved over " + std::to_string(state.rows) + " rows, the data has " +
                        std::to_string(tokens_.rows()) + " now",
                    dir.string(), "resume with the data that the run was started with, or launch a new run");
    }
    step_ = state.step;
    saved_step_ = step_;
    sampler_.seek(state.consumed_rows);
}

TrainingEnd Trainer::train(const std::atomic<bool>& stop_requested) {
    while (step_ < total_steps_) {
        const Agreement agreed = step(stop_requested.load());
        const bool epoch_ended = sampler_.consumed() % tokens_.rows() == 0;
        if (eval_tokens_ && evaluation_.is_due(step_, epoch_ended)) evaluate();
        if (agreed.save || saving_.is_due(step_, epoch_ended)) save();
        if (agreed.stop && step_ < total_steps_) {
            if (saved_step_ != step_) save();
            return TrainingEnd::Stopped;
        }
    }
    return TrainingEnd::Completed;
}

Trainer::Agreement Trainer::step(bool stop_requested) {
    reset_peak(device_);
    groups_.take_totals();
    const Clock::time_point start = Clock::now();
    groups_.progress().begin(Activity::Training, step_ + 1);
    StepEvent event;
    StepRows rows;
    const std::vector<int64_t> step_rows = sampler_.next_step();
    rows.counts = count_rows(tokens_, step_rows);
    rows.micro_batches = micro_batches_of(step_rows, plan_.batch.micro, plan_.mesh.data_rank(groups_.rank()),
                                          plan_.mesh.data_parallel_size());
    event.data_s = seconds_since(start);

    const double scale =
        rows.counts.valid_labels == 0 ? 0 : 1.0 / static_cast<double>(rows.counts.valid_labels);
    const double rank_loss_sum = forward_backward(rows, scale, event, true);
    const Agreement agreed = agree(rank_loss_sum, stop_requested);
    if (event.rank_valid_tokens > 0)
        event.rank_loss = rank_loss_sum / static_cast<double>(event.rank_valid_tokens);
    event.loss = agreed.loss_sum * scale;
    update(agreed, rows, event);
    const double seconds = seconds_since(start);
    finish(rows, event, seconds);
    patience_.step_took(seconds);
    groups_.set_timeout(patience_.in_steps());
    return agreed;
}

double Trainer::forward_backward(const StepRows& rows, double scale, StepEvent& event, bool reduce) {
    double loss_sum = 0;
    for (size_t i = 0; i < rows.micro_batches.size(); ++i) {
        const Clock::time_point start = Clock::now();
        groups_.progress().begin_micro_batch(static_cast<int>(i) + 1);
        SequenceShard* shard = nullptr;
        const MicroBatch batch = load(tokens_, rows.micro_batches[i], shard, &event.rank_valid_tokens);
        event.data_s += seconds_since(start);
        const bool last = i + 1 == rows.micro_batches.size();
        loss_sum += decoder_.forward_backward(batch, *shard, scale, i == 0, [&](FlatRange range) {
            if (reduce && last) reduction_.start(range);
        });
    }
    if (rows.micro_batches.empty() && reduce) reduction_.start_zeros(static_cast<int>(model_.num_layers));
    reduction_.wait();
    return loss_sum;
}

Trainer::Agreement Trainer::agree(double loss_sum, bool stop_requested) {
    const bool save_requested = groups_.rank() == 0 && std::filesystem::exists(checkpoint_request(config_));
    at::Tensor values =
        at::tensor({loss_sum, stop_requested ? 1.0 : 0.0, save_requested ? 1.0 : 0.0}, at::kDouble);
    at::Tensor shared = values.to(device_);
    groups_.world().all_reduce(shared).wait();
    values = shared.cpu();
    if (save_requested) std::filesystem::remove(checkpoint_request(config_));
    return {values[0].item<double>(), values[1].item<double>() > 0, values[2].item<double>() > 0};
}

void Trainer::update(const Agreement& agreed, const StepRows& rows, StepEvent& event) {
    event.grad_norm = gradient_norm(parameters_);
    if (!std::isfinite(agreed.loss_sum) || !std::isfinite(event.grad_norm)) {
        report_not_finite(rows, event.loss, event.grad_norm);
    }
    if (config_.max_grad_norm) {
        // As torch.nn.utils.clip_grad_norm_: never a gain, a small constant against division by zero.
        const double factor = *config_.max_grad_norm / (event.grad_norm + 1e-6);
        if (factor < 1) parameters_.gradients().mul_(factor);
    }
    event.lr = learning_rate_at(config_, step_ + 1, total_steps_);
    optimizer_.step(event.lr);
    ++step_;
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
    event.peak_memory_bytes = memory.peak_bytes;
    event.tokens_per_s = static_cast<double>(event.tokens) / wall_s;
    events_.write(event);
    log_step(event);
}

void Trainer::log_step(const StepEvent& event) const {
    if (groups_.rank() != 0 ||
        (step_ % std::max<int64_t>(1, config_.logging_steps) != 0 && step_ != total_steps_))
        return;
    char line[200];
    std::snprintf(
        line, sizeof line,
        "step %lld/%lld  loss %.6f  grad_norm %.4f  lr %.3e  %.3f s  %.0f tokens/s  %.1f %% exposed",
        static_cast<long long>(step_), static_cast<long long>(total_steps_), event.loss, event.grad_norm,
        event.lr, event.step_s, event.tokens_per_s, 100 * event.exposed_comm_s / event.step_s);
    log_line(line);
}

void Trainer::report_not_finite(const StepRows& rows, double loss, double norm) {
    NotFiniteFinder finder(decoder_);
    StepEvent unused;
    forward_backward(rows, 1, unused, false);
    const std::string place = finder.agree(groups_, parameters_, device_);
    const std::vector<int64_t> good = run_.complete_checkpoints();
    throw Error(Failure::Refused,
                (std::isfinite(loss) ? "the gradient norm is " + std::to_string(norm)
                                     : "the loss is " + std::to_string(loss)) +
                    " at step " + std::to_string(step_ + 1) + ": first seen " + place,
                {},
                good.empty() ? "lower learning_rate or look at the data of that step"
                             : "lower learning_rate and resume: the last good checkpoint is step " +
                                   std::to_string(good.back()));
}

void Trainer::evaluate() {
    const Clock::time_point start = Clock::now();
    groups_.progress().begin(Activity::Evaluating, step_);
    const int64_t micro = config_.eval_batch_size > 0 ? config_.eval_batch_size : plan_.batch.micro;
    std::vector<int64_t> all(static_cast<size_t>(eval_tokens_->rows()));
    for (size_t i = 0; i < all.size(); ++i) all[i] = static_cast<int64_t>(i);
    double loss_sum = 0;
    for (const std::vector<int64_t>& rows : micro_batches_of(all, micro, plan_.mesh.data_rank(groups_.rank()),
                                                             plan_.mesh.data_parallel_size())) {
        SequenceShard* shard = nullptr;
        const MicroBatch batch = load(*eval_tokens_, rows, shard, nullptr);
        loss_sum += decoder_.forward_loss(batch, *shard);
    }
    at::Tensor sum = at::tensor({loss_sum}, at::TensorOptions().dtype(at::kDouble)).to(device_);
    groups_.world().all_reduce(sum).wait();
    const int64_t labels = count_rows(*eval_tokens_, all).valid_labels;
    if (groups_.rank() != 0 || labels == 0) return;
    const double loss = sum.item<double>() / static_cast<double>(labels);
    events_.write(EvalEvent{step_, loss, labels});
    char line[120];
    std::snprintf(line, sizeof line, "evaluation after step %lld: loss %.6f over %lld labels, %.1f s",
                  static_cast<long long>(step_), loss, static_cast<long long>(labels), seconds_since(start));
    log_line(line);
}

void Trainer::save() {
    saved_step_ = step_;
    groups_.progress().begin(Activity::Saving, step_);
    groups_.set_timeout(patience_.elsewhere());
    if (groups_.rank() == 0) {
        const Clock::time_point start = Clock::now();
        const auto path = save_checkpoint(run_, plan_, parameters_, optimizer_,
                                          {step_, sampler_.consumed(), tokens_.rows(), config_.seed});
        const double seconds = seconds_since(start);
        events_.write(CheckpointEvent{step_, path.string(), seconds});
        char line[80];
        std::snprintf(line, sizeof line, "checkpoint of step %lld saved in %.1f s",
                      static_cast<long long>(step_), seconds);
        log_line(line);
    }
    groups_.world().barrier();
    groups_.set_timeout(patience_.in_steps());
}

SequenceShard& Trainer::shard_of(const TokenFile& file, const std::vector<int64_t>& rows, int64_t& length) {
    length = batch_length(file, rows, config_.padding, config_.sequence_len);
    const RingAttnFunc func = plan_.context_parallel.layout;
    const int64_t padded = padded_length(func, length, plan_.mesh.ring, plan_.mesh.ulysses);
    std::unique_ptr<SequenceShard>& shard = shards_[{padded, length}];
    if (shard) return *shard;
    const Layout layout = make_layout(func, padded, plan_.mesh.ring, plan_.mesh.ulysses);
    auto made = std::make_unique<SequenceShard>(groups_, model_, layout, length, device_);
    if (shards_.size() > kKeptShards) shards_.clear();
    return *(shards_[{padded, length}] = std::move(made));
}

MicroBatch Trainer::load(const TokenFile& file, const std::vector<int64_t>& rows, SequenceShard*& shard,
                         int64_t* valid_labels) {
    MicroBatch batch;
    shard = &shard_of(file, rows, batch.sequence_length);
    BatchShard own = shard_rows(file, rows, shard->layout, plan_.mesh.context_rank(groups_.rank()));
    if (valid_labels != nullptr) *valid_labels += own.valid_labels;
    auto to_tensor = [&](std::vector<int64_t>& values) {
        return at::from_blob(values.data(), {own.rows, static_cast<int64_t>(values.size()) / own.rows},
                             at::kLong)
            .clone()
            .to(device_);
    };
    batch.ids_bt = to_tensor(own.input_ids);
    batch.labels_bt = to_tensor(own.labels);
    return batch;
}

}  // namespace ringmaster
