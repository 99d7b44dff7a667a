/// Lists the fields of a `step` event once: for writing and reading its JSON line, and for tables of steps.
#pragma once

#include <concepts>
#include <type_traits>

#include "engine/events/event.h"

namespace ringmaster {

/// Matches E and const E.
template <class T, class E>
concept EventOf = std::same_as<std::remove_const_t<T>, E>;

void each_field(auto& field, EventOf<LossFigures> auto& of) {
    field.if_any("rewards_chosen", of.rewards_chosen);
    field.if_any("rewards_rejected", of.rewards_rejected);
    field.if_any("reward_margin", of.margin);
    field.if_any("reward_accuracy", of.accuracy);
    field.if_any("kl", of.kl);
    field.if_any("nll", of.nll);
    field.if_any("clip_share", of.clip_share);
    field.if_any("sampler_gap", of.sampler_gap);
}

void each_field(auto& field, EventOf<SamplingFigures> auto& of) {
    field.if_any("reward", of.reward);
    field.if_any("reward_std", of.reward_std);
    field.if_any("completion_tokens", of.completion_tokens);
    field.if_any("cut_share", of.cut_share);
    field.if_any("even_share", of.even_share);
    field.if_any("reward_functions", of.functions);
}

/// Calls `field(name, value)` for each field of a step, and `field.if_any(name, value)` for those that only
/// some runs have.
void each_field(auto& field, EventOf<StepEvent> auto& e) {
    field("step", e.step);
    field("epoch", e.epoch);
    field("loss", e.loss);
    field("rank_loss", e.rank_loss);
    field("tokens", e.tokens);
    field("valid_tokens", e.valid_tokens);
    field("rank_valid_tokens", e.rank_valid_tokens);
    field("lr", e.lr);
    field("grad_norm", e.grad_norm);
    field("step_s", e.step_s);
    field("compute_s", e.compute_s);
    field("comm_s", e.comm_s);
    field("exposed_comm_s", e.exposed_comm_s);
    field("comm_bytes", e.comm_bytes);
    field("data_s", e.data_s);
    field("memory_bytes", e.memory_bytes);
    field("peak_memory_bytes", e.peak_memory_bytes);
    field("tokens_per_s", e.tokens_per_s);
    field("position_sum", e.position_sum);
    field("attention_cells", e.attention_cells);
    field.if_any("loss_scale", e.loss_scale);
    field.if_any("router_loss", e.router_loss);
    field.if_any("skipped", e.skipped);
    field.if_any("host_memory_bytes", e.host_memory_bytes);
    each_field(field, e.preference);
    each_field(field, e.sampling);
}

}  // namespace ringmaster
