#include "engine/commands/calibrate.h"

#include <ATen/ATen.h>
#include <ATen/DeviceAccelerator.h>
#include <ATen/Parallel.h>
#include <sched.h>
#include <torch/version.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "engine/attention/block_attention.h"
#include "engine/attention/partial_attention.h"
#include "engine/check/attention_choice.h"
#include "engine/check/stopwatch.h"
#include "engine/comm/backends.h"
#include "engine/comm/groups.h"
#include "engine/commands/json_command.h"
#include "engine/commands/link.h"
#include "engine/error.h"
#include "engine/files/disk_file.h"
#include "engine/model/ops.h"
#include "engine/plan/speeds.h"

namespace ringmaster {

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kParts = 9;

double seconds_since(Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
}

at::Tensor random(at::IntArrayRef sizes, at::ScalarType dtype, at::Device device) {
    return at::randn(sizes, at::TensorOptions().device(device)).mul_(0.5).to(dtype);
}

/// Returns the operations per second of a product of square matrices. On the CPU, doubles the matrices up to
/// 2048 rows, as long as the product takes less than a tenth of a second.
double product_flops(at::ScalarType dtype, at::Device device, const Stopwatch& watch) {
    int64_t side = device.is_cuda() ? 8192 : 256;
    const auto rate_of = [&](const Stopwatch& how) {
        const at::Tensor a = random({side, side}, dtype, device), b = random({side, side}, dtype, device);
        at::Tensor c = at::empty_like(a);
        return 2 * std::pow(double(side), 3) / how.median([&] { product_out(c, a, b); });
    };
    if (device.is_cpu()) {
        const double rate = rate_of(Stopwatch(device, 0));
        while (side < 2048 && 2 * std::pow(2 * double(side), 3) / rate < 0.1) side *= 2;
    }
    return rate_of(watch);
}

/// Holds the inputs of one causal sequence; every four query heads share a key head, as in many current
/// models.
struct AttentionCase {
    int64_t heads, kv_heads, tokens, head_dim;
    at::Tensor q, k, v, dout;

