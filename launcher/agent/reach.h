/// What the launcher asks of a run that lives on this machine, through SSH: following it, stopping it.
/// Attaching changes nothing.
#pragma once

#include <span>

namespace ringmaster {

/// `--follow DIR --node K --first-rank N --ranks N [--have FILE=BYTES]…`: what its files hold beyond those
/// bytes, and then what comes, on stdout until the run is over or nobody reads any more:
///
///     file PATH OFFSET SIZE⏎ bytes · state SIZE⏎ run.json as it is to be read · beat⏎ (each second) · over⏎
int follow_run(std::span<char* const> arguments);

/// `--stop DIR [--now]`: asks the agent of this node, whose pid, start time and boot are those recorded.
int stop_run(std::span<char* const> arguments);

/// `--towards ADDRESS`: the interface that leads from here to a node 0 at that address, as ranks of a run
/// use it, and its own address: "interface eth0 10.0.0.7" on stdout.
int tell_interface(std::span<char* const> arguments);

}  // namespace ringmaster
