/// Says in words how a plan divides its ranks.
#pragma once

#include <QString>

#include "engine/layout/mesh.h"

namespace ringmaster {

/// Returns text such as "ring 4 × ulysses 2", "data parallel 8" if each rank holds all states, or "no
/// splitting" if no axis has several ranks. If states are sharded, adds the ZeRO stage, as in "dp_shard 2 ×
/// ring 4 · ZeRO 3", and "· expert 4" if experts are divided among ranks.
QString mesh_words(const Mesh& mesh, int zero_stage);

}  // namespace ringmaster
