/// Lists the meshes and layouts for tests of layers that pass a state between ranks, and compares the
/// layers' results with those of one rank that computes in float64.
#pragma once

#include <ATen/ATen.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "engine/config/config.h"
#include "engine/layout/layout.h"
#include "engine/layout/mesh.h"
#include "engine/recurrence/delta_layer.h"

namespace ringmaster {

inline Mesh mesh_of(int ring, int ulysses) {
    Mesh mesh;
    mesh.ring = ring;
    mesh.ulysses = ulysses;
    return mesh;
}

inline const std::vector<std::pair<Mesh, RingAttnFunc>> kMeshes = {
    {mesh_of(1, 1), RingAttnFunc::BatchRing},    {mesh_of(2, 1), RingAttnFunc::BatchRing},
    {mesh_of(2, 1), RingAttnFunc::BatchZigzag},  {mesh_of(1, 2), RingAttnFunc::BatchRing},
    {mesh_of(2, 2), RingAttnFunc::BatchZigzag},  {mesh_of(3, 1), RingAttnFunc::VarlenZigzag},
    {mesh_of(8, 1), RingAttnFunc::BatchRing},    {mesh_of(4, 2), RingAttnFunc::BatchRing},
    {mesh_of(5, 1), RingAttnFunc::VarlenLlama3}, {mesh_of(4, 1), RingAttnFunc::Balanced}};

/// Holds the errors of a mesh's results, relative to the norms of the expected results, and the bytes that a
/// rank sends.
struct Errors {
    double gated = 0, dinputs = 0, dweights = 0;
    int64_t sent_bytes = 0;
};

/// Expects errors below 1e-6 for `of` and below 1e-12 for the same example in float64, on every mesh.
/// errors_of(example, mesh, func) returns the errors.
template <class Example, class ErrorsOf>
void expect_on_every_mesh(const Example& of, const Example& in_float64, const ErrorsOf& errors_of) {
    for (const auto& [mesh, func] : kMeshes) {
        const std::string where = std::string(to_string(func)) + " ring " + std::to_string(mesh.ring) +
                                  " ulysses " + std::to_string(mesh.ulysses);
        for (const auto& [example, bound] : {std::pair(in_float64, 1e-12), std::pair(of, 1e-6)}) {
            const Errors errors = errors_of(example, mesh, func);
            EXPECT_LT(errors.gated, bound) << where;
            EXPECT_LT(errors.dinputs, bound) << where;
            // A weight's gradient is a sum over all tokens, whose terms partly cancel.
            EXPECT_LT(errors.dweights, 4 * bound) << where;
        }
    }
}

constexpr int64_t kRows = 2;

constexpr at::Tensor DeltaWeights::*kWeights[] = {
    &DeltaWeights::convolution_c1j, &DeltaWeights::step_bias_h,        &DeltaWeights::decay_log_h,
    &DeltaWeights::norm_v,          &DeltaWeights::convolution_bias_c, &DeltaWeights::skip_h};

/// Returns the weights with `change` applied to each; undefined weights stay undefined.
template <class Change>
DeltaWeights changed(const DeltaWeights& of, const Change& change) {
    DeltaWeights made;
    for (const auto which : kWeights)
        if ((of.*which).defined()) made.*which = change(of.*which);
    return made;
}

/// Returns a copy in float64 that requires a gradient.
inline at::Tensor leaf(const at::Tensor& x) {
    return x.to(at::kDouble).detach().clone().set_requires_grad(true);
}

/// Returns the results of compute(row, document) for all documents of all rows, with zeros at the padding:
/// [rows, tokens, width].
template <class Compute>
at::Tensor by_documents(const AttentionMask& mask, int64_t tokens, int64_t width, const Compute& compute) {
    std::vector<at::Tensor> rows;
    for (int64_t row = 0; row < kRows; ++row) {
        std::vector<at::Tensor> parts;
        int64_t end = 0;
        for (const DocumentRange& document : documents_of(mask, tokens)) {
            parts.push_back(compute(row, document));
            end = document.end;
        }
        parts.push_back(at::zeros({tokens - end, width}, at::kDouble));
        rows.push_back(at::cat(parts));
    }
    return at::stack(rows);
}

inline at::Tensor places_of(const Spans& spans) {
    std::vector<at::Tensor> parts = {at::empty({0}, at::kLong)};
    for (const Span& span : spans) parts.push_back(at::arange(span.begin, span.end, span.step, at::kLong));
    return at::cat(parts);
}

/// Returns the norm of the difference relative to the norm.
inline double error_of(const at::Tensor& ours, const at::Tensor& truth) {
    return (ours.to(at::kDouble) - truth).norm().item<double>() / truth.norm().item<double>();
}

/// Returns the value that weight gradients hold before the backward pass, as after a first micro-batch. The
/// backward pass halves it and adds the new gradients. In float32 the value is 0, because other values would
/// add rounding errors.
inline double held_before(const at::Tensor& dgated) {
    return dgated.scalar_type() == at::kDouble ? 1 : 0;
}

/// Returns the largest error among the weights' gradients, each summed over the ranks. `before` is the value
/// of the gradients on each rank before the backward pass.
inline double weights_error(const std::vector<DeltaWeights>& of_ranks, double before,
                            const DeltaWeights& truth) {
    double worst = 0;
    for (const auto which : kWeights) {
        if (!(truth.*which).defined()) continue;
        at::Tensor sum = at::zeros_like(truth.*which);
        for (const DeltaWeights& of_rank : of_ranks) sum += of_rank.*which - 0.5 * before;
        worst = std::max(worst, error_of(sum, truth.*which));
    }
    return worst;
}

}  // namespace ringmaster
