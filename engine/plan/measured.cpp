#include "engine/plan/measured.h"

#include <algorithm>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "engine/config/offloading.h"
#include "engine/config/optimizers.h"
#include "engine/error.h"
#include "engine/json_fields.h"
#include "engine/json_problem.h"
#include "engine/plan/plan_request.h"

namespace ringmaster {

template <class Visit>
void each_field(const Visit& visit, Same<Measurement> auto& m) {
    visit("family", m.family);
    visit("run", m.run);
    visit("version", m.version);
    visit("measured_at", m.measured_at);
    visit("ranks", m.ranks);
    visit("length", m.length);
    visit("peak_bytes", m.peak_bytes);
    visit("predicted_bytes", m.predicted_bytes);
    visit("states_bytes", m.states_bytes);
    visit("step_s", m.step_s);
    visit("compute_s", m.compute_s);
    visit("comm_s", m.comm_s);
    visit("exposed_comm_s", m.exposed_comm_s);
    visit("assumed_compute_s", m.assumed_compute_s);
}

namespace {

using nlohmann::json;

int states_of(const Config& config) {
    const OptimizerKind* kind = find_optimizer(config.optimizer);
    return kind ? static_cast<int>(kind->states) : 0;
}

int rule_of(const Config& config) {
    const OptimizerKind* kind = find_optimizer(config.optimizer);
    return kind ? static_cast<int>(kind->rule) : 0;
}

int64_t tiles_of(const Config& config) {
    constexpr int64_t kWhole = -1, kAuto = -2;
    if (config.tiled_mlp) return config.tiled_mlp_shards.value_or(0);
    return config.gradient_checkpointing && !config.tiled_mlp_shards ? kAuto : kWhole;
}

/// Returns, as JSON, everything besides length, mesh and batch that a rank's memory and speed depend on.
json family_of(const Plan& plan) {
    const Config& config = plan.config;
    json family = {
        {"model", model_config_to_json(*plan.model)},
        {"device", to_string(plan.device)},
        {"precision", static_cast<int>(config.precision)},
        {"gradient_checkpointing", config.gradient_checkpointing},
        {"selective_checkpointing", config.selective_checkpointing},
        {"tiled_mlp", tiles_of(config)},
        {"activation_offloading", config.activation_offloading},
        {"optimizer_offloading", config.optimizer_offloading},
        {"parameter_offloading", config.parameter_offloading},
        {"optimizer_states", states_of(config)},
        {"optimizer_rule", rule_of(config)},
        {"lora", {config.lora.r, config.lora.dropout > 0, config.lora.targets}},
        {"quantization",
         {to_string(config.quantization.format), config.quantization.block, config.quantization.nested}},
        {"packed", config.sample_packing}};
    if (states_on_disk(config)) family["optimizer_disk"] = true;
    if (plan.sequence.chunks > 1) family["sequence_chunks"] = plan.sequence.chunks;
    if (config.preference.on()) family["preference"] = to_string(config.preference.method);
    if (config.policy) family["preference"] = "grpo";
    if (plan.sharing.on) family["shared_prompts"] = true;
    if (config.sampling) family["sampling"] = {config.sampling->generations, config.policy->answer_tokens};
    return family;
}

json run_of(const Plan& plan) {
    const Mesh& mesh = plan.mesh;
    json sizes = {mesh.dp_replicate, mesh.dp_shard, mesh.ring, mesh.ulysses};
    if (mesh.expert > 1) sizes.push_back(mesh.expert);
    return {{"mesh", std::move(sizes)},
            {"layout", to_string(plan.context_parallel.layout)},
            {"heads_k_stride", plan.context_parallel.heads_k_stride},
            {"zero_stage", plan.zero_stage},
            {"length", plan.sequence.padded_length},
            {"micro", plan.batch.micro},
            {"accumulation", plan.batch.accumulation}};
}

double distance(const Measurement& measurement, const Plan& plan) {
    const double length = double(std::max<int64_t>(1, plan.sequence.padded_length));
    return std::abs(std::log(double(std::max<int64_t>(1, measurement.length)) / length));
}

}  // namespace

double Recalibration::memory_ratio() const {
    const double measured = from->peak_bytes - from->states_bytes;
    const double predicted = from->predicted_bytes - from->states_bytes;
    return measured > 0 && predicted > 0 ? measured / predicted : 1;
}

double Recalibration::compute_ratio() const {
    return from->assumed_compute_s > 0 ? from->compute_s / from->assumed_compute_s : 1;
}

std::optional<Recalibration> recalibration_of(const PlanRequest& request, const Plan& plan) {
    if (!plan.model || plan.nodes > 1 || request.measurements.empty()) return std::nullopt;
    const Measurement wanted = measurement_for(plan);
    Recalibration best;
    for (const Measurement& measurement : request.measurements) {
        if (measurement.version != wanted.version || measurement.family != wanted.family) continue;
        const bool same = measurement.run == wanted.run;
        const bool nearer = best.from == nullptr ||
                            distance(measurement, plan) < distance(*best.from, plan) ||
                            (distance(measurement, plan) == distance(*best.from, plan) &&
                             measurement.measured_at > best.from->measured_at);
        if (same ? best.is_same_run && measurement.measured_at < best.from->measured_at
                 : best.is_same_run || !nearer)
            continue;
        best = {&measurement, same};
    }
    return best.from == nullptr ? std::nullopt : std::optional(best);
}

Measurement measurement_for(const Plan& plan) {
    Measurement measurement;
    measurement.family = family_of(plan).dump();
    measurement.run = run_of(plan).dump();
    measurement.version = RINGMASTER_VERSION;
    measurement.ranks = plan.ranks;
    measurement.length = plan.sequence.padded_length;
    return measurement;
}

json measurement_to_json(const Measurement& measurement) {
    return fields_to_json(measurement);
}

Measurement measurement_from_json(const json& from) {
    try {
        return fields_from_json<Measurement>(from);
    } catch (const json::exception& problem) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"),
                    "a measurement is damaged: " + json_problem(problem));
    }
}

std::string date_text(double unix_seconds) {
    const auto seconds = static_cast<std::time_t>(unix_seconds);
    std::tm local{};
    localtime_r(&seconds, &local);
    char text[32] = {};
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", &local);
    return text;
}

}  // namespace ringmaster
