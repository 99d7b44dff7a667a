#include "engine/plan/memory/nccl_memory.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "engine/layout/mesh_groups.h"
#include "engine/plan/plan_request.h"
#include "tests/plan/plans.h"

namespace ringmaster {
namespace {

constexpr double kMiB = 1 << 20, kGiB = 1024 * kMiB;

NcclInputs on_nodes(const Mesh& mesh, int nodes) {
    NcclInputs in;
    in.mesh = mesh;
    in.ranks_per_node = mesh.ranks() / nodes;
    in.ring_peers = mesh.ring - 1;
    return in;
}
NcclInputs on_a_node(const Mesh& mesh) {
    return on_nodes(mesh, 1);
}

// NVIDIA/nccl#1685: the first all-to-all of 8 H100 took a GPU from 1.06 to 4.34 GB.
TEST(NcclMemory, AnAllToAllOf8H100TakesWhatWasMeasured) {
    const double with = nccl_bytes(on_a_node({1, 1, 1, 8})).expected;
    const double without = nccl_bytes(on_a_node({1, 8, 1, 1})).expected;
    EXPECT_NEAR((with - without) / 3.28e9, 1, 0.05);
}

// A communicator takes 2 pages of 2 MiB, 3 for each of 32 channels, and 17 for NVLink's switches. A
// connection takes 12 MiB on each of 24 channels of a ring and on each of 32 channels to a peer. The switches
// use 32 MiB per GPU for their sums.
TEST(NcclMemory, ARingOf8IsCounted) {
    const double communicator = (2 + 3 * 32 + 17) * 2 * kMiB, ring = 24 * 12 * kMiB;
    const double sends = 7 * 32 * 12 * kMiB, switches = 8 * 32 * kMiB;
    NcclInputs in = on_a_node({1, 1, 8, 1});
    EXPECT_EQ(nccl_bytes(in).expected, 2 * (communicator + ring) + sends + switches);
    in.shards_states = true;  // large sums are then reduce-scatters, for which a ring is faster
    EXPECT_EQ(nccl_bytes(in).expected, 2 * (communicator + ring) + sends);
    in.ring_peers = 1;
    EXPECT_EQ(nccl_bytes(in).expected, 2 * (communicator + ring) + sends / 7);
}

TEST(NcclMemory, SumsInOrderLeaveTheSwitchesOut) {
    NcclInputs in = on_a_node({1, 8, 1, 1});
    const NcclBytes any = nccl_bytes(in);
    in.in_order = true;
    EXPECT_EQ(any.expected - nccl_bytes(in).expected, 8 * 32 * kMiB);
}

TEST(NcclMemory, OneRankTakesNone) {
    const NcclBytes bytes = nccl_bytes(on_a_node({1, 1, 1, 1}));
    EXPECT_EQ(bytes.low, 0);
    EXPECT_EQ(bytes.high, 0);
}

TEST(NcclMemory, SendsAcrossNodesShareTheirBuffers) {
    const double near = nccl_bytes(on_a_node({1, 1, 16, 1})).expected;
    const double far = nccl_bytes(on_nodes({1, 1, 16, 1}, 2)).expected;
    EXPECT_LT(far, near / 2);
    NcclInputs in = on_nodes({1, 1, 16, 1}, 2);
    const double all = nccl_bytes(in).expected;
    in.ring_peers = 7;  // number of peers in the ring on this node
    EXPECT_EQ(all - nccl_bytes(in).expected, 2 * 16 * 2 * kMiB);
}

TEST(NcclMemory, AMeasuredLinkSettlesTheChannels) {
    NcclInputs in = on_a_node({1, 1, 8, 1});
    const NcclBytes unknown = nccl_bytes(in);
    in.link = 20e9;
    const NcclBytes slow = nccl_bytes(in);
    EXPECT_EQ(slow.low, unknown.low);
    EXPECT_LT(slow.high, 0.5 * kGiB);
    in.link = 250e9;
    EXPECT_GT(nccl_bytes(in).low, 2.5 * kGiB);
    EXPECT_EQ(nccl_bytes(in).expected, unknown.expected);
}

TEST(NcclMemory, BoundsAreInOrder) {
    for (const Mesh& mesh :
         {Mesh{1, 1, 2, 1}, {1, 2, 4, 1}, {2, 2, 2, 1}, {1, 1, 2, 4}, {4, 1, 1, 1}, {1, 4, 4, 4}}) {
        for (const int nodes : {1, 2}) {
            for (const bool shards : {false, true}) {
                NcclInputs in = on_nodes(mesh, nodes);
                in.shards_states = shards;
                const NcclBytes bytes = nccl_bytes(in);
                EXPECT_GT(bytes.low, 0);
                EXPECT_LT(bytes.low, bytes.expected);
                EXPECT_LE(bytes.expected, bytes.high);
            }
        }
    }
}

// Guards against a regression: an earlier version assumed 1.5 GiB for every mesh.
TEST(NcclMemory, PlansCountItByMesh) {
    PlanRequest request;
    request.device = Device::Cuda;
    const auto runtime = [&](const std::string& more, int ranks) {
        const Plan plan = plan_of(more, ranks, request);
        EXPECT_TRUE(plan.memory) << said(plan);
        return plan.memory ? double(plan.memory->per_rank[0].runtime) : 0;
    };
    const double one = runtime("", 1), ring = runtime("context_parallel_size: 8\n", 8);
    const double ulysses = runtime("context_parallel_size: 8\nulysses_size: 8\n", 8), data = runtime("", 8);
    EXPECT_EQ(one, kGiB);
    NcclInputs in = on_a_node({1, 1, 8, 1});
    EXPECT_EQ(ring - one, nccl_bytes(in).expected);
    EXPECT_EQ(ulysses, ring);
    EXPECT_GT(ring - data, 2.6 * kGiB) << "the group that sends keys";
    EXPECT_LT(runtime("context_parallel_size: 2\n", 2) - one, 1.5 * kGiB);
}

TEST(MeshGroups, HoldEachRankOnceAndAreTheSameForAll) {
    const Mesh mesh{2, 2, 3, 2, 4};
    for (const MeshGroup group : kMeshGroups) {
        for (int rank = 0; rank < mesh.ranks(); ++rank) {
            const std::vector<int> ranks = ranks_of(group, rank, mesh);
            EXPECT_EQ(std::count(ranks.begin(), ranks.end(), rank), 1);
            EXPECT_TRUE(std::is_sorted(ranks.begin(), ranks.end()));
            for (const int other : ranks) EXPECT_EQ(ranks_of(group, other, mesh), ranks);
        }
    }
    EXPECT_EQ(ranks_of(MeshGroup::Replicas, 5, mesh), (std::vector{5, 17}));
    EXPECT_EQ(ranks_of(MeshGroup::ExpertPart, 16, mesh), (std::vector{15, 16, 17}));
    EXPECT_EQ(ranks_of(MeshGroup::Experts, 16, mesh), (std::vector{13, 16, 19, 22}));
}

}  // namespace
}  // namespace ringmaster
