/// How fast a rank computes and a link carries: assumed figures, or what `ringmaster calibrate` measured on a
/// machine. Floating-point operations and bytes a second.
#pragma once

#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>

#include "engine/plan/measured.h"
#include "engine/plan/plan.h"

namespace ringmaster {

/// Speeds that a time is made from, of one rank in the precision of computation. Attention counts its visible
/// cells only: 4 operations a cell and element of a head in the forward, 10 in the backward (the kernel
/// computes the scores again).
struct Speeds {
    double flops = 0;  ///< matrix products
    double attention_forward = 0;
    double attention_backward = 0;
    double memory = 0;       ///< bytes a second, for the optimizer's update and for merging partial results
    double inside_node = 0;  ///< bytes a second that a rank sends to a rank of its node
    double across_nodes = 0;
    double host_link = 0;  ///< bytes a second between a GPU and its host's memory, one way; the CPU has none
    double latency_s = 0;  ///< of a message, before its first byte
    double merge_bytes = 0;       ///< memory traffic to merge a hop's result: of each element of the output
    double merge_grad_bytes = 0;  ///< and of each element that a hop's backward adds to
};

/// Whether this machine's processor multiplies in bfloat16 itself; without, products are made in float32.
bool cpu_has_bfloat16();

/// Assumed: see the table in speeds.cpp. `cores` are the node's.
Speeds assumed_speeds(Device device, Precision precision, int cores, int ranks_per_node);

/// The resolved speeds of a plan, and what they rest on.
struct SpeedsOfPlan {
    Speeds speeds;
    const Calibration* calibration = nullptr;    ///< of the request; null: all is assumed
    std::optional<Recalibration> recalibration;  ///< it counts before a calibration does
    bool measured = false;  ///< every figure that this plan's time depends on; the link may not be
};

/// Assumed, or from the request's measurements and calibrations of the plan's own device, on one node.
SpeedsOfPlan speeds_of(const PlanRequest& request, const Plan& plan);

nlohmann::json calibration_to_json(const Calibration& calibration);
/// Throws Error(Refused) where it is damaged; `where` is said then.
Calibration calibration_from_json(const nlohmann::json& json, const std::string& where);

}  // namespace ringmaster
