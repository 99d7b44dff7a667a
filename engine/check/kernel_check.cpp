#include "engine/check/kernel_check.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "engine/attention/merge.h"
#include "engine/check/stopwatch.h"
#include "engine/model/dtypes.h"
#include "engine/model/ops.h"
#include "engine/model/own_ops.h"
#include "engine/model/plain_ops.h"

namespace ringmaster {

namespace {

constexpr double kEps = 1e-5;
constexpr double kLossScale = 0.25;

struct Sizes {
    int64_t tokens, width, intermediate, vocab, labels, heads, head_dim;
};

Sizes sizes_on(at::Device device) {
    if (device.is_cuda()) return {8192, 4096, 14336, 128256, 1024, 32, 128};
    return {128, 512, 1024, 4096, 32, 8, 64};
}

/// Makes random tensors of one dtype. Each case holds a copy of this object, because the case outlives the
/// object that makes it.
struct Random {
    at::Device device;
    at::ScalarType dtype;

    at::Tensor of(at::IntArrayRef sizes) const { return floats(sizes).to(dtype); }
    at::Tensor floats(at::IntArrayRef sizes) const {
        return at::randn(sizes, at::TensorOptions().device(device));
    }
};

/// Makes the cases of one dtype.
class Cases {
  public:
    Cases(at::Device device, at::ScalarType dtype, std::vector<KernelCase>& cases)
        : random_{device, dtype}, sizes_(sizes_on(device)), cases_(cases) {
        if (device.is_cuda()) run_ = rows_on(device);
    }

    void add_all() {
        add_norm(false);
        add_norm(true);
        add_rope();
        add_swiglu();
        add_cross_entropy();
        if (!random_.device.is_cuda()) return;  // the CPU uses LibTorch's own merge
        add_merge();
    }

  private:
    using Work = std::function<Tensors(const Tensors&)>;
    void add(const std::string& kernel, std::function<Tensors()> inputs, Work ours, Work twin) {
        const double bound = random_.dtype == at::kFloat ? 2e-5 : random_.dtype == at::kHalf ? 2.5e-3 : 2e-2;
        cases_.push_back({kernel, config_name_of(random_.dtype), std::move(inputs), std::move(ours),
                          std::move(twin), bound});
    }

    /// Adds RMSNorm, or LayerNorm with biases if `centred`, and its gradients.
    void add_norm(bool centred) {
        const int64_t N = sizes_.tokens, W = sizes_.width, P = centred ? 2 * W : W;
        const bool cuda = random_.device.is_cuda();
        const std::string name = centred ? "layer_norm" : "rms_norm";
        const auto twin = centred ? plain::layer_norm : plain::rms_norm;
        add(
            name,
            [=, random = random_] {
                return Tensors{random.of({N, W}), random.of({P})};
            },
            [=, run = run_](const Tensors& in) {
                const auto on_device = centred ? own::layer_norm : own::rms_norm;
                const auto on_cpu = centred ? layer_norm : rms_norm;
                at::Tensor stats;
                const at::Tensor y = cuda ? on_device(run, in[0], in[1], kEps, stats, 0)
                                          : on_cpu(in[0], in[1], kEps, stats, 0);
                return Tensors{y, stats};
            },
            [=](const Tensors& in) {
                at::Tensor stats;
                const at::Tensor y = twin(in[0], in[1], kEps, stats, 0);
                return Tensors{y, stats};
            });
        add(
            name + "_backward",
            [=, random = random_] {
                const at::Tensor x = random.of({N, W}), parameters = random.of({P});
                at::Tensor stats;
                twin(x, parameters, kEps, stats, 0);
                return Tensors{random.of({N, W}), x, parameters, stats, random.of({N, W}),
                               random.floats({P})};
            },
            [=, run = run_](const Tensors& in) {
                const auto on_cpu = centred ? layer_norm_backward : rms_norm_backward;
                if (cuda) {
                    own::norm_backward(run, in[0], in[1], in[2], in[3], in[4], true, in[5], 1);
                } else {
                    on_cpu(in[0], in[1], in[2], in[3], in[4], true, in[5], 1, 0);
                }
                return Tensors{in[4], in[5]};
            },
            [=](const Tensors& in) {
                const auto backward = centred ? plain::layer_norm_backward : plain::rms_norm_backward;
                backward(in[0], in[1], in[2], in[3], in[4], true, in[5], 1, 0);
                return Tensors{in[4], in[5]};
            });
    }

    void add_rope() {
        const int64_t N = sizes_.tokens, H = sizes_.heads, D = sizes_.head_dim;
        for (const bool backward : {false, true}) {
            add(
                backward ? "rope_backward" : "rope",
                [=, random = random_] {
                    const at::Tensor angle = random.floats({N / 2, D / 2});
                    return Tensors{random.of({N, (H + 2) * D}), angle.cos(), angle.sin()};
                },
                [=, run = run_, cuda = random_.device.is_cuda()](const Tensors& in) {
                    if (cuda) {
                        own::rotate(run, in[0], in[1], in[2], H + 1, D, backward);
                    } else {
                        rotate(in[0], in[1], in[2], H + 1, D, backward);
                    }
                    return Tensors{in[0]};
                },
                [=](const Tensors& in) {
                    plain::rotate(in[0], in[1], in[2], H + 1, D, backward, false);
                    return Tensors{in[0]};
                });
        }
    }

