/// Lists the meshes and layouts over which layers that pass a state are tested.
#pragma once

#include <utility>
#include <vector>

#include "engine/config/config.h"
#include "engine/plan/mesh.h"

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

}  // namespace ringmaster
