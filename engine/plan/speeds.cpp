#include "engine/plan/speeds.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "engine/config/precision.h"
#include "engine/error.h"
#include "engine/json_fields.h"
#include "engine/json_problem.h"
#include "engine/plan/plan_request.h"

namespace ringmaster {

template <class Visit>
void each_field(const Visit& visit, Same<ComputeFigures> auto& figures) {
    visit("product_flops", figures.product);
    visit("attention_forward_flops", figures.attention_forward);
    visit("attention_backward_flops", figures.attention_backward);
}

template <class Visit>
void each_field(const Visit& visit, Same<Calibration> auto& c) {
    visit("host", c.host);
    visit("device", c.device);
    visit("processor", c.processor);
    visit("cores", c.cores);
    visit("version", c.version);
    visit("measured_at", c.measured_at);
    visit("float32", c.float32);
    visit("bfloat16", c.bfloat16);
    visit("memory_bytes_per_s", c.memory);
    visit("link_bytes_per_s", c.link);
    visit("link_latency_s", c.latency_s);
    visit.if_any("disk_bytes_per_s", c.disk);
    visit.if_any("disk_folder", c.disk_folder);
    visit("seconds", c.seconds);
}

namespace {

/// Speeds assumed until measured. CPU: one core with AVX2 and its share of the memory bandwidth; bfloat16 if
/// the core has instructions for it, else widened to float32 (engine/model/ops.cpp); Gloo over the loopback
/// and over 10-Gbit Ethernet. CUDA: an H100's matrix products as training reaches them; FlashAttention-2 as
/// published by ring-flash-attention for an H800 (19.3 × 8 causal passes forward and backward per second over
/// 8,192 tokens, 32 heads of 128); NVLink 4, 200-Gbit InfiniBand, and PCI Express 5.0 x16 (63 GB/s by its
/// signalling rate) as copies reach it. Its host has two sockets with eight channels of DDR5-4800 each, for
/// eight GPUs: 77 GB/s per GPU, of which an update reaches 60. A node has one disk: on PCI Express 4.0 x4 if
/// the node has GPUs, else the disk of a workstation.
struct DeviceFigures {
    double float32_flops, bfloat16_flops, bfloat16_widened_flops;
    double float32_attention, bfloat16_attention_forward, bfloat16_attention_backward;
    double memory, inside_node, across_nodes, latency_s, host_memory, host_link, disk;
};
constexpr DeviceFigures kCpuCore = {70e9,  200e9, 40e9,  70e9, 130e9, 140e9, 8e9,
                                    0.8e9, 1.0e9, 50e-6, 8e9,  0,     1e9};
constexpr DeviceFigures kGpu = {50e12, 400e12, 400e12, 40e12, 325e12, 287e12, 2.4e12,
                                200e9, 25e9,   10e-6,  60e9,  50e9,   3e9};

const DeviceFigures& figures_of(Device device) {
    return device == Device::Cpu ? kCpuCore : kGpu;
}

const Calibration* calibration_for(const PlanRequest& request, const Plan& plan) {
    if (plan.nodes > 1) return nullptr;  // the figures of this node do not describe other nodes
    const bool cpu = plan.device == Device::Cpu;
    if (!cpu && plan.ranks > request.devices_seen) return nullptr;  // the plan is for another machine
    for (const Calibration& calibration : request.calibrations) {
        if ((calibration.device == "cpu") == cpu) return &calibration;
    }
    return nullptr;
}

/// Returns a rank's share of the speed that all cores together reach; a GPU belongs to one rank.
Speeds measured_speeds(const Calibration& measured, Speeds speeds, const Plan& plan) {
    const bool narrow = plan.config.precision != Precision::Float32;
    const ComputeFigures& figures = narrow ? measured.bfloat16 : measured.float32;
    const double share = measured.device == "cpu" ? 1.0 / std::max(1, plan.ranks) : 1;
    speeds.flops = share * figures.product;
    speeds.attention_forward = share * figures.attention_forward;
    speeds.attention_backward = share * figures.attention_backward;
    speeds.memory = share * measured.memory;
    if (measured.device == "cpu") speeds.host_memory = speeds.memory;
    speeds.inside_node = measured.link.value_or(speeds.inside_node);
    speeds.latency_s = measured.latency_s.value_or(speeds.latency_s);
    if (measured.disk && measured.disk_folder == plan.config.optimizer_disk)
        speeds.disk = *measured.disk / std::max(1, plan.ranks);
    return speeds;
}

/// Returns the assumed speeds with computation `ratio` times as slow and the links' known speeds.
Speeds slowed(Speeds assumed, double ratio, const Speeds& known) {
    assumed.flops /= ratio;
    assumed.attention_forward /= ratio;
    assumed.attention_backward /= ratio;
    assumed.memory /= ratio;
    assumed.inside_node = known.inside_node;
    assumed.latency_s = known.latency_s;
    return assumed;
}

void require_positive(double value) {
    if (!(value > 0)) throw Error(Failure::Refused, Code("FILE-DAMAGED"), "a speed is not above 0");
}

void require_speeds(const Calibration& c) {
    for (const ComputeFigures& figures : {c.float32, c.bfloat16}) {
        require_positive(figures.product);
        require_positive(figures.attention_forward);
        require_positive(figures.attention_backward);
    }
    for (const double speed : {c.memory, c.link.value_or(1), c.latency_s.value_or(1), c.disk.value_or(1)})
        require_positive(speed);
}

}  // namespace

bool cpu_has_bfloat16() {
#if defined(__x86_64__)
    return __builtin_cpu_supports("avx512bf16");
#else
    return true;
#endif
}

Speeds assumed_speeds(Device device, Precision precision, int cores, int ranks_per_node) {
    const bool cpu = device == Device::Cpu, narrow = precision != Precision::Float32;
    const DeviceFigures& figures = figures_of(device);
    const double units = cpu ? std::max(1.0, double(cores) / double(ranks_per_node)) : 1;
    const bool widens = cpu && (precision == kFp16Mixed || !cpu_has_bfloat16());
    const double bfloat16_flops = widens ? figures.bfloat16_widened_flops : figures.bfloat16_flops;
    const auto attention = [&](double bfloat16) {
        return narrow && !widens ? bfloat16 : figures.float32_attention;
    };
    Speeds speeds;
    speeds.flops = units * (narrow ? bfloat16_flops : figures.float32_flops);
    speeds.attention_forward = units * attention(figures.bfloat16_attention_forward);
    speeds.attention_backward = units * attention(figures.bfloat16_attention_backward);
    speeds.memory = units * figures.memory;
    speeds.inside_node = figures.inside_node;
    speeds.across_nodes = figures.across_nodes;
    speeds.latency_s = figures.latency_s;
    speeds.host_memory = units * figures.host_memory;
    speeds.host_link = figures.host_link;
    speeds.disk = figures.disk / std::max(1, ranks_per_node);
    return speeds;
}

SpeedsOfPlan speeds_of(const PlanRequest& request, const Plan& plan) {
    SpeedsOfPlan found;
    const Speeds assumed =
        assumed_speeds(plan.device, plan.config.precision, cores_of(request), plan.ranks / plan.nodes);
    found.speeds = assumed;
    found.calibration = calibration_for(request, plan);
    if (found.calibration != nullptr) found.speeds = measured_speeds(*found.calibration, assumed, plan);
    const bool link_is_known =
        plan.ranks == 1 || (found.calibration != nullptr && found.calibration->link.has_value());
    found.recalibration = recalibration_of(request, plan);
    if (found.recalibration)
        found.speeds = slowed(assumed, found.recalibration->compute_ratio(), found.speeds);
    found.measured = link_is_known && (found.recalibration || found.calibration != nullptr);
    if (found.recalibration && found.recalibration->is_same_run) found.measured = true;
    return found;
}

nlohmann::json calibration_to_json(const Calibration& calibration) {
    return fields_to_json(calibration);
}

Calibration calibration_from_json(const nlohmann::json& json, const std::string& where) {
    try {
        const auto calibration = fields_from_json<Calibration>(json);
        require_speeds(calibration);
        return calibration;
    } catch (const std::exception& problem) {
        throw Error(Failure::Refused, Code("FILE-DAMAGED"), "is damaged: " + json_problem(problem), where,
                    "ringmaster calibrate measures anew");
    }
}

}  // namespace ringmaster
