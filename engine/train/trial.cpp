#include "engine/train/selftest.h"

#include <ATen/ATen.h>
#include <ATen/CPUGeneratorImpl.h>
#include <torch/version.h>

#include <array>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <nlohmann/json.hpp>
#include <thread>
#include <torch/csrc/distributed/c10d/HashStore.hpp>

#include "engine/attention/block_attention.h"
#include "engine/attention/cuda_flash.h"
#include "engine/comm/backends.h"
#include "engine/comm/groups.h"
#include "engine/error.h"

namespace ringmaster {

namespace {

constexpr int64_t kHeads = 4, kTokens = 192, kHeadDim = 64;
constexpr double kTolerance = 1e-4, kHalfTolerance = 2e-2;

void compare(const std::string& what, const at::Tensor& got, const at::Tensor& wanted, double tolerance) {
    const at::Tensor want = wanted.to(at::kDouble);
    const double error = ((got.to(at::kCPU, at::kDouble) - want).norm() / want.norm()).item<double>();
    if (error <= tolerance) return;  // not for what is no number
    throw Error(Failure::Refused, what + " is wrong by " + std::to_string(error) + " of its size");
}

/// One causal sequence and its attention by the plain formula, in double precision.
struct Attention {
    at::Tensor q, k, v, dout;         ///< float32, [1, heads, tokens, head_dim]
    at::Tensor out, lse, dq, dk, dv;  ///< float64

    Attention() {
        const auto random = [](uint64_t seed) {
            at::Generator numbers = at::detail::createCPUGenerator(seed);
            return at::randn({1, kHeads, kTokens, kHeadDim}, numbers, at::TensorOptions());
        };
        q = random(1);
        k = random(2);
        v = random(3);
        dout = random(4);
        const double scale = 1 / std::sqrt(double(kHeadDim));
        const at::Tensor qd = q.to(at::kDouble), kd = k.to(at::kDouble), vd = v.to(at::kDouble);
        const at::Tensor hidden = at::ones({kTokens, kTokens}, at::kBool).triu(1);
        const at::Tensor scores =
            at::matmul(qd, kd.transpose(2, 3)).mul(scale).masked_fill(hidden, -INFINITY);
        lse = scores.logsumexp(3);
        const at::Tensor weights = (scores - lse.unsqueeze(3)).exp();
        out = at::matmul(weights, vd);
        const at::Tensor dd = dout.to(at::kDouble);
        dv = at::matmul(weights.transpose(2, 3), dd);
        const at::Tensor dw = at::matmul(dd, vd.transpose(2, 3));
        const at::Tensor ds = weights * (dw - (dd * out).sum(3, true));
        dq = at::matmul(ds, kd).mul(scale);
        dk = at::matmul(ds.transpose(2, 3), qd).mul(scale);
    }
};

void check_attention(const Attention& plain) {
    SoftmaxSums sums = no_keys_seen(plain.q);
    block_attention_forward(sums, plain.q, plain.k, plain.v, {{0, kTokens, 0, kTokens, SliceMask::Causal}});
    compare("attention", sums.values_bhtd / sums.total_bht.unsqueeze(3), plain.out, kTolerance);
}

void check_gradients(const Attention& plain) {
    at::Tensor dq = no_keys_seen(plain.q).values_bhtd;
    at::Tensor dk = at::zeros_like(plain.k), dv = at::zeros_like(plain.v);
    const at::Tensor delta = (plain.dout.to(at::kDouble) * plain.out).sum(3).to(at::kFloat);
    block_attention_backward(dq, dk, dv, plain.dout, plain.q, plain.k, plain.v, plain.lse.to(at::kFloat),
                             delta, {{0, kTokens, 0, kTokens, SliceMask::Causal}});
    compare("attention's gradient of the queries", dq, plain.dq, kTolerance);
    compare("attention's gradient of the keys", dk, plain.dk, kTolerance);
    compare("attention's gradient of the values", dv, plain.dv, kTolerance);
}

/// One of two ranks that are threads here.
void check_as(int rank, const c10::intrusive_ptr<c10d::Store>& store) {
    constexpr int64_t kNumbers = 1 << 16;
    const at::NoGradGuard no_grad;
    Mesh mesh;
    mesh.ring = 2;
    GroupOptions options;
    options.timeout = std::chrono::seconds(20);
    Groups groups = make_groups(store, rank, mesh, options);
    const at::Tensor own = at::arange(kNumbers, at::kFloat) + float(rank);
    const at::Tensor other = at::arange(kNumbers, at::kFloat) + float(1 - rank);
    const at::Tensor came = at::empty_like(own);
    groups.ring().exchange({own}, 1 - rank, {came}, 1 - rank, "self-test").wait();
    const at::Tensor sum = own.clone();
    groups.world().all_reduce(sum).wait();
    if (!at::equal(came, other)) throw Error(Failure::Refused, "what ranks send each other comes changed");
    if (!at::equal(sum, own + other)) throw Error(Failure::Refused, "a sum over ranks is wrong");
}

void check_two_ranks() {
    const c10::intrusive_ptr<c10d::Store> store = c10::make_intrusive<c10d::HashStore>();
    std::array<std::exception_ptr, 2> failures;
    std::vector<std::thread> threads;
    for (int rank = 0; rank < 2; ++rank) {
        threads.emplace_back([&, rank] {
            try {
                check_as(rank, store);
            } catch (...) {
                failures[static_cast<size_t>(rank)] = std::current_exception();
            }
        });
    }
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& failure : failures) {
        if (failure) std::rethrow_exception(failure);
    }
}

void check_gpu(int index, const Attention& plain) {
    load_cuda(index);
    const at::TensorOptions there =
        at::TensorOptions().device(at::Device(at::kCUDA, index)).dtype(at::kBFloat16);
    const std::string name = "GPU " + std::to_string(index);
    const at::Tensor q = plain.q.to(there), k = plain.k.to(there), v = plain.v.to(there);
    compare(name + ": a product", at::matmul(q, k.transpose(2, 3)),
            at::matmul(plain.q, plain.k.transpose(2, 3)), kHalfTolerance);
    compare(name + ": attention", flash_forward(q, k, v, true).out_bhtd, plain.out, kHalfTolerance);
}

void print_line(const nlohmann::json& line) {
    std::printf("%s\n", line.dump().c_str());
    std::fflush(stdout);
}

}  // namespace

