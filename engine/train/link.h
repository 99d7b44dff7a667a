/// The link between two ranks: what one sends to the other while it receives as much, as those of a ring do,
/// over the groups that training uses.
#pragma once

#include <string>

#include "engine/comm/groups.h"
#include "engine/plan/plan.h"

namespace ringmaster {

struct LinkFigures {
    double bytes_per_s = 0;  ///< in each direction, both under way
    double latency_s = 0;    ///< of one number there, while one comes
};

/// One of two ranks of a ring; the other calls it too. About `seconds`, longer on a link on which 64 KiB take
/// longer. Throws Error(Refused) where the other is gone.
LinkFigures measure_link(Groups& groups, double seconds);

struct LinkOptions {
    Device device = Device::Cpu;
    std::string listen;  ///< this one serves the meeting, at this address and a port that it tells
    std::string meet;    ///< the address of the one that does
    int port = 0;        ///< its port
};

/// `ringmaster-engine --link`, one on each of two machines: {"meet":{"address","port"}} on stdout of the one
/// that listens, then {"result":{"bytes_per_s","latency_s"}}. Ends by itself once nobody holds its stdin.
/// RINGMASTER_LINK_TOKEN is the same for both and for no others. Exit status as run_session's. Never throws.
int print_link(const LinkOptions& options);

}  // namespace ringmaster
