#include "engine/train/attention_choice.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/attention/cuda_flash.h"
#include "engine/attention/deterministic.h"
#include "engine/train/kernel_check.h"
#include "engine/train/stopwatch.h"

namespace ringmaster {

namespace {

constexpr double kBound = 3e-2;        // of bfloat16, as the self-test's
constexpr double kWorthwhile = 0.97;   // of FlashAttention-2's time
constexpr int64_t kMostTokens = 8192;  // a longer square takes both longer alike
constexpr int64_t kMostHeadDim = 128;

/// Any numbers, without the generator that the run itself may draw from.
at::Tensor some_numbers(const AttentionShape& shape, int64_t heads, double step, at::Device device) {
    const int64_t count = shape.rows * shape.tokens * heads * shape.head_dim;
    return at::arange(count, at::TensorOptions().device(device).dtype(at::kFloat))
        .mul_(step)
        .sin_()
        .to(device.is_cuda() ? at::kBFloat16 : at::kFloat)
        .view({shape.rows, shape.tokens, heads, shape.head_dim});
}

FlashInputs causal_square(const AttentionShape& shape, at::Device device) {
    FlashInputs in{some_numbers(shape, shape.heads, 0.7, device),
                   some_numbers(shape, shape.kv_heads, 1.3, device),
                   some_numbers(shape, shape.kv_heads, 2.1, device),
                   {},
                   {},
                   0,
                   0,
                   kCausalWindow};
    in.most_queries = in.most_keys = shape.tokens;
    return in;
}

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

/// `run_*` give what is compared. A kernel that this machine does not have is not chosen.
AttentionTiming time_both(const std::function<Tensors()>& run_flash,
                          const std::function<Tensors()>& run_other, const Stopwatch& watch) {
    AttentionTiming timing;
    const Tensors truth = run_flash();
    timing.flash_s = watch.median([&] { run_flash(); });
    try {
        timing.worst = worst_difference(run_other(), truth);
        timing.other_s = watch.median([&] { run_other(); });
    } catch (const std::exception& problem) {
        timing.problem = first_line(problem.what());
    }
    return timing;
}

std::string milliseconds(double seconds) {
    char text[32];
    std::snprintf(text, sizeof text, "%.2f ms", 1e3 * seconds);
    return text;
}

std::string to_text(const AttentionTiming& it, bool used) {
    const std::string flash = "FlashAttention-2 " + milliseconds(it.flash_s);
    if (!it.problem.empty()) return flash + ", cuDNN has none: " + it.problem;
    const std::string cudnn = "cuDNN " + milliseconds(it.other_s);
    if (it.worst > kBound) return flash + ", " + cudnn + " with another result";
    return used ? cudnn + ", FlashAttention-2 " + milliseconds(it.flash_s) : flash + ", " + cudnn;
}

nlohmann::json to_json(const AttentionTiming& it) {
    const bool ran = it.problem.empty();
    return {{"flash_s", it.flash_s},
            {"cudnn_s", ran ? nlohmann::json(it.other_s) : nlohmann::json(nullptr)},
            {"worst", ran ? nlohmann::json(it.worst) : nlohmann::json(nullptr)},
            {"problem", it.problem},
            {"cudnn_wins", it.other_wins()}};
}

}  // namespace

std::optional<AttentionShape> measured_shape(const Plan& plan) {
    if (plan.device != Device::Cuda || plan.config.precision == Precision::Float32 || !plan.model) return {};
    const ModelConfig& model = *plan.model;
    const bool cut = plan.config.sample_packing || model.sliding_window.has_value();
    if (cut || model.head_dim > kMostHeadDim || model.head_dim % 8 != 0) return {};
    const int64_t ulysses = plan.mesh.ulysses;
    AttentionShape shape;
    shape.rows = plan.batch.micro;
    shape.heads = std::max<int64_t>(1, model.num_heads / ulysses);
    shape.kv_heads = std::max<int64_t>(1, model.num_kv_heads / ulysses);
    shape.tokens = std::clamp<int64_t>(plan.sequence.per_rank * ulysses, 2, kMostTokens);
    shape.head_dim = model.head_dim;
    return shape;
}

bool AttentionTiming::other_wins() const {
    return problem.empty() && worst <= kBound && other_s < kWorthwhile * flash_s;
}

AttentionChoice measure_attention(const FlashKernel& flash, const FlashKernel& other,
                                  const AttentionShape& shape, at::Device device, double seconds) {
    const FlashInputs in = causal_square(shape, device);
    const at::Tensor dout = some_numbers(shape, shape.heads, 0.3, device);
    const Stopwatch watch(device, seconds);
    const auto forward = [&](const FlashKernel& kernel) -> Tensors {
        const FlashKernel::Output it = kernel.forward(in);
        return {it.out, it.lse};
    };
    AttentionChoice choice;
    choice.forward = time_both([&] { return forward(flash); }, [&] { return forward(other); }, watch);
    FlashKernel::Output whole = flash.forward(in);
    whole.lse = whole.lse.contiguous();
    const auto backward = [&](const FlashKernel& kernel) -> Tensors {
        const FlashKernel::Gradients it = kernel.backward(in, dout, whole);
        return {it.dq, it.dk, it.dv};
    };
    choice.backward = time_both([&] { return backward(flash); }, [&] { return backward(other); }, watch);
    return choice;
}

AttentionChoice measure_cudnn(const AttentionShape& shape, at::Device device, double seconds) {
    const CudnnUse before = cudnn_in_use();
    use_cudnn({});
    AttentionChoice choice =
        measure_attention(cuda_flash_kernel(), {cudnn_forward, cudnn_backward, {}}, shape, device, seconds);
    use_cudnn(before);
    choice.deterministic = cuda_is_deterministic();
    return choice;
}

CudnnUse agreed(Groups& groups, const CudnnUse& own) {
    at::Tensor refused = at::zeros({2}, at::kLong);
    refused[0] = own.forward ? 0 : 1;
    refused[1] = own.backward ? 0 : 1;
    refused = refused.to(groups.device());
    groups.world().all_reduce(refused, Reduce::Max).wait();
    return {refused[0].item<int64_t>() == 0, refused[1].item<int64_t>() == 0};
}

std::string to_text(const AttentionChoice& choice, const CudnnUse& use) {
    const auto name = [](bool used) { return std::string(used ? "cuDNN" : "FlashAttention-2"); };
    std::string text = "forward " + name(use.forward) + " (" + to_text(choice.forward, use.forward) +
                       "), backward " + name(use.backward) + " (" + to_text(choice.backward, use.backward) +
                       ")";
    if (choice.deterministic && choice.backward.other_wins())
        text += "; cuDNN's backward is faster, and not the same in a run repeated";
    return text;
}

nlohmann::json to_json(const AttentionChoice& choice) {
    return {{"forward", to_json(choice.forward)},
            {"backward", to_json(choice.backward)},
            {"deterministic", choice.deterministic},
            {"cudnn_forward", choice.use().forward},
            {"cudnn_backward", choice.use().backward}};
}

std::string choose_attention(Groups& groups, const Plan& plan) {
    constexpr double kSeconds = 0.1;
    const std::optional<AttentionShape> shape = measured_shape(plan);
    if (!shape) return "";
    const AttentionChoice choice = measure_cudnn(*shape, groups.device(), kSeconds);
    const CudnnUse use = agreed(groups, choice.use());
    use_cudnn(use);
    return to_text(choice, use);
}

}  // namespace ringmaster
