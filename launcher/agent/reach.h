/// Serves the launcher through SSH: follows and stops a run that lives on this machine. Following changes
/// nothing.
#pragma once

#include "engine/words/arguments.h"

namespace ringmaster {

/// Implements `--follow DIR --node K --first-rank N --ranks N [--have FILE=BYTES]…`: writes to stdout what
/// the run's files hold beyond those bytes, and then what is added to them. Ends when the run is over or the
/// reader closes the connection:
///
///     file PATH OFFSET SIZE⏎ bytes · state SIZE⏎ corrected run.json · beat⏎ (every second) · over⏎
int follow_run(const Arguments& given);

/// Implements `--stop DIR [--now]`: asks this node's agent to stop, if its pid, start time and boot match.
/// Prints "asked", or "over" if the run is over already. Throws Error if the run has not been started or its
/// agent is on another host.
int stop_run(const Arguments& given);

/// Implements `--towards ADDRESS`: writes the network interface through which the run's ranks reach node 0 at
/// that address, and this machine's address on it: "interface eth0 10.0.0.7".
int tell_interface(const Arguments& given);

}  // namespace ringmaster
