#include "engine/check/preflight.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>

#include "engine/check/int8_check.h"
#include "engine/check/preflight_pass.h"
#include "engine/check/preflight_samples.h"
#include "engine/optimizers/squared_norm.h"
#include "engine/plan/memory/memory.h"
#include "engine/train/program_fault.h"
#include "engine/train/rank_agreement.h"

namespace ringmaster {

namespace {

using Clock = std::chrono::steady_clock;
using LayerError = PreflightReport::LayerError;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

std::string proved_by(const Plan& plan) {
    const Mesh& mesh = plan.mesh;
    return std::to_string(mesh.dp_replicate) + " x " + std::to_string(mesh.dp_shard) + " x " +
           std::to_string(mesh.ring) + " x " + std::to_string(mesh.ulysses) + ", " +
           to_string(plan.config.ring_attn_func == RingAttnFunc::Auto ? RingAttnFunc::Auto
                                                                      : plan.context_parallel.layout) +
           (plan.config.sample_packing ? ", packed" : "") + ", " + to_string(plan.config.precision) +
           (plan.config.lora.on() ? ", an adapter" : "") +
           (plan.config.preference.on() ? std::string(", ") + to_string(plan.config.preference.method) : "") +
           (plan.config.policy ? ", grpo" : "") +
           (plan.zero_stage > 0 ? ", states sharded (ZeRO " + std::to_string(plan.zero_stage) + ")" : "");
}

// ---------------------------------------------------------------------------------------------- comparing

/// A tensor's error is divided by the size of its gradient, or by this share of its unit's gradient if that
/// is larger: some gradients, like that of a key's bias, are differences of large numbers that nearly cancel.
constexpr double kSmallShare = 1e-2;

double square_sum(const at::Tensor& values) {
    return squared_norm({values}).item<double>();
}

/// Returns Σ (mesh − plain)², Σ plain² and Σ uncancelled² (Proof::uncancelled) of every tensor, over the
/// ranks that share it.
at::Tensor squares_of(Parameters& parameters, const Proof& mesh, const Proof& plain) {
    at::Tensor squares_p3 = at::zeros({static_cast<int64_t>(parameters.shapes().size()), 3}, at::kDouble);
    auto squares = squares_p3.accessor<double, 2>();
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        const at::Tensor expected = parameters.own_values(plain.gradients, i);
        if (expected.numel() == 0) continue;
        const at::Tensor got = parameters.own_values(mesh.gradients, i).to(expected.device(), at::kFloat);
        squares[static_cast<int64_t>(i)][0] = square_sum(got - expected);
        squares[static_cast<int64_t>(i)][1] = square_sum(expected);
        squares[static_cast<int64_t>(i)][2] = plain.uncancelled
                                                  ? square_sum(parameters.own_values(*plain.uncancelled, i))
                                                  : squares[static_cast<int64_t>(i)][1];
    }
    if (Groups* groups = parameters.sharding_groups()) {
        at::Tensor sums = squares_p3.to(groups->device());
        groups->shard().all_reduce(sums).wait();
        squares_p3 = sums.cpu();
    }
    return squares_p3;
}

double relative_error(double off, double norm) {
    return off == 0 ? 0 : std::sqrt(off) / std::sqrt(norm);
}

/// Norms over all tensors of the plain model's gradients and of Proof::uncancelled.
struct Norms {
    double expected = 0, uncancelled = 0;
};

/// Returns the tensor with the largest error in every unit, and sets `norms`. Errors are relative to the norm
/// of Proof::uncancelled.
std::vector<LayerError> gradient_errors(Groups& groups, Parameters& parameters, const Proof& mesh,
                                        const Proof& plain, Norms& norms) {
    const at::Tensor squares_p3 = squares_of(parameters, mesh, plain);
    const auto squares = squares_p3.accessor<double, 2>();
    std::vector<double> of_units(static_cast<size_t>(parameters.units()), 0);
    std::vector<int64_t> elements(of_units.size(), 0);
    const auto unit_of = [&](size_t i) { return static_cast<size_t>(parameters.unit_of(i)); };
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        of_units[unit_of(i)] += squares[static_cast<int64_t>(i)][2];
        elements[unit_of(i)] += parameters.shapes()[i].size();
        norms.expected += squares[static_cast<int64_t>(i)][1];
        norms.uncancelled += squares[static_cast<int64_t>(i)][2];
    }
    norms = {std::sqrt(norms.expected), std::sqrt(norms.uncancelled)};
    std::vector<LayerError> errors;
    std::vector<LayerError> worst(of_units.size());
    for (size_t i = 0; i < parameters.shapes().size(); ++i) {
        const double share = double(parameters.shapes()[i].size()) / double(elements[unit_of(i)]);
        const double least = kSmallShare * kSmallShare * share * of_units[unit_of(i)];
        const auto row = static_cast<int64_t>(i);
        double error = relative_error(squares[row][0], std::max(squares[row][2], least));
        error = largest_of_ranks(groups, error);
        LayerError& of_unit = worst[unit_of(i)];
        if (of_unit.tensor.empty() || error > of_unit.relative_error)
            of_unit = {"", error, parameters.shapes()[i].name};
    }
    for (int unit = 0; unit < parameters.units(); ++unit) {
        if (parameters.is_empty(unit)) continue;
        const bool a_layer = parameters.is_of_layer(unit);
        errors.push_back(worst[static_cast<size_t>(unit)]);
        errors.back().layer = a_layer ? std::to_string(unit - 1) : parameters.name_of(unit);
    }
    return errors;
}

