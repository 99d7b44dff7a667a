/// What a person, or the planner, wants to know of a machine before the first run: do our kernels agree with
/// LibTorch's operations and its flash attention with plain matrix products, does a ring's arithmetic give
/// what one call gives, and how fast are they and the machine's memory and links.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <optional>

#include "engine/train/calibrate.h"

namespace ringmaster {

struct SelftestOptions {
    std::optional<Device> device;  ///< empty: CUDA where there is a device, else the CPU, which is said
    int devices = 0;               ///< as of CalibrationOptions
    double seconds_each = 0.3;     ///< of each timing
};

/// {"ok", "device", "kernels": […], "attention": […], "ring": {…}, "copies": {…}} and, on a GPU, "attention_choice": {…}. Throws Error where the
/// device is missing.
nlohmann::json selftest(Device device, double seconds_each, const OnPart& on_part);

/// `ringmaster-engine --selftest`: {"phase","done","total"} lines on stdout, then {"result": what --calibrate
/// prints, "selftest": {…}}, so that whoever reads --calibrate reads this. Exit status 0, 1 where something
/// disagrees, or as run_session's. Never throws.
int print_selftest(const SelftestOptions& options);

}  // namespace ringmaster