SelfTestReport self_test(const SelfTestOptions& options,
                         const std::function<void(const std::string& name, int done, int total)>& on_part) {
    const auto start = std::chrono::steady_clock::now();
    const at::NoGradGuard no_grad;
    SelfTestReport report;
    report.libtorch = TORCH_VERSION;
    const int gpus = options.device == Device::Cuda ? options.devices : 0;
    const auto part = [&](const std::string& name, const auto& check) {
        on_part(name, static_cast<int>(report.passed.size()), 3 + gpus);
        check();
        report.passed.push_back(name);
    };
    const Attention plain;
    part("attention", [&] { check_attention(plain); });
    part("gradients", [&] { check_gradients(plain); });
    part("two ranks", [] { check_two_ranks(); });
    for (int gpu = 0; gpu < gpus; ++gpu) part("GPU " + std::to_string(gpu), [&] { check_gpu(gpu, plain); });
    report.seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return report;
}

int print_self_test(const SelfTestOptions& options) {
    try {
        const SelfTestReport made = self_test(options, [](const std::string& name, int done, int total) {
            print_line({{"phase", name}, {"done", done}, {"total", total}});
        });
        print_line(
            {{"result", {{"libtorch", made.libtorch}, {"passed", made.passed}, {"seconds", made.seconds}}}});
        return 0;
    } catch (const Error& error) {
        std::fprintf(stderr, "ringmaster-engine: %s\n", error.text().c_str());
        return static_cast<int>(error.failure);
    } catch (const std::exception& problem) {
        std::fprintf(stderr, "ringmaster-engine: %s\n", problem.what());
        return 1;
    }
}

}  // namespace ringmaster