    void add_swiglu() {
        const int64_t N = sizes_.tokens, I = sizes_.intermediate;
        const bool cuda = random_.device.is_cuda();
        add(
            "swiglu",
            [=, random = random_] {
                return Tensors{random.of({N, 2 * I})};
            },
            [cuda, run = run_](const Tensors& in) {
                return Tensors{cuda ? own::gate(run, in[0]) : gate(in[0])};
            },
            [](const Tensors& in) { return Tensors{plain::gate(in[0], {})}; });
        add(
            "swiglu_backward",
            [=, random = random_] {
                return Tensors{random.of({N, 2 * I}), random.of({N, I})};
            },
            [cuda, run = run_](const Tensors& in) {
                const at::Tensor act =
                    cuda ? own::gate_backward(run, in[0], in[1]) : gate_backward(in[0], in[1]);
                return Tensors{act, in[0]};
            },
            [](const Tensors& in) {
                const at::Tensor act = plain::gate_backward(in[0], in[1], {});
                return Tensors{act, in[0]};
            });
    }

    void add_cross_entropy() {
        const int64_t N = sizes_.labels, V = sizes_.vocab;
        add(
            "cross_entropy",
            [=, random = random_] {
                const auto kind = at::TensorOptions().device(random.device).dtype(at::kLong);
                return Tensors{random.of({N, V}), at::randint(0, V, {N}, kind)};
            },
            [run = run_, cuda = random_.device.is_cuda()](const Tensors& in) {
                const at::Tensor loss = cuda ? own::cross_entropy(run, in[0], in[1], kLossScale)
                                             : cross_entropy(in[0], in[1], kLossScale);
                return Tensors{loss, in[0]};
            },
            [](const Tensors& in) {
                const at::Tensor loss = plain::cross_entropy(in[0], in[1], kLossScale);
                return Tensors{loss, in[0]};
            });
    }

    /// Adds cases that join one part, and as many parts as a ring joins at once.
    void add_merge() {
        const int64_t T = sizes_.tokens, H = sizes_.heads, D = sizes_.head_dim;
        for (const size_t parts : {size_t{1}, size_t{JoinParts<float>::kMost}}) {
            const auto joined = [](const Tensors& in) { return JoinedParts{in[0], in[1], false, {}}; };
            const auto parts_of = [](const Tensors& in) {
                std::vector<AttentionPart> held;
                for (size_t i = 2; i < in.size(); i += 2) held.push_back({in[i], in[i + 1]});
                return held;
            };
            add(
                parts == 1 ? "merge" : "merge_of_eight",
                [=, random = random_] {
                    Tensors made{random.floats({1, T, H, D}), random.floats({1, H, T})};
                    for (size_t i = 0; i < parts; ++i) {
                        made.push_back(random.of({1, T, H, D}));
                        made.push_back(random.floats({1, H, T}));
                    }
                    return made;
                },
                [=, run = run_](const Tensors& in) {
                    own::join_parts(run, joined(in), parts_of(in));
                    return Tensors{in[0], in[1]};
                },
                [=](const Tensors& in) {
                    plain::join_parts(joined(in), parts_of(in));
                    return Tensors{in[0], in[1]};
                });
        }
    }

    Random random_;
    Sizes sizes_;
    std::vector<KernelCase>& cases_;
    RunRows run_;
};

}  // namespace

std::vector<KernelCase> kernel_cases(at::Device device) {
    std::vector<KernelCase> cases;
    for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kHalf})
        Cases(device, dtype, cases).add_all();
    return cases;
}

double worst_difference(const Tensors& ours, const Tensors& twin) {
    double worst = 0;
    for (size_t i = 0; i < twin.size(); ++i) {
        const at::Tensor a = ours[i].to(at::kFloat), b = twin[i].to(at::kFloat);
        const double difference = (a - b).abs().max().item<double>(), most = b.abs().max().item<double>();
        const double relative = difference / std::max(most, 1e-30);
        worst = std::isfinite(relative) ? std::max(worst, relative) : std::numeric_limits<double>::infinity();
    }
    return worst;
}

KernelVerdict check(const KernelCase& it, at::Device device, double seconds) {
    at::manual_seed(11);
    const Tensors inputs = it.inputs();
    Tensors own_copy;
    const auto copy = [&] {
        own_copy.clear();
        for (const at::Tensor& x : inputs) own_copy.push_back(x.clone());
    };
    copy();
    const Tensors ours = it.ours(own_copy);
    copy();
    const Tensors twin = it.twin(own_copy);
    KernelVerdict verdict{it.kernel, it.dtype, worst_difference(ours, twin), it.bound, 0, 0};
    const Stopwatch watch(device, seconds);
    verdict.ours_s = watch.median(copy, [&] { it.ours(own_copy); });
    verdict.twin_s = watch.median(copy, [&] { it.twin(own_copy); });
    return verdict;
}

}  // namespace ringmaster
