/// Tests a machine before its first run, for a user or the planner. It compares our kernels with LibTorch's
/// operations, LibTorch's flash attention with plain products, and a ring with a single call. It also
/// measures how fast kernels, memory and links are.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "engine/commands/calibrate.h"

namespace ringmaster {

struct SelftestOptions {
    std::optional<Device> device;  ///< if empty, CUDA if there is a device, else the CPU with a note
    int devices = 0;               ///< number of GPUs available, as in CalibrationOptions
    double seconds_each = 0.3;     ///< seconds per timing
};

/// Returns {"ok", "device", "kernels": […], "attention": […], "ring": {…}, "copies": {…}}, on a GPU also
/// "attention_choice": {…}. Throws Error if the device is missing.
nlohmann::json selftest(Device device, double seconds_each, const OnPart& on_part);

/// Runs `ringmaster-engine --selftest`: prints {"phase","done","total"} lines on stdout, then {"result": as
/// from --calibrate, "selftest": {…}}, so that readers of --calibrate can read it. Returns 0 if all results
/// agree, 1 if not, or another exit status of run_session. Never throws.
int print_selftest(const SelftestOptions& options);

}  // namespace ringmaster
