/// Authenticates Gloo's connections. Gloo takes whoever first connects to its port for the expected rank, so
/// both ends of every connection prove that they hold the run's key before the first transfer.
#pragma once

#include <string>

#include "engine/comm/backends.h"

namespace ringmaster {

/// Runs the proof. All ranks of the group must call it after they have connected. Throws Error(Refused) with
/// the name of the rank whose connection belongs to a stranger.
void prove_peers(c10d::Backend& backend, const BackendRequest& request);

}  // namespace ringmaster
