/// Holds the result of testing a machine (tier 2): the engine's self-test there, and its links.
#pragma once

#include <string>
#include <vector>

namespace ringmaster {

struct NodeLink {
    std::string to;          ///< the other node
    double bytes_per_s = 0;  ///< speed of each direction while both are busy; 0: unreachable
    double latency_s = 0;
    std::string problem = {};  ///< why the nodes cannot reach each other

    bool operator==(const NodeLink&) const = default;
};

struct DeepReport {
    std::string libtorch;             ///< version that the engine ran with
    std::vector<std::string> passed;  ///< parts of the self-test that passed
    double seconds = 0;               ///< duration of the self-test
    double tried = 0;                 ///< time of the test, Unix seconds
    std::string towards;              ///< name of rank 0's node, to which `interface` leads
    std::string interface;            ///< interface that leads to rank 0's node; a run's ranks use it
    std::string address;              ///< address of this node on that interface
    std::vector<NodeLink> links;      ///< one for each other node

    bool operator==(const DeepReport&) const = default;
};

}  // namespace ringmaster