std::vector<LayerError> attention_errors(Groups& groups, const ModelConfig& model, const Proof& mesh,
                                         const Proof& plain) {
    const auto [first, last] = attending_layers(model);
    std::vector<LayerError> errors;
    for (const int64_t which : {0, 1}) {
        const double error = relative_error(square_sum(mesh.samples_lsw[which] - plain.samples_lsw[which]),
                                            square_sum(plain.samples_lsw[which]));
        errors.push_back({std::to_string(which == 0 ? first : last), largest_of_ranks(groups, error), ""});
    }
    return errors;
}

std::string number(double value, const char* format = "%.3g") {
    char text[40];
    std::snprintf(text, sizeof text, format, value);
    return text;
}

LayerError worst_of(const std::vector<LayerError>& errors) {
    return *std::max_element(errors.begin(), errors.end(), [](const auto& a, const auto& b) {
        return a.relative_error < b.relative_error;
    });
}

std::string off_by(const std::string& what, const LayerError& worst, double bound) {
    if (worst.relative_error <= bound) return "";
    if (worst.relative_error >= 1e300)
        return what + " has elements that are not finite, or that no rank wrote";
    return what + " differs by " + number(worst.relative_error) + " of its norm (bound " + number(bound) +
           ")";
}

/// Returns the size that a loss's rounding error is compared with. A loss of rollouts is a mean of terms of
/// both signs, of about 1 in the proof (advantage_in_proof), which may nearly cancel.
double size_of_loss(const Plan& plan, const Proof& plain) {
    constexpr double kLeastOfRollouts = 0.1;
    return std::max(std::abs(plain.loss), plan.config.policy ? kLeastOfRollouts : 0);
}

/// Compares the loss, then gradients. Returns an empty string if both are within the bound.
std::string compare(Groups& groups, const Plan& plan, Parameters& parameters, const Proof& mesh,
                    const Proof& plain, PreflightReport& report) {
    report.loss_mesh = mesh.loss;
    report.loss_reference = plain.loss;
    report.norm_mesh = mesh.grad_norm;
    Norms norms;
    report.gradients = gradient_errors(groups, parameters, mesh, plain, norms);
    report.norm_reference = norms.expected;
    report.attention = attention_errors(groups, *plan.model, mesh, plain);
    const double bound = report.bound;
    if (!(std::abs(mesh.loss - plain.loss) <= bound / 10 * size_of_loss(plan, plain)))
        return "the loss is " + number(mesh.loss, "%.7g") + " on the mesh and " + number(plain.loss, "%.7g") +
               " on one rank (bound " + number(bound / 10, "%.0e") + " of it)";
    const LayerError gradient = worst_of(report.gradients);
    std::string off = off_by("the gradient of " + gradient.tensor, gradient, bound);
    const LayerError attention = worst_of(report.attention);
    if (off.empty())
        off =
            off_by("the gradient of queries, keys and values in layer " + attention.layer, attention, bound);
    if (off.empty() && !(std::abs(mesh.grad_norm - report.norm_reference) <= bound * norms.uncancelled))
        off = "the gradient norm is " + number(mesh.grad_norm, "%.7g") + " on the mesh and " +
              number(report.norm_reference, "%.7g") + " on one rank";
    return off;
}

// ----------------------------------------------------------------------------------------------- one round

struct Round {
    PreflightReport report;
    double mesh_s = 0;   ///< seconds for forward and backward on the mesh
    int64_t tokens = 0;  ///< sum over all rows
};

