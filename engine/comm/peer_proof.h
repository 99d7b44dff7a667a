/// Authenticates Gloo's connections. Gloo accepts whoever first connects to its port as the expected rank.
/// Therefore both ends of every connection prove before the first transfer that they hold the run's key.
#pragma once

#include <string>

#include "engine/comm/backends.h"

namespace ringmaster {

/// Runs the proof. All ranks of the group must call it after they have connected. Throws Error(Refused) with
/// the name of the rank whose connection belongs to a stranger.
void prove_peers(c10d::Backend& backend, const BackendRequest& request);

}  // namespace ringmaster
