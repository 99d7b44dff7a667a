/// Says in words how a plan divides its ranks.
#pragma once

#include <QString>

#include "engine/layout/mesh.h"

namespace ringmaster {

/// Returns "dp_shard 2 × ring 4 · ZeRO 3", "data parallel 8" if each rank holds all states, "no splitting".
/// Adds "· expert 4" if experts are divided among ranks.
QString mesh_words(const Mesh& mesh, int zero_stage);

}  // namespace ringmaster
