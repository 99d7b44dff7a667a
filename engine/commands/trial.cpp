#include "engine/commands/trial.h"

#include <ATen/ATen.h>
#include <torch/version.h>

#include <chrono>
#include <nlohmann/json.hpp>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "engine/check/attention_check.h"
#include "engine/comm/backends.h"
#include "engine/comm/groups.h"
#include "engine/commands/json_command.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

void try_attention(at::Device device) {
    for (const AttentionVerdict& it : check_attention(device)) {
        if (it.ok()) continue;
        throw Error(Failure::Refused, Code("SELFTEST-FAILED"),
                    "attention or a gradient of it is wrong by " + std::to_string(it.worst) + " on " +
                        device.str() + " (" + it.dtype + ", head_dim " + std::to_string(it.head_dim) + ", " +
                        it.mask + ")");
    }
}

/// Runs the trial as one of two ranks, each of which is a thread.
void try_as(int rank, const c10::intrusive_ptr<c10d::Store>& store) {
    constexpr int64_t kNumbers = 1 << 16;
    Mesh mesh;
    mesh.ring = 2;
    GroupOptions options;
    options.timeout = std::chrono::seconds(20);
    Groups groups = make_groups(store, rank, mesh, options);
    const at::Tensor own = at::arange(kNumbers, at::kFloat) + float(rank);
    const at::Tensor other = at::arange(kNumbers, at::kFloat) + float(1 - rank);
    const at::Tensor came = at::empty_like(own);
    groups.ring().exchange({own}, 1 - rank, {came}, 1 - rank, "trial").wait();
    const at::Tensor sum = own.clone();
    groups.world().all_reduce(sum).wait();
    if (!at::equal(came, other))
        throw Error(Failure::Refused, Code("SELFTEST-FAILED"), "what ranks send each other comes changed");
    if (!at::equal(sum, own + other))
        throw Error(Failure::Refused, Code("SELFTEST-FAILED"), "a sum over ranks is wrong");
}

void try_two_ranks() {
    const c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::HashStore>();
    run_two_ranks([&](int rank) { try_as(rank, store); });
}

void try_gpu(int index) {
    load_cuda(index);
    try_attention(at::Device(at::kCUDA, static_cast<at::DeviceIndex>(index)));
}

}  // namespace

TrialReport trial(const TrialOptions& options, const OnPart& on_part) {
    const auto start = std::chrono::steady_clock::now();
    const at::NoGradGuard no_grad;
    TrialReport report;
    report.libtorch = TORCH_VERSION;
    const int gpus = options.device == Device::Cuda ? options.devices : 0;
    const auto part = [&](const std::string& name, const auto& check) {
        on_part(name, static_cast<int>(report.passed.size()), 2 + gpus);
        check();
        report.passed.push_back(name);
    };
    part("attention and gradients", [] { try_attention(at::kCPU); });
    part("two ranks", [] { try_two_ranks(); });
    for (int gpu = 0; gpu < gpus; ++gpu) part("GPU " + std::to_string(gpu), [&] { try_gpu(gpu); });
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

int print_trial(const TrialOptions& options) {
    return exit_status_of([&] {
        const TrialReport made = trial(options, print_phases());
        print_line(
            {{"result", {{"libtorch", made.libtorch}, {"passed", made.passed}, {"seconds", made.seconds}}}});
        return 0;
    });
}

}  // namespace ringmaster
