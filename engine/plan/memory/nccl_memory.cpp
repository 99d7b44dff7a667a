#include "engine/plan/memory/nccl_memory.h"

#include <algorithm>

#include "engine/layout/mesh_groups.h"

namespace ringmaster {

namespace {

constexpr double kPage = 2 << 20;
constexpr double kToSend = kPage, kToReceive = 5 * kPage, kConnection = kToSend + kToReceive;
constexpr double kOfSwitch = 2 << 20;        // per channel and rank of the node, for both directions
constexpr double kShared = 16 * 128 * 1024;  // per channel and direction, for sends to other nodes

struct Channels {
    int collective, all, to_peer, of_switch;
};
constexpr Channels kNvLink = {24, 32, 32, 16}, kBlackwell = {32, 32, 32, 24}, kPcie = {2, 2, 2, 0},
                   kAcrossNodes = {16, 16, 2, 16};

/// Says how a rank uses one group.
struct Use {
    int near = 1, nodes = 1;  ///< ranks of the group on this node, including this rank; nodes of the group
    int near_peers = 0, far_peers = 0;  ///< other ranks with which this rank exchanges data
    bool sums_gradients = false;

    int ranks() const { return near * nodes; }
};

struct Algorithms {
    bool ring, tree, of_switch;
};

double bytes_of(const Use& use, const Channels& channels, const Algorithms& algorithms) {
    const bool spans = use.nodes > 1, has_switch = channels.of_switch > 0 && use.near > 1;
    double bytes = kPage * (2 + 3 * channels.all + (has_switch ? channels.of_switch + 1 : 0));
    if (algorithms.ring)
        bytes += channels.collective * (kConnection + (spans ? (kToReceive - kToSend) / use.near : 0));
    if (algorithms.tree && use.ranks() > 2) bytes += channels.collective * kConnection * (spans ? 2 : 1);
    if (algorithms.of_switch && has_switch) bytes += channels.of_switch * kOfSwitch * use.near;
    bytes += use.near_peers * channels.to_peer * kConnection;
    if (use.far_peers > 0) bytes += 2 * channels.all * kShared;
    return bytes;
}

Use use_of(MeshGroup group, const NcclInputs& in) {
    const std::vector<int> ranks = ranks_of(group, 0, in.mesh);
    Use use;
    use.near = static_cast<int>(
        std::count_if(ranks.begin(), ranks.end(), [&](int rank) { return rank < in.ranks_per_node; }));
    const auto all = static_cast<int>(ranks.size());
    use.nodes = (all + use.near - 1) / use.near;
    const bool sends_to_all = group == MeshGroup::Ulysses || group == MeshGroup::Experts;
    const int peers = group == MeshGroup::Ring ? in.ring_peers : sends_to_all ? all - 1 : 0;
    use.near_peers = std::min(peers, use.near - 1);
    use.far_peers = peers - use.near_peers;
    use.sums_gradients = group == (in.shards_states ? MeshGroup::Replicas : MeshGroup::World);
    return use;
}

/// Returns whether NVLink's switches are faster than a ring by NCCL's own model (src/graph/tuning.cc): for
/// large sums over more than 4 GPUs of a node.
bool switch_is_faster(const Use& use) {
    return use.sums_gradients && use.nodes == 1 && use.near > 4;
}

/// Returns whether training sums over the group. Rings, Ulysses groups and groups of experts mostly send;
/// only preflight sums over them.
bool always_sums(MeshGroup group) {
    return group != MeshGroup::Ring && group != MeshGroup::Ulysses && group != MeshGroup::Experts;
}

}  // namespace

NcclBytes nccl_bytes(const NcclInputs& in) {
    constexpr double kFastestPcie = 64e9;  // bytes per second, PCI Express 5.0 x16
    const bool is_slow = in.link && *in.link < kFastestPcie, is_fast = in.link && !is_slow;
    NcclBytes sum;
    for (const MeshGroup group : kMeshGroups) {
        if (!has_connections(group, in.mesh, in.shards_states)) continue;
        const Use use = use_of(group, in);
        const bool spans = use.nodes > 1;
        const Channels expected = spans ? kAcrossNodes : is_slow ? kPcie : kNvLink;
        const Channels least = is_fast && !spans ? kNvLink : kPcie;
        const Channels most = spans || is_slow ? expected : kBlackwell;
        sum.low += bytes_of(use, least, {always_sums(group), false, false});
        sum.expected += bytes_of(use, expected, {true, spans, !in.in_order && switch_is_faster(use)});
        sum.high += bytes_of(use, most, {true, true, !in.in_order});
    }
    return sum;
}

}  // namespace ringmaster