    AttentionCase(at::ScalarType dtype, at::Device device)
        : heads(device.is_cuda() ? 32 : 8),
          kv_heads(heads / 4),
          tokens(device.is_cuda() ? 8192 : 2048),
          head_dim(device.is_cuda() ? 128 : 64) {
        q = random({1, tokens, heads, head_dim}, dtype, device).transpose(1, 2);
        k = random({1, tokens, kv_heads, head_dim}, dtype, device).transpose(1, 2);
        v = random({1, tokens, kv_heads, head_dim}, dtype, device).transpose(1, 2);
        dout = random({1, tokens, heads, head_dim}, dtype, device).transpose(1, 2);
    }
    double cells() const { return double(tokens) * double(tokens + 1) / 2; }
    double numbers() const { return cells() * double(heads * head_dim); }
};

void measure_attention_cpu(const AttentionCase& at_, const Stopwatch& watch, ComputeFigures& figures,
                           const std::function<void()>& next) {
    const std::vector<Slice> slices = {{0, at_.tokens, 0, at_.tokens, SliceMask::Causal}};
    SoftmaxSums sums;
    figures.attention_forward = 4 * at_.numbers() / watch.median([&] {
        sums = no_keys_seen(at_.q);
        block_attention_forward(sums, at_.q, at_.k, at_.v, slices);
    });
    next();
    const at::Tensor out = sums.values_bhtd / sums.total_bht.unsqueeze(3);
    const at::Tensor lse = sums.total_bht.log() + sums.top_bht;
    const at::Tensor delta = (at_.dout.to(at::kFloat) * out).sum(3);
    at::Tensor dq = no_keys_seen(at_.q).values_bhtd;
    at::Tensor dk = at::zeros_like(at_.k, at::kFloat), dv = at::zeros_like(at_.v, at::kFloat);
    figures.attention_backward = 10 * at_.numbers() / watch.median([&] {
        block_attention_backward(dq, dk, dv, at_.dout, at_.q, at_.k, at_.v, lse, delta, slices);
    });
}

/// Measures with the kernel that a run with such heads would use: cuDNN if it is faster.
void measure_attention_cuda(const AttentionCase& at_, const Stopwatch& watch, ComputeFigures& figures,
                            const std::function<void()>& next) {
    if (at_.q.scalar_type() == at::kBFloat16) {
        constexpr double kSeconds = 0.1;
        const KernelShape shape{1, at_.heads, at_.kv_heads, at_.tokens, at_.head_dim};
        use_cudnn(measure_cudnn(shape, at_.q.device(), kSeconds).use());
    }
    const std::vector<Slice> slices = {{0, at_.tokens, 0, at_.tokens, SliceMask::Causal}};
    FlashOutput whole;
    figures.attention_forward = 4 * at_.numbers() / watch.median([&] {
        whole = attention_in_one_call(at_.q, at_.k, at_.v, slices).value();
    });
    next();
    figures.attention_backward = 10 * at_.numbers() / watch.median([&] {
        gradients_in_one_call(at_.dout, at_.q, at_.k, at_.v, whole, slices).value();
    });
    use_cudnn({});
}

double copy_bytes_per_s(at::Device device, const Stopwatch& watch) {
    constexpr int64_t kNumbers = int64_t{64} << 20;  // 256 MiB, beyond any cache
    const at::Tensor from = at::ones({kNumbers}, at::TensorOptions().device(device));
    at::Tensor to = at::empty_like(from);
    return 2 * 4 * double(kNumbers) / watch.median([&] { to.copy_(from); });
}

/// Writes and reads in turn, as an update of states on a disk does.
double disk_bytes_per_s(const std::string& folder) {
    constexpr int64_t kEach = int64_t{16} << 20, kTimes = 16;
    DiskFile file(folder);
    const int64_t begin = file.reserve(kTimes * kEach);
    const auto bytes = std::make_shared<const DiskBytes>(kEach);
    const Clock::time_point start = Clock::now();
    for (int64_t i = 0; i < kTimes; ++i) {
        file.write(begin + i * kEach, bytes);
        file.read(begin + (kTimes - 1 - i) * kEach, kEach);
    }
    file.finish();
    return double(2 * kTimes * kEach) / seconds_since(start);
}

/// Measures the link as one of two ranks on this node.
LinkFigures measure_as(int rank, const c10::intrusive_ptr<c10d::Store>& store, Device kind,
                       const CalibrationOptions& options) {
    Mesh mesh;
    mesh.ring = 2;
    GroupOptions group_options;
    group_options.device = kind;
    group_options.device_index = kind == Device::Cuda ? rank : 0;
    group_options.timeout = std::chrono::seconds(30);
    at::set_num_threads(1);
    Groups groups = make_groups(store, rank, mesh, group_options);
    return measure_link(groups, options.seconds_each);
}

LinkFigures measure_own_link(Device device, const CalibrationOptions& options) {
    const c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::HashStore>();
    std::array<LinkFigures, 2> of_rank;
    run_two_ranks(
        [&](int rank) { of_rank[static_cast<size_t>(rank)] = measure_as(rank, store, device, options); });
    return {std::min(of_rank[0].bytes_per_s, of_rank[1].bytes_per_s),
            std::max(of_rank[0].latency_s, of_rank[1].latency_s)};
}

int usable_cores() {
    cpu_set_t set;
    CPU_ZERO(&set);
    if (sched_getaffinity(0, sizeof set, &set) == 0) return std::max(1, CPU_COUNT(&set));
    return std::max(1, static_cast<int>(std::thread::hardware_concurrency()));
}

double unix_seconds() {
    timespec now{};
    clock_gettime(CLOCK_REALTIME, &now);
    return double(now.tv_sec) + 1e-9 * double(now.tv_nsec);
}

Calibration about_this_machine(Device device) {
    Calibration made;
    char host[256] = {};
    gethostname(host, sizeof host - 1);
    made.host = host;
    made.device = to_string(device);
    made.cores = usable_cores();
    made.version = std::string(RINGMASTER_VERSION) + ", LibTorch " + TORCH_VERSION;
    made.measured_at = unix_seconds();
    return made;
}

}  // namespace

Calibration calibrate(const CalibrationOptions& options, const OnPart& on_part) {
    const Clock::time_point start = Clock::now();
    const at::NoGradGuard no_grad;
    const bool cuda = options.device == Device::Cuda;
    if (cuda) load_cuda(0);
    const at::Device device = cuda ? at::Device(at::kCUDA, 0) : at::Device(at::kCPU);
    const Stopwatch watch(device, options.seconds_each);
    Calibration made = about_this_machine(options.device);
    at::set_num_threads(made.cores);
    int done = 0;
    const auto part = [&](const std::string& name) { on_part(name, done++, kParts); };
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16}) {
        const std::string in = dtype == at::kFloat ? " in float32" : " in bfloat16";
        ComputeFigures& figures = dtype == at::kFloat ? made.float32 : made.bfloat16;
        part("matrix product" + in);
        figures.product = product_flops(dtype, device, watch);
        part("attention forward" + in);
        const auto next = [&] { part("attention backward" + in); };
        const AttentionCase attention(dtype, device);
        cuda ? measure_attention_cuda(attention, watch, figures, next)
             : measure_attention_cpu(attention, watch, figures, next);
    }
    part("memory copy");
    made.memory = copy_bytes_per_s(device, watch);
    part("link between two ranks");
    if (!cuda || options.devices > 1) {
        const LinkFigures link = measure_own_link(options.device, options);
        made.link = link.bytes_per_s;
        made.latency_s = link.latency_s;
    }
    part("disk");
    if (!options.disk.empty()) {
        made.disk = disk_bytes_per_s(options.disk);
        made.disk_folder = options.disk;
    }
    on_part("done", kParts, kParts);
    made.seconds = seconds_since(start);
    return made;
}

int print_calibration(const CalibrationOptions& options) {
    return exit_status_of([&] {
        print_line({{"result", calibration_to_json(calibrate(options, print_phases()))}});
        return 0;
    });
}

}  // namespace ringmaster
