/// Measures the link between two ranks: its speed in each direction while both are in use, as in a ring, over
/// the groups that training uses.
#pragma once

#include <string>

#include "engine/comm/groups.h"
#include "engine/plan/plan.h"

namespace ringmaster {

struct LinkFigures {
    double bytes_per_s = 0;  ///< speed in each direction, with both in use
    double latency_s = 0;    ///< seconds to send one number while receiving one
};

/// Returns the speed and latency of the link between the two ranks of a ring; both must call it. Takes about
/// `seconds`, longer on slow links. Throws Error(Refused) if the other rank is gone.
LinkFigures measure_link(Groups& groups, double seconds);

struct LinkOptions {
    Device device = Device::Cpu;
    std::string listen;  ///< address on which this process serves the rendezvous, at a port that it chooses
    std::string meet;    ///< address of the process that serves the rendezvous
    int port = 0;        ///< port at the address `meet`
};

/// Runs `ringmaster-engine --link` on each of two machines: the listening process prints {"meet":{"address",
/// "port"}} on stdout, then each prints {"result":{"bytes_per_s","latency_s"}}. Ends if its stdin closes.
/// Both processes read the secret that they share from RINGMASTER_LINK_TOKEN. Returns a status as run_session
/// does. Never throws.
int print_link(const LinkOptions& options);

}  // namespace ringmaster
