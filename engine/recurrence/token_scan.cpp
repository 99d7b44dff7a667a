#include "engine/recurrence/token_scan.h"

#include <ATen/ATen.h>
#include <ATen/Parallel.h>

#include <vector>

#include "engine/kernels/scan.h"

namespace ringmaster {

namespace {

/// Returns the address of a row's and group's part of a tensor.
template <typename Number>
Number* of_group(const at::Tensor& x_bgww, int64_t row, int64_t group) {
    return x_bgww.data_ptr<Number>() + row * x_bgww.stride(0) + group * x_bgww.stride(1);
}

/// Returns the address of a group's first channel at a row's token.
template <typename Number>
Number* of_token(const at::Tensor& x_btc, int64_t row, int64_t group, int64_t first) {
    if (!x_btc.defined()) return nullptr;
    return x_btc.data_ptr<Number>() + row * x_btc.stride(0) + first * x_btc.stride(1) + group * kScanLanes;
}

template <typename Number>
ScanTokens<Number> tokens_of(const TokenScan::Inputs& in, const TokenSpan& span, int64_t row, int64_t group) {
    const int64_t K = in.keys_btk.size(2), at_key = row * in.keys_btk.stride(0) + span.first * K;
    return {.tokens = span.count,
            .states = K,
            .stride = in.x_btc.stride(1),
            .x_tl = of_token<Number>(in.x_btc, row, group, span.first),
            .steps_tl = of_token<Number>(in.steps_btc, row, group, span.first),
            .rates_kl = in.rates_gkl.data_ptr<Number>() + group * in.rates_gkl.stride(0),
            .keys_tk = in.keys_btk.data_ptr<Number>() + at_key,
            .queries_tk = in.queries_btk.data_ptr<Number>() + at_key};
}

/// Calls `body` with a number of the inputs' type, a row and a group, on several threads.
template <typename Body>
void for_groups(const TokenScan::Inputs& in, const Body& body) {
    const int64_t groups = in.rates_gkl.size(0);
    at::parallel_for(0, in.x_btc.size(0) * groups, 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
            if (in.x_btc.scalar_type() == at::kDouble)
                body(double(), i / groups, i % groups);
            else
                body(float(), i / groups, i % groups);
        }
    });
}

}  // namespace

at::Tensor TokenScan::zero_state() const {
    const auto sizes = in_.rates_gkl.sizes();
    return at::zeros({in_.x_btc.size(0), sizes[0], sizes[1], sizes[2]}, in_.x_btc.options());
}

TokenScan::Gradients TokenScan::zero_gradients() const {
    const auto like = [](const at::Tensor& x) { return at::zeros_like(x); };
    return {like(in_.x_btc), like(in_.steps_btc), like(in_.rates_gkl), like(in_.keys_btk),
            like(in_.queries_btk)};
}

void TokenScan::forward(const TokenSpan& span, const at::Tensor& state_bgkl, const at::Tensor& y_btc) const {
    if (by_operations_) return ScanByOperations(in_, span).forward(state_bgkl, y_btc);
    for_groups(in_, [&](auto zero, int64_t row, int64_t group) {
        using Number = decltype(zero);
        scan_kernels<Number>().forward(tokens_of<Number>(in_, span, row, group),
                                       of_group<Number>(state_bgkl, row, group),
                                       of_token<Number>(y_btc, row, group, span.first));
    });
}

void TokenScan::state_gradient(const TokenSpan& span, const at::Tensor& dy_btc,
                               const at::Tensor& dstate_bgkl) const {
    if (by_operations_) return ScanByOperations(in_, span).state_gradient(dy_btc, dstate_bgkl);
    for_groups(in_, [&](auto zero, int64_t row, int64_t group) {
        using Number = decltype(zero);
        scan_kernels<Number>().state_gradient(tokens_of<Number>(in_, span, row, group),
                                              of_token<Number>(dy_btc, row, group, span.first),
                                              of_group<Number>(dstate_bgkl, row, group));
    });
}

void TokenScan::backward(const TokenSpan& span, const at::Tensor& dy_btc, const at::Tensor& state_bgkl,
                         const at::Tensor& dstate_bgkl, const Gradients& gradients) const {
    if (by_operations_)
        return ScanByOperations(in_, span).backward(dy_btc, state_bgkl, dstate_bgkl, gradients);
    const int64_t B = in_.x_btc.size(0), G = in_.rates_gkl.size(0), K = in_.keys_btk.size(2);
    // Each group has separate sums, so that the order of additions does not depend on threads.
    const at::Tensor drates_bgkl = zero_state();
    const at::Tensor dkeys_bgtk = at::empty({B, G, span.count, K}, in_.x_btc.options());
    const at::Tensor dqueries_bgtk = at::empty_like(dkeys_bgtk);
    for_groups(in_, [&](auto zero, int64_t row, int64_t group) {
        using Number = decltype(zero);
        std::vector<Number> scratch(static_cast<size_t>(scan_scratch(span.count, K)));
        const ScanGradients<Number> out = {
            .dx_tl = of_token<Number>(gradients.dx_btc, row, group, span.first),
            .dsteps_tl = of_token<Number>(gradients.dsteps_btc, row, group, span.first),
            .drates_kl = of_group<Number>(drates_bgkl, row, group),
            .dkeys_tk = of_group<Number>(dkeys_bgtk, row, group),
            .dqueries_tk = of_group<Number>(dqueries_bgtk, row, group)};
        scan_kernels<Number>().backward(tokens_of<Number>(in_, span, row, group),
                                        of_token<Number>(dy_btc, row, group, span.first),
                                        of_group<Number>(state_bgkl, row, group),
                                        of_group<Number>(dstate_bgkl, row, group), out, scratch.data());
    });
    gradients.drates_gkl.add_(drates_bgkl.sum(0));
    gradients.dkeys_btk.narrow(1, span.first, span.count).add_(dkeys_bgtk.sum(1));
    gradients.dqueries_btk.narrow(1, span.first, span.count).add_(dqueries_bgtk.sum(1));
}

}  // namespace ringmaster
