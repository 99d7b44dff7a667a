#include "launcher/machine/gpu_age.h"

#include <algorithm>
#include <charconv>

namespace ringmaster {

std::string least_capability() {
    return std::to_string(RINGMASTER_LEAST_GPU / 10) + "." + std::to_string(RINGMASTER_LEAST_GPU % 10);
}

bool is_too_old(const std::string& capability) {
    const char* end = capability.data() + capability.size();
    int major = 0, minor = 0;
    const auto [dot, problem] = std::from_chars(capability.data(), end, major);
    if (problem != std::errc()) return false;
    if (dot != end && *dot == '.') std::from_chars(dot + 1, end, minor);
    return 10 * major + minor < RINGMASTER_LEAST_GPU;
}

std::optional<Diagnostic> old_gpu_finding(const std::vector<Gpu>& gpus, size_t count, Severity severity) {
    const auto last = gpus.begin() + static_cast<std::ptrdiff_t>(std::min(count, gpus.size()));
    const auto old =
        std::find_if(gpus.begin(), last, [](const Gpu& gpu) { return is_too_old(gpu.capability); });
    if (old == last) return std::nullopt;
    return finding(severity, Form("GPU-OLD"), "", 0,
                   {{"gpu", int64_t{old->index}},
                    {"name", old->name},
                    {"capability", old->capability},
                    {"least", least_capability()}});
}

}  // namespace ringmaster
