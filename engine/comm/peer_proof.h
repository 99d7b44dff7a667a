/// Gloo's ports take whoever comes first for the rank that is expected. Before the first transfer both ends
/// of every connection prove that they hold the run's key.
#pragma once

#include <string>

#include "engine/comm/backends.h"

namespace ringmaster {

/// All ranks of the group call it after they have connected. Throws Error(Refused) naming the rank whose
/// connection belongs to somebody else.
void prove_peers(c10d::Backend& backend, const BackendRequest& request);

}  // namespace ringmaster
