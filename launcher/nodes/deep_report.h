/// What came of trying a machine out (tier 2): the engine's self-test there, and its links.
#pragma once

#include <string>
#include <vector>

namespace ringmaster {

struct NodeLink {
    std::string to;          ///< the other node
    double bytes_per_s = 0;  ///< in each direction, both under way; 0: they do not reach each other
    double latency_s = 0;
    std::string problem = {};  ///< why not

    bool operator==(const NodeLink&) const = default;
};

struct DeepReport {
    std::string libtorch;             ///< the version that the engine ran with
    std::vector<std::string> passed;  ///< parts of the self-test
    double seconds = 0;               ///< that it took
    double tried = 0;                 ///< Unix seconds
    std::string towards;              ///< the node of rank 0
    std::string interface;            ///< that leads there, as a run's ranks use it
    std::string address;              ///< its own
    std::vector<NodeLink> links;      ///< with each of the others

    bool operator==(const DeepReport&) const = default;
};

}  // namespace ringmaster
