/// Lists the meshes and layouts over which layers that pass a state are tested, and compares their results.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "engine/config/config.h"
#include "engine/layout/mesh.h"

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

/// Errors of a mesh's results, relative to the norms of the expected ones, and the bytes that a rank sends.
struct Errors {
    double gated = 0, dinputs = 0, dweights = 0;
    int64_t sent_bytes = 0;
};

/// Expects small errors of an example, and smaller ones of the same example in float64. The errors come from
/// errors_of(example, mesh, layout).
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

}  // namespace ringmaster