/// Proves the mesh in float32, with the weights of a bfloat16 run.
std::string compare_in_float32(const Plan& plan, Groups& groups, TrainedModel& trained,
                               const PreflightBatch& batch, const Proof& plain, PreflightReport& report) {
    TrainedModel wide = in_float32(plan, trained);
    const std::string misread = wrong_weights(groups, wide);
    if (!misread.empty()) return "computed in float32, " + misread;
    const Proof mesh = prove_pass(batch, groups, wide, plain);
    PreflightReport in_float32;
    in_float32.bound = kFloat32Bound;
    const std::string off = compare(groups, plan, wide.trained(), mesh, plain, in_float32);
    report.float32 = {mesh.loss, worst_of(in_float32.gradients).relative_error, kFloat32Bound};
    return off.empty() ? "" : "computed in float32, " + off;
}

std::string prove_batch(const Plan& plan, Groups& groups, const PreflightSubject& subject,
                        const PreflightBatch& batch, Round& round) {
    PreflightReport& report = round.report;
    TrainedModel& trained = subject.trained;
    const DequantizedProducts comparable(trained);
    std::string off = wrong_weights(groups, trained);
    if (!off.empty()) return off;
    const Proof plain = prove_plainly(batch, groups, trained);
    report.loss_reference = plain.loss;
    if (!std::isfinite(plain.loss)) {  // the run's first step will report the rank and the layer
        report.unproved = "the loss is not finite";
        return "";
    }
    if (plan.config.precision != Precision::Float32 && report.float32_left_out.empty())
        off = compare_in_float32(plan, groups, trained, batch, plain, report);
    if (off.empty()) off = learned_without_labels(batch, groups, trained);
    if (!off.empty()) return off;

    TrainingStep step(batch.plan, groups, trained, subject.optimizer, batch.kept);
    TrainingStep::Computed computed;
    const Clock::time_point start = Clock::now();
    const Proof mesh = prove_on_mesh(batch, groups, trained, step, computed, plain);
    round.mesh_s = seconds_since(start);
    off = compare(groups, plan, trained.trained(), mesh, plain, report);
    report.leak = largest_of_ranks(groups, leaks(batch, groups, trained) ? 1 : 0) > 0;
    if (off.empty() && report.leak)
        off = "a change in one document changed what the model says of another, or of what came before";
    if (off.empty() && comparable.replace_int8()) off = wrong_int8_product(batch, groups, trained);
    // If the run goes on to train, its first step checks the update.
    if (!off.empty() || plan.preflight != Preflight::Only) return off;
    step.update(computed, subject.completed_steps + 1, plan.config.learning_rate);
    return wrong_weights(groups, trained);
}

Round prove(const Plan& plan, Groups& groups, const PreflightSubject& subject, std::vector<Row> rows,
            int64_t tokens, const std::string& float32_left_out) {
    const PreflightBatch batch(plan, std::move(rows), groups.rank(), tokens);
    const ScopedBlockSizes small_blocks(batch.blocks);
    Round round;
    const bool int8 = subject.trained.quantized && subject.trained.quantized->quantizes_inputs();
    round.report.proved = proved_by(plan) + (int8 ? ", 8-bit inputs" : "");
    round.report.rows = static_cast<int64_t>(batch.all.size());
    round.report.tokens = std::min(tokens, plan.config.sequence_len);
    round.report.bound = bound_of(plan.config.precision);
    round.report.float32_left_out = float32_left_out;
    round.tokens = batch.rows.counts.tokens;
    try {
        round.report.failure = prove_batch(plan, groups, subject, batch, round);
    } catch (const ProgramFault& fault) {
        round.report.failure = fault.what();
    }
    subject.trained.trained().begin_gradients(false);
    return round;
}

// -------------------------------------------------------------------------------- the size of a proof

int64_t longest_of(const std::vector<Row>& rows) {
    int64_t longest = 1;
    for (const Row& row : rows) longest = std::max(longest, row.tokens());
    return longest;
}

/// Returns the minimum number of tokens that rows may be cut to: every rank must hold some of every kind of
/// piece that a layout makes, and some labels must remain.
int64_t fewest_tokens(const Plan& plan, const TokenFile& file, const std::vector<int64_t>& candidates,
                      int64_t longest) {
    constexpr int64_t kFewLabels = 16;
    int64_t few = std::max<int64_t>(128, 32 * plan.context_parallel.size);
    const auto labels = [&] { return count_rows(labelled_rows(plan, file, candidates, few)).valid_labels; };
    while (few < longest && labels() < kFewLabels) few *= 2;
    return few;
}

