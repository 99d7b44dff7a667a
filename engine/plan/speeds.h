/// Says how fast a rank computes and a link transfers: assumed figures, or those that `ringmaster calibrate`
/// measured on a machine. Units are floating-point operations and bytes per second.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "engine/plan/measured.h"
#include "engine/plan/plan.h"
#include "engine/plan/plan_request.h"

namespace ringmaster {

/// Speeds of one rank in the precision of computation. Attention counts only its visible cells: 4 operations
/// per cell and element of a head in the forward pass, 10 in the backward pass (the kernel computes the
/// scores again).
struct Speeds {
    double flops = 0;  ///< matrix products
    double attention_forward = 0;
    double attention_backward = 0;
    double memory = 0;       ///< bytes per second for the optimizer's update and for merging partial results
    double inside_node = 0;  ///< bytes per second from a rank to another rank of its node
    double across_nodes = 0;
    double host_memory = 0;  ///< bytes per second for an update by the CPU, a rank's share of its node
    double host_link = 0;    ///< bytes per second between a GPU and host memory, one way; unused on a CPU
    double disk = 0;         ///< bytes per second from or to a disk, a rank's share of its node
    double latency_s = 0;    ///< seconds until a message's first byte arrives
};

/// Returns whether this machine's CPU multiplies in bfloat16; if not, products are computed in float32.
bool cpu_has_bfloat16();

/// Returns the assumed speeds: see the table in speeds.cpp. `cores` counts the cores of a node.
Speeds assumed_speeds(Device device, Precision precision, int cores, int ranks_per_node);

/// The resolved speeds of a plan, and their sources.
struct SpeedsOfPlan {
    Speeds speeds;
    const Calibration* calibration = nullptr;    ///< points into the request; null: no calibration
    std::optional<Recalibration> recalibration;  ///< takes precedence over the calibration
    /// True if every figure behind this plan's time was measured, including the link's speed.
    bool measured = false;
};

/// Returns measured or calibrated speeds if the plan has one node and its device was measured or calibrated.
/// Otherwise returns assumed speeds.
SpeedsOfPlan speeds_of(const PlanRequest& request, const Plan& plan);

nlohmann::json calibration_to_json(const Calibration& calibration);
/// Throws Error(Refused) that names `where` if the JSON is damaged.
Calibration calibration_from_json(const nlohmann::json& json, const std::string& where);

}  // namespace ringmaster
