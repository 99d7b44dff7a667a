/// Counts the memory of a GPU that NCCL takes for the communicators of a mesh. LibTorch's allocator does not
/// see it.
///
/// NCCL 2.28.9, which LibTorch 2.11 includes, takes its memory by cuMemCreate, in pages of 2 MiB that no two
/// allocations share (src/include/alloc.h). A communicator takes two pages, and three more for each channel
/// (src/channel.cc, devCommSetup in src/init.cc). With NVLink's switches, also one page for each of their
/// channels, and one for credits (src/transport/nvls.cc). A connection takes, per channel and peer, 2 MiB to
/// send and 10 MiB to receive (src/transport/p2p.cc): buffers of 0.5, 4.69 and 4 MiB for the protocols LL,
/// LL128 and Simple (computeBuffSizes in src/init.cc) and their head. Across nodes a connection of a
/// collective takes 10 MiB to send as well (src/transport/net.cc). NCCL makes a collective's connections when
/// the collective first uses an algorithm (ncclCollPreconnect in src/group.cc). A ring of ranks sends to one
/// neighbour and receives from the other, on each channel; a tree sends and receives both ways. NVLink's
/// switches take 2 MiB for each channel and rank of the node. NCCL makes the connections for sends at the
/// first send to a peer, on all channels that a peer may use (p2pTaskAppend in src/enqueue.cc). These are 32
/// channels between GPUs connected by NVLink's switches, 2 over PCI Express, and 2 if the communicator spans
/// nodes (ncclTopoComputeP2pChannels in src/graph/paths.cc). Ranks of other nodes share two buffers of 2 MiB
/// per channel (sharedNetBuffersInit in src/transport/net.cc).
///
/// Channels of collectives follow from the links (src/graph/search.cc and connect.cc): 24 on an H100 or A100
/// with NVLink's switches, 32 on a B200, 2 over PCI Express, 16 across nodes. The switches have 16 additional
/// channels (24 on a B200).
///
/// By this count an all-to-all of 8 H100 takes 2.9 GiB with its communicator. NVIDIA/nccl#1685 measured 3.28
/// GB more after the first all-to-all than before, in receive buffers of 10 MiB and send buffers of 2 MiB.
#pragma once

#include <optional>

#include "engine/layout/mesh.h"

namespace ringmaster {

struct NcclInputs {
    Mesh mesh;
    int ranks_per_node = 1;
    bool shards_states = false;  ///< ZeRO 1 to 3
    bool in_order = false;       ///< true: NVLink's switches may not add (engine/plan/nccl_settings.h)
    int ring_peers = 0;          ///< ring ranks with which a rank exchanges keys
    std::optional<double> link;  ///< measured bytes per second between two ranks of a node
};

/// Bytes of one rank. `low` assumes no NVLink, unless a fast link was measured and the group is on one node,
/// and counts only algorithms that are certain to be used. `high` counts every algorithm, and assumes a B200
/// unless the group spans nodes or the measured link is slow.
struct NcclBytes {
    double low = 0, expected = 0, high = 0;
};

NcclBytes nccl_bytes(const NcclInputs& in);

}  // namespace ringmaster