/// Returns true if a proof with rows of `tokens` fits in the run's memory. It assumes one rank, recomputed
/// layers, and the float32 gradients of the plain model. `wide` adds the model in float32.
bool fits(const Plan& plan, int64_t tokens, bool wide) {
    if (!plan.memory || plan.memory->device_bytes <= 0) return true;
    MemoryInputs in;
    in.model = *plan.model;
    in.precision = plan.config.precision;
    in.device = plan.device;
    in.gradient_checkpointing = true;
    in.zero_stage = plan.zero_stage;
    in.shards = plan.mesh.shards();
    in.lora = plan.config.lora;
    in.shard_tokens = tokens;
    const double needed = static_cast<double>(rank_memory(in).total_high);
    const double gradients = 4 * gradient_bytes(in) / (plan.config.precision == Precision::Bf16Full ? 2 : 4);
    in.precision = Precision::Float32;
    const double model = wide ? weight_bytes(in) + gradient_bytes(in) : 0;
    return needed + gradients + model < 0.9 * static_cast<double>(plan.memory->device_bytes);
}

int64_t longest_that_fits(const Plan& plan, int64_t longest, int64_t few, bool wide) {
    while (longest > few && !fits(plan, longest, wide)) longest = std::max(few, longest * 3 / 4);
    return longest;
}

double seconds_left(const Plan& plan, const PreflightBudget& budget, const Round& first, double mesh_s,
                    int64_t steps_left, double spent) {
    const double tokens_per_step =
        double(plan.batch.global * sequences_per_row(plan.config)) * double(plan.sequence.length);
    const double run_s =
        mesh_s * tokens_per_step / double(std::max<int64_t>(1, first.tokens)) * double(steps_left);
    const double allowed = std::max(budget.at_least, budget.share_of_run * run_s);
    return std::min(budget.seconds, allowed) - spent;
}

/// Returns the row length whose proof takes `times` as long as a proof with rows of `few` tokens. Attention's
/// cost grows with the square of the length and is small in short rows; the rest grows linearly.
int64_t affordable_tokens(int64_t few, double times) {
    constexpr double kShort = 256;
    const double tokens = static_cast<double>(few) * std::max(0.0, times);
    return static_cast<int64_t>(tokens <= kShort ? tokens : kShort * std::sqrt(tokens / kShort));
}

}  // namespace

PreflightReport preflight(const Plan& plan, Groups& groups, const PreflightSubject& subject,
                          const PreflightBudget& budget) {
    const Clock::time_point start = Clock::now();
    const auto rows_of_length = [&](int64_t tokens) {
        return labelled_rows(plan, subject.tokens, subject.next_rows, tokens);
    };
    const std::vector<Row> whole = rows_of_length(plan.config.sequence_len);
    PreflightReport none;
    none.proved = proved_by(plan);
    none.of = proof_identity(plan);
    if (whole.empty()) {
        none.unproved = "none of the next " + std::to_string(subject.next_rows.size()) + " rows has a label";
        return none;
    }
    int64_t longest = longest_of(whole);
    const int64_t few = fewest_tokens(plan, subject.tokens, subject.next_rows, longest);
    const bool wide = plan.config.precision != Precision::Float32;
    const std::string left_out = wide && !fits(plan, std::min(longest, few), true)
                                     ? "the memory does not hold the model in float32"
                                     : "";
    longest = longest_that_fits(plan, longest, few, wide && left_out.empty());
    Round round = prove(plan, groups, subject, rows_of_length(few), std::min(longest, few), left_out);
    const double spent = largest_of_ranks(groups, seconds_since(start));
    if (round.report.ok() && longest > few) {
        const double mesh_s = largest_of_ranks(groups, round.mesh_s);
        const double left = seconds_left(plan, budget, round, mesh_s, subject.steps_left, spent);
        const int64_t affordable = affordable_tokens(few, left / std::max(spent, 1e-3));
        const int64_t tokens = std::min(longest, affordable);
        PreflightSubject later = subject;
        if (plan.preflight == Preflight::Only) ++later.completed_steps;  // the first proof has made an update
        if (tokens == longest || tokens >= 2 * few)
            round = prove(plan, groups, later, rows_of_length(tokens), tokens, left_out);
    }
    round.report.of = none.of;
    round.report.seconds = largest_of_ranks(groups, seconds_since(start));
    return round.report;
}

}  // namespace ringmaster
