#include "engine/layout/mesh.h"

namespace ringmaster {

MeshCoordinates Mesh::coordinates(int rank) const {
    MeshCoordinates at;
    at.ulysses = rank % ulysses;
    at.ring = rank / ulysses % ring;
    at.dp_shard = rank / (ulysses * ring) % dp_shard;
    at.dp_replicate = rank / (ulysses * ring * dp_shard);
    return at;
}

int Mesh::rank_of(const MeshCoordinates& at) const {
    return ((at.dp_replicate * dp_shard + at.dp_shard) * ring + at.ring) * ulysses + at.ulysses;
}

}  // namespace ringmaster
