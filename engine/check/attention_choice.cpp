#include "engine/check/attention_choice.h"

#include <ATen/ATen.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "engine/attention/cuda_flash.h"
#include "engine/check/kernel_check.h"
#include "engine/check/stopwatch.h"
#include "engine/layout/attention_schedule.h"
#include "engine/layout/deterministic.h"
#include "engine/layout/flash_blocks.h"
#include "engine/layout/layout.h"
#include "engine/plan/attention_kernels.h"

namespace ringmaster {

namespace {

constexpr double kBound = 3e-2;        // bound for bfloat16, as in the self-test
constexpr double kWorthwhile = 0.97;   // cuDNN must take less than this fraction of FlashAttention-2's time
constexpr int64_t kMostTokens = 8192;  // more tokens slow both kernels alike

/// Returns fixed values, because random values would advance the generator that the run itself may use. Long
/// tensors repeat their values, which saves temporary memory.
at::Tensor some_numbers(const KernelShape& shape, int64_t heads, double step, at::Device device) {
    constexpr int64_t kMostDistinct = 1 << 22;
    const int64_t count = shape.rows * shape.tokens * heads * shape.head_dim;
    const int64_t distinct = std::min(count, kMostDistinct);
    const at::Tensor numbers = at::arange(distinct, at::TensorOptions().device(device).dtype(at::kFloat))
                                   .mul_(step)
                                   .sin_()
                                   .to(device.is_cuda() ? at::kBFloat16 : at::kFloat);
    return (count == distinct ? numbers : numbers.repeat({(count + distinct - 1) / distinct}))
        .narrow(0, 0, count)
        .view({shape.rows, shape.tokens, heads, shape.head_dim});
}

FlashInputs causal_square(const KernelShape& shape, at::Device device) {
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

/// Times both kernels and compares what `run_*` return. The other kernel is not chosen if it throws.
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

std::optional<KernelShape> measured_shape(const Plan& plan) {
    if (why_not_cudnn(plan) != nullptr) return {};
    const ModelConfig& model = *plan.model;
    const int64_t ulysses = plan.mesh.ulysses;
    KernelShape shape;
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
                                  const KernelShape& shape, at::Device device, double seconds) {
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

AttentionChoice measure_cudnn(const KernelShape& shape, at::Device device, double seconds,
                              const std::vector<KernelShape>& shapes) {
    const CudnnUse before = cudnn_in_use();
    use_cudnn({});
    const FlashKernel cudnn{cudnn_forward, cudnn_backward};
    AttentionChoice choice = measure_attention(cuda_flash_kernel(), cudnn, shape, device, seconds);
    choice.deterministic = cuda_is_deterministic();
    try_on_run_shapes(choice, cuda_flash_kernel(), cudnn, shapes, device);
    use_cudnn(before);
    return choice;
}

std::vector<KernelShape> run_shapes(const Plan& plan, int ring_rank) {
    const std::optional<KernelShape> measured = measured_shape(plan);
    if (!measured) return {};
    const RingAttnFunc func = plan.context_parallel.layout;
    const Layout layout = make_layout(func, plan.sequence.padded_length, plan.mesh.ring, plan.mesh.ulysses);
    std::vector<Spans> spans;
    for (int rank = 0; rank < plan.mesh.ring; ++rank)
        spans.push_back(ring_spans(layout, rank, plan.mesh.ulysses));
    const bool gathered = func == RingAttnFunc::VarlenLlama3;
    const int64_t at_once = std::max<int64_t>(1, plan.context_parallel.heads_k_stride);
    const AttentionSchedule schedule =
        gathered ? make_gather_schedule(spans, ring_rank, {}, at_once) : make_ring_schedule(spans, ring_rank);
    std::vector<KernelShape> shapes;
    for (const Stage& stage : schedule.stages) {
        for (const FlashCall& call : flash_calls(stage.slices)) {
            const FlashSegment& only = call.segments[0];
            const DenseCall dense{only.queries(), only.keys(), measured->head_dim, call.window};
            if (call.segments.size() != 1 || !cudnn_takes(dense)) continue;
            KernelShape shape = *measured;
            shape.tokens = only.queries();
            shape.keys = call.window == kCausalWindow ? 0 : only.keys();
            if (gathered) {
                shape.heads = std::min(shape.kv_heads, at_once) * (shape.heads / shape.kv_heads);
                shape.kv_heads = std::min(shape.kv_heads, at_once);
            }
            if (std::find(shapes.begin(), shapes.end(), shape) == shapes.end()) shapes.push_back(shape);
        }
    }
    return shapes;
}

namespace {

/// Returns one launch with tensors placed as in a run: queries in rows that also hold keys and values, a
/// hop's keys and values adjacent in one buffer (engine/attention/scheduled_attention.cpp).
FlashInputs as_in_a_run(const KernelShape& shape, at::Device device) {
    KernelShape wide = shape;
    const at::Tensor rows = some_numbers(wide, shape.heads + 2 * shape.kv_heads, 0.7, device);
    const auto of_rows = [&](int64_t head, int64_t heads) { return rows.narrow(2, head, heads); };
    FlashInputs in{of_rows(0, shape.heads),
                   of_rows(shape.heads, shape.kv_heads),
                   of_rows(shape.heads + shape.kv_heads, shape.kv_heads),
                   {},
                   {},
                   shape.tokens,
                   shape.tokens,
                   kCausalWindow};
    if (shape.keys == 0) return in;
    wide.tokens = shape.keys;
    const at::Tensor buffer_s2bkd = some_numbers(wide, 2 * shape.kv_heads, 1.3, device)
                                        .view({shape.keys, 2, shape.rows, shape.kv_heads, shape.head_dim});
    in.k = buffer_s2bkd.select(1, 0).transpose(0, 1);
    in.v = buffer_s2bkd.select(1, 1).transpose(0, 1);
    in.most_keys = shape.keys;
    in.window = {};
    return in;
}

/// Returns the largest worst_difference of the parts, comparing 16,384 tokens at a time to save memory.
double worst_in_parts(const Tensors& ours, const Tensors& truth) {
    constexpr int64_t kAtOnce = 1 << 14;
    double worst = 0;
    for (size_t i = 0; i < truth.size(); ++i) {
        const int64_t dim = truth[i].dim() == 3 ? 2 : 1;  // lse [B, H, T], else [B, T, H, D]
        for (int64_t at = 0; at < truth[i].size(dim); at += kAtOnce) {
            const int64_t count = std::min(kAtOnce, truth[i].size(dim) - at);
            worst = std::max(
                worst, worst_difference({ours[i].narrow(dim, at, count)}, {truth[i].narrow(dim, at, count)}));
        }
    }
    return worst;
}

Tensors forward_of(const FlashKernel& kernel, const FlashInputs& in) {
    const FlashKernel::Output it = kernel.forward(in);
    return {it.out, it.lse};
}

Tensors backward_of(const FlashKernel& kernel, const FlashInputs& in, const at::Tensor& dout,
                    const FlashKernel::Output& whole) {
    const FlashKernel::Gradients it = kernel.backward(in, dout, whole);
    return {it.dq, it.dk, it.dv};
}

/// Returns the inputs, narrowed to the heads of one launch: with many tokens, the backward pass takes a few
/// heads at a time (flash_blocks.h).
FlashInputs heads_of_a_launch(FlashInputs in, const KernelShape& shape) {
    const int64_t group = shape.heads / shape.kv_heads;
    const int64_t at_once = key_heads_at_once(shape.rows * shape.tokens, shape.kv_heads, group);
    in.q = in.q.narrow(2, 0, at_once * group);
    in.k = in.k.narrow(2, 0, at_once);
    in.v = in.v.narrow(2, 0, at_once);
    return in;
}

void try_shape(AttentionChoice& choice, const FlashKernel& flash, const FlashKernel& other,
               const KernelShape& shape, at::Device device) {
    const CudnnUse use = choice.use();
    AttentionTiming* tried = &choice.forward;
    try {
        const FlashInputs in = as_in_a_run(shape, device);
        if (use.forward)
            tried->worst =
                std::max(tried->worst, worst_in_parts(forward_of(other, in), forward_of(flash, in)));
        if (!use.backward) return;
        tried = &choice.backward;
        const FlashInputs part = heads_of_a_launch(in, shape);
        FlashKernel::Output whole = flash.forward(part);
        whole.lse = whole.lse.contiguous();
        const at::Tensor dout = some_numbers(shape, shape.heads, 0.3, device).narrow(2, 0, part.q.size(2));
        tried->worst = std::max(tried->worst, worst_in_parts(backward_of(other, part, dout, whole),
                                                             backward_of(flash, part, dout, whole)));
    } catch (const std::exception& problem) {
        tried->problem = "with " + std::to_string(shape.tokens) + " queries and " +
                         std::to_string(shape.keys == 0 ? shape.tokens : shape.keys) + " keys a row, " +
                         first_line(problem.what());
    }
}

}  // namespace

void try_on_run_shapes(AttentionChoice& choice, const FlashKernel& flash, const FlashKernel& other,
                       const std::vector<KernelShape>& shapes, at::Device device) {
    for (const KernelShape& shape : shapes) {
        if (choice.use() == CudnnUse{}) return;
        try_shape(choice, flash, other, shape, device);
    }
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
    const std::optional<KernelShape> shape = measured_shape(plan);
    if (!shape) return "";
    const AttentionChoice choice =
        measure_cudnn(*shape, groups.device(), kSeconds, run_shapes(plan, groups.ring().rank()));
    const CudnnUse use = agreed(groups, choice.use());
    use_cudnn(use);
    return to_text(choice, use);
}

}  // namespace ringmaster
