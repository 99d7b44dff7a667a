#include "engine/train/preflight.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>

#include "engine/error.h"
#include "engine/files/durable.h"
#include "engine/plan/memory.h"
#include "engine/train/preflight_pass.h"

namespace ringmaster {

namespace {

using Clock = std::chrono::steady_clock;
using LayerError = PreflightReport::LayerError;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

/// fp32: sums in another order. bf16: activations keep 8 bits, and two orders of rounding drift apart over
/// the layers.
double bound_of(Precision precision) {
    return precision == Precision::Float32 ? 1e-4 : 1e-1;
}

std::string proved_by(const Plan& plan) {
    const Mesh& mesh = plan.mesh;
    return std::to_string(mesh.dp_replicate) + " x " + std::to_string(mesh.dp_shard) + " x " +
           std::to_string(mesh.ring) + " x " + std::to_string(mesh.ulysses) + ", " +
           to_string(plan.config.ring_attn_func == RingAttnFunc::Auto ? RingAttnFunc::Auto
                                                                      : plan.context_parallel.layout) +
           (plan.config.sample_packing ? ", packed" : "") + ", " + to_string(plan.config.precision) +
           (plan.config.lora.on() ? ", an adapter" : "") +
           (plan.zero_stage > 0 ? ", states sharded (ZeRO " + std::to_string(plan.zero_stage) + ")" : "");
}

// ---------------------------------------------------------------------------------------------- comparing

double relative_error(double off, double norm) {
    return off == 0 ? 0 : std::sqrt(off) / std::sqrt(norm);
}

double squared_norm(const at::Tensor& values) {
    return std::pow(values.norm(2, at::kDouble).item<double>(), 2);
}

/// Of every unit. Sharded gradients are compared slice by slice, and the slices' squares summed.
std::vector<LayerError> gradient_errors(Parameters& parameters, const MeshProof& mesh,
                                        const MeshProof& reference) {
    at::Tensor squares_u2 = at::zeros({parameters.units(), 2}, at::kDouble);
    auto squares = squares_u2.accessor<double, 2>();
    for (int unit = 0; unit < parameters.units(); ++unit) {
        const at::Tensor got = parameters.own_slice(mesh.gradients, unit);
        const at::Tensor expected = parameters.own_slice(reference.gradients, unit);
        squares[unit][0] = squared_norm(got - expected);
        squares[unit][1] = squared_norm(expected);
    }
    if (Groups* groups = parameters.sharding_groups()) {
        const at::Tensor sums = squares_u2.to(groups->device());
        groups->shard().all_reduce(sums).wait();
        squares_u2.copy_(sums);
    }
    std::vector<LayerError> errors;
    for (int unit = 0; unit < parameters.units(); ++unit) {
        if (parameters.is_empty(unit)) continue;
        const bool a_layer = unit > 0 && unit < parameters.head_unit();
        errors.push_back({a_layer ? std::to_string(unit - 1) : parameters.name_of(unit),
                          relative_error(squares[unit][0], squares[unit][1])});
    }
    return errors;
}

std::vector<LayerError> attention_errors(int layers, const MeshProof& mesh, const MeshProof& reference) {
    std::vector<LayerError> errors;
    for (const int64_t which : {0, 1}) {
        errors.push_back({std::to_string(which == 0 ? 0 : layers - 1),
                          relative_error(squared_norm(mesh.samples_lsw[which] - reference.samples_lsw[which]),
                                         squared_norm(reference.samples_lsw[which]))});
    }
    return errors;
}

/// Each rank compared with its own copy of the sums: all must be right.
void worst_of_ranks(Groups& groups, std::vector<LayerError>& errors) {
    for (LayerError& error : errors) {
        const double finite = std::isfinite(error.relative_error) ? error.relative_error : 1e300;
        error.relative_error = largest_of_ranks(groups, finite);
    }
}

bool is_a_layer(const LayerError& error) {
    return error.layer.find_first_not_of("0123456789") == std::string::npos;
}

std::string number(double value) {
    char text[32];
    std::snprintf(text, sizeof text, "%.3g", value);
    return text;
}

std::string what_is_off(const char* what, const std::vector<LayerError>& errors, double bound) {
    const auto worst = std::max_element(errors.begin(), errors.end(), [](const auto& a, const auto& b) {
        return a.relative_error < b.relative_error;
    });
    if (worst == errors.end() || worst->relative_error <= bound) return "";
    return std::string(what) + " of " + (is_a_layer(*worst) ? "layer " : "the ") + worst->layer +
           " differ by " + number(worst->relative_error) + " of their norm (bound " + number(bound) + ")";
}

std::string failure_of(const PreflightReport& report) {
    const double off = std::abs(report.loss_mesh - report.loss_reference);
    if (!(off <= report.bound / 10 * std::abs(report.loss_reference))) {
        char text[120];
        std::snprintf(text, sizeof text,
                      "the loss is %.7g on the mesh and %.7g on one rank (bound %.0e of it)",
                      report.loss_mesh, report.loss_reference, report.bound / 10);
        return text;
    }
    std::string off_by = what_is_off("gradients", report.gradients, report.bound);
    if (off_by.empty())
        off_by = what_is_off("gradients of queries, keys and values", report.attention, report.bound);
    if (!off_by.empty()) return off_by;
    return report.leak
               ? "a change in one document changed what the model says of another, or of what came before"
               : "";
}

// ------------------------------------------------------------------------------------------------- a round

struct Round {
    PreflightReport report;
    double mesh_s = 0;   ///< forward and backward on the mesh
    int64_t tokens = 0;  ///< of all rows
};

Round prove(const Plan& plan, Groups& groups, TrainedModel& trained, const TokenFile& file,
            const std::vector<int64_t>& first_rows, int64_t tokens) {
    const int layers = static_cast<int>(plan.model->num_layers);
    const PreflightBatch batch(plan, groups, file, first_rows, tokens);
    Round round;
    PreflightReport& report = round.report;
    report.proved = proved_by(plan);
    report.rows = static_cast<int64_t>(batch.all_rows);
    report.tokens = std::min(tokens, plan.config.sequence_len);
    report.bound = bound_of(plan.config.precision);
    round.tokens = batch.rows.counts.tokens;

    MeshProof mesh, reference;
    try {
        const Clock::time_point start = Clock::now();
        mesh = prove_on_mesh(batch, groups, trained);
        round.mesh_s = seconds_since(start);
    } catch (const SharesDiffer& differ) {
        report.failure = differ.what();
        return round;
    }
    reference = prove_on_one_rank(batch, groups, trained);
    report.loss_mesh = mesh.loss;
    report.loss_reference = reference.loss;
    report.gradients = gradient_errors(trained.trained(), mesh, reference);
    report.attention = attention_errors(layers, mesh, reference);
    worst_of_ranks(groups, report.gradients);
    worst_of_ranks(groups, report.attention);
    if (!std::isfinite(report.loss_reference)) return round;  // the first step names rank and layer
    report.leak = largest_of_ranks(groups, leaks(batch, groups, trained) ? 1 : 0) > 0;
    report.failure = failure_of(report);
    return round;
}

/// Tokens that rows may be cut to at least: enough for every rank to hold some of every kind of piece that a
/// layout makes, and not all before the first labels.
int64_t fewest_tokens(const Plan& plan, const TokenFile& file, const std::vector<int64_t>& first_rows,
                      int64_t longest) {
    constexpr int64_t kFewLabels = 16;
    int64_t few = std::max<int64_t>(256, 32 * plan.context_parallel.size);
    while (few < longest && step_rows(plan, file, first_rows, 0, few).counts.valid_labels < kFewLabels)
        few *= 2;
    return few;
}

/// The longest rows whose reference fits where the run does: one rank, its layers recomputed, and a second
/// copy of the gradients in float32.
int64_t longest_that_fits(const Plan& plan, int64_t longest) {
    if (!plan.memory || plan.memory->device_bytes <= 0) return longest;
    MemoryInputs in;
    in.model = *plan.model;
    in.precision = plan.config.precision;
    in.device = plan.device;
    in.gradient_checkpointing = true;
    in.zero_stage = plan.zero_stage;
    in.shards = plan.mesh.shards();
    in.lora = plan.config.lora;
    const auto fits = [&](int64_t tokens) {
        in.shard_tokens = tokens;
        const double copy = 4 * gradient_bytes(in) / (plan.config.precision == Precision::Bf16Full ? 2 : 4);
        return double(rank_memory(in).total_high) + copy < 0.9 * double(plan.memory->device_bytes);
    };
    while (longest > 1 && !fits(longest)) longest = longest * 3 / 4;
    return longest;
}

}  // namespace

PreflightReport preflight(const Plan& plan, Groups& groups, TrainedModel& trained, const TokenFile& tokens,
                          const std::vector<int64_t>& first_rows, int64_t steps,
                          const PreflightBudget& budget) {
    const Clock::time_point start = Clock::now();
    int64_t longest = 1;
    for (const int64_t index : first_rows) longest = std::max(longest, tokens.row(index).tokens());
    longest = longest_that_fits(plan, longest);
    const int64_t few = fewest_tokens(plan, tokens, first_rows, longest);
    Round round = prove(plan, groups, trained, tokens, first_rows, std::min(longest, few));
    const double spent = largest_of_ranks(groups, seconds_since(start));
    if (round.report.ok() && longest > few) {
        const RowCounts step = count_rows(rows_of(tokens, first_rows));
        const double run_s = largest_of_ranks(groups, round.mesh_s) * double(step.tokens) /
                             double(std::max<int64_t>(1, round.tokens)) * double(steps);
        const double left = std::min(budget.seconds, budget.share_of_run * run_s) - spent;
        // Attention's cost grows with the square of the length, nothing faster.
        const auto affordable =
            static_cast<int64_t>(double(few) * std::sqrt(std::max(0.0, left) / std::max(spent, 1e-3)));
        if (affordable >= 2 * few)
            round = prove(plan, groups, trained, tokens, first_rows, std::min(longest, affordable));
    }
    round.report.seconds = largest_of_ranks(groups, seconds_since(start));
    return round.report;
}

// ---------------------------------------------------------------------------------------------- the report

std::string PreflightReport::summary() const {
    char head[160];
    std::snprintf(head, sizeof head,
                  "preflight of %s on %lld rows of up to %lld tokens in %.1f s: ", proved.c_str(),
                  static_cast<long long>(rows), static_cast<long long>(tokens), seconds);
    if (!ok()) return head + ("failed: " + failure);
    if (!std::isfinite(loss_reference))
        return std::string(head) + "nothing is proved, the loss is not finite";
    double worst = 0;
    for (const LayerError& error : gradients) worst = std::max(worst, error.relative_error);
    char tail[200];
    std::snprintf(tail, sizeof tail,
                  "passed, loss %.7g on the mesh and %.7g on one rank, gradients within %.1e (bound %.0e), "
                  "no leak between documents",
                  loss_mesh, loss_reference, worst, bound);
    return std::string(head) + tail;
}

nlohmann::json report_to_json(const PreflightReport& report) {
    const auto errors = [](const std::vector<LayerError>& list) {
        nlohmann::json json = nlohmann::json::array();
        for (const LayerError& error : list) {
            json.push_back({{"layer", is_a_layer(error) ? nlohmann::json(std::stoi(error.layer))
                                                        : nlohmann::json(error.layer)},
                            {"relative_error", error.relative_error}});
        }
        return json;
    };
    return {{"ok", report.ok()},
            {"loss", {{"reference", report.loss_reference}, {"mesh", report.loss_mesh}}},
            {"gradients", errors(report.gradients)},
            {"attention", errors(report.attention)},
            {"leak", report.leak},
            {"seconds", report.seconds},
            {"bound", report.bound},
            {"rows", report.rows},
            {"tokens", report.tokens},
            {"proved", report.proved},
            {"failure", report.failure}};
}

bool passed_before(const std::filesystem::path& file, const Plan& plan) {
    std::ifstream in(file);
    const nlohmann::json report = nlohmann::json::parse(in, nullptr, false);
    return report.is_object() && report.value("ok", false) && report.value("proved", "") == proved_by(plan);
}

void write_report(const std::filesystem::path& file, const PreflightReport& report) {
    write_file_durably(file, report_to_json(report).dump(2) + "\n");
}

}  // namespace ringmaster
