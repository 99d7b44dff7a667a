/// Names the groups of ranks that transfer among themselves. The engine connects each group
/// (engine/comm/groups.h), and the planner counts the memory of the connections.
#pragma once

#include <vector>

#include "engine/layout/mesh.h"

namespace ringmaster {

enum class MeshGroup {
    World,
    Ring,
    Ulysses,
    Shard,
    Replicas,
    ExpertPart,  ///< ranks of one replica that compute the same experts
    Experts      ///< one rank of each part; the ranks of the group compute all experts together
};

constexpr MeshGroup kMeshGroups[] = {MeshGroup::World,  MeshGroup::Ring,     MeshGroup::Ulysses,
                                     MeshGroup::Shard,  MeshGroup::Replicas, MeshGroup::ExpertPart,
                                     MeshGroup::Experts};

/// Returns the ranks of `rank`'s group of a kind, ascending.
std::vector<int> ranks_of(MeshGroup group, int rank, const Mesh& mesh);

/// Returns whether a kind of group has separate connections. Groups of shards, replicas and experts have none
/// if states are not sharded. Without replicas, the group of shards uses the world's connections. Groups of
/// experts have connections only with expert parallelism.
bool has_connections(MeshGroup group, const Mesh& mesh, bool shards_states);

}  // namespace ringmaster
