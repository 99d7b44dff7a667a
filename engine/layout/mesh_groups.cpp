#include "engine/layout/mesh_groups.h"

namespace ringmaster {

std::vector<int> ranks_of(MeshGroup group, int rank, const Mesh& mesh) {
    std::vector<int> ranks;
    MeshCoordinates at = mesh.coordinates(rank);
    switch (group) {
        case MeshGroup::World:
            for (int other = 0; other < mesh.ranks(); ++other) ranks.push_back(other);
            break;
        case MeshGroup::Ring:
            for (at.ring = 0; at.ring < mesh.ring; ++at.ring) ranks.push_back(mesh.rank_of(at));
            break;
        case MeshGroup::Ulysses:
            for (at.ulysses = 0; at.ulysses < mesh.ulysses; ++at.ulysses) ranks.push_back(mesh.rank_of(at));
            break;
        case MeshGroup::Shard: {
            const int shards = mesh.shards();
            for (int other = 0; other < shards; ++other) ranks.push_back(rank / shards * shards + other);
            break;
        }
        case MeshGroup::Replicas:
            for (at.dp_replicate = 0; at.dp_replicate < mesh.dp_replicate; ++at.dp_replicate)
                ranks.push_back(mesh.rank_of(at));
            break;
        case MeshGroup::ExpertPart: {
            const int of_part = mesh.ranks_of_part();
            for (int other = 0; other < of_part; ++other) ranks.push_back(rank / of_part * of_part + other);
            break;
        }
        case MeshGroup::Experts: {
            const int shards = mesh.shards(), of_part = mesh.ranks_of_part();
            for (int part = 0; part < mesh.expert; ++part)
                ranks.push_back(rank / shards * shards + part * of_part + rank % of_part);
            break;
        }
    }
    return ranks;
}

bool has_connections(MeshGroup group, const Mesh& mesh, bool shards_states) {
    const bool is_of_experts = group == MeshGroup::ExpertPart || group == MeshGroup::Experts;
    const bool is_of_states = group == MeshGroup::Shard || group == MeshGroup::Replicas || is_of_experts;
    if (is_of_states && !shards_states) return false;
    if (is_of_experts && mesh.expert == 1) return false;
    if (group == MeshGroup::Shard && mesh.dp_replicate == 1) return false;
    return ranks_of(group, 0, mesh).size() > 1;
}

}  // namespace ringmaster
