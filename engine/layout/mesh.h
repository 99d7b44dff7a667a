/// Describes the mesh: dp_replicate × dp_shard × ring × ulysses ranks. The Ulysses index varies
/// fastest, so the ranks of one Ulysses group are neighbours (on one node if possible), then those of one
/// ring.
///
/// Expert parallelism divides the shards of one replica, dp_shard × ring × ulysses, into `expert` parts of
/// consecutive ranks. The ranks of a part compute the same experts. An expert group has one rank of each
/// part.
#pragma once

namespace ringmaster {

struct MeshCoordinates {
    int dp_replicate = 0;
    int dp_shard = 0;
    int ring = 0;
    int ulysses = 0;
};

struct Mesh {
    int dp_replicate = 1;
    int dp_shard = 1;
    int ring = 1;
    int ulysses = 1;
    int expert = 1;  ///< number of parts that experts are divided into; ranks() does not multiply by it

    int context_parallel_size() const { return ring * ulysses; }
    int data_parallel_size() const { return dp_replicate * dp_shard; }  ///< groups that read different rows
    int shards() const { return dp_shard * ring * ulysses; }  ///< ranks that states are sharded over
    int ranks_of_part() const { return shards() / expert; }   ///< ranks that compute the same experts
    int ranks() const { return data_parallel_size() * context_parallel_size(); }

    MeshCoordinates coordinates(int rank) const;
    int rank_of(const MeshCoordinates& coordinates) const;
    int data_rank(int rank) const { return rank / context_parallel_size(); }
    /// Returns the position within the context-parallel group: ring × ulysses_size + ulysses.
    int context_rank(int rank) const { return rank % context_parallel_size(); }
};

}  // namespace ringmaster
