#include "engine/commands/selftest.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/check/attention_check.h"
#include "engine/check/attention_choice.h"
#include "engine/check/kernel_check.h"
#include "engine/check/stopwatch.h"
#include "engine/comm/backends.h"
#include "engine/commands/json_command.h"
#include "engine/error.h"
#include "engine/plan/speeds.h"

namespace ringmaster {

namespace {

using nlohmann::json;

constexpr int kParts = 4;

json json_of(const KernelVerdict& it) {
    return {{"kernel", it.kernel}, {"dtype", it.dtype},
            {"ok", it.ok()},       {"worst", it.worst},
            {"bound", it.bound},   {"ours_s", it.ours_s},
            {"twin_s", it.twin_s}, {"speedup", it.twin_s / it.ours_s}};
}

json json_of(const AttentionVerdict& it) {
    return {{"head_dim", it.head_dim}, {"group", it.group}, {"dtype", it.dtype}, {"mask", it.mask},
            {"softcap", it.softcap},   {"ok", it.ok()},     {"worst", it.worst}, {"bound", it.bound}};
}

json json_of(const RingVerdict& it) {
    return {{"ranks", it.ranks},
            {"tokens_per_rank", it.tokens_per_rank},
            {"dtype", it.dtype},
            {"ok", it.ok()},
            {"worst", it.worst},
            {"bound", it.bound},
            {"ring_forward_s", it.ring_forward_s},
            {"ring_backward_s", it.ring_backward_s},
            {"one_call_forward_s", it.one_forward_s},
            {"one_call_backward_s", it.one_backward_s},
            {"ratio", it.ratio()}};
}

/// Returns bytes per second between pinned host memory and the device; nothing on the CPU.
json copies(at::Device device, const Stopwatch& watch) {
    if (!device.is_cuda()) return json::object();
    constexpr int64_t kBytes = int64_t{256} << 20;
    const at::Tensor on_host = at::empty({kBytes}, at::TensorOptions().dtype(at::kByte).pinned_memory(true));
    const at::Tensor on_device = at::empty({kBytes}, at::TensorOptions().dtype(at::kByte).device(device));
    const double there = watch.median([&] { on_device.copy_(on_host, true); });
    const double back = watch.median([&] { on_host.copy_(on_device, true); });
    return {{"host_to_device_bytes_per_s", kBytes / there}, {"device_to_host_bytes_per_s", kBytes / back}};
}

bool all_ok(const json& verdicts) {
    return std::all_of(verdicts.begin(), verdicts.end(),
                       [](const json& it) { return it.at("ok").get<bool>(); });
}

/// Returns the requested device, or else the best available one.
Device device_of(const SelftestOptions& options) {
    if (options.device) return *options.device;
    try {
        load_cuda(0);
        return Device::Cuda;
    } catch (const Error& error) {
        std::fprintf(stderr, "ringmaster-engine: %s: the CPU is tested\n", error.what());
        return Device::Cpu;
    }
}

/// Prints all phases on stdout, first the self-test's, then the calibration's.
int run_selftest(const SelftestOptions& options) {
    const Device device = device_of(options);
    const json found = selftest(device, options.seconds_each, print_phases());
    CalibrationOptions calibration;
    calibration.device = device;
    calibration.devices = options.devices;
    calibration.seconds_each = options.seconds_each;
    const Calibration made = calibrate(calibration, print_phases(kParts));
    print_line({{"result", calibration_to_json(made)}, {"selftest", found}});
    return found.at("ok").get<bool>() ? 0 : 1;
}

}  // namespace

json selftest(Device kind, double seconds_each, const OnPart& on_part) {
    const at::NoGradGuard no_grad;
    const bool cuda = kind == Device::Cuda;
    if (cuda) load_cuda(0);
    const at::Device device = cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
    json found = {{"device", device.str()}, {"kernels", json::array()}, {"attention", json::array()}};
    on_part("kernels against LibTorch's operations", 0, kParts);
    for (const KernelCase& it : kernel_cases(device))
        found["kernels"].push_back(json_of(check(it, device, seconds_each)));
    on_part("flash attention against matrix products", 1, kParts);
    for (const AttentionVerdict& it : check_attention(device)) found["attention"].push_back(json_of(it));
    on_part("a ring's arithmetic against one call", 2, kParts);
    if (cuda) {
        const AttentionChoice choice = measure_cudnn({1, 32, 8, 8192, 128}, device, seconds_each);
        found["attention_choice"] = to_json(choice);
        use_cudnn(choice.use());  // a run with these heads uses the same kernel
    }
    found["ring"] = json_of(check_ring(device, seconds_each));
    use_cudnn({});
    on_part("copies between host and device", 3, kParts);
    found["copies"] = copies(device, Stopwatch(device, seconds_each));
    found["ok"] = all_ok(found["kernels"]) && all_ok(found["attention"]) && found["ring"]["ok"].get<bool>();
    return found;
}

int print_selftest(const SelftestOptions& options) {
    return exit_status_of([&] { return run_selftest(options); });
}

}  // namespace ringmaster
