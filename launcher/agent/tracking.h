/// Runs trackers (Weights & Biases and others): Python processes that follow the run directory and send each
/// step. They run next to the agent and outlive it; their failures do not affect the run.
///
///     ringmaster-agent --trackers SETTINGS.json                shows which trackers this machine can use
///     ringmaster-agent --track DIR [--sender node|launcher|any] [--with PID]
#pragma once

#include <filesystem>

#include "engine/words/arguments.h"

namespace ringmaster {

/// Starts `--track DIR --sender node` in its own session, if the run asks for trackers. Never throws.
void start_tracking(const std::filesystem::path& run_dir);

/// Prints a tab-separated line for each tracker in the file: its name, ready|client|none, file|server, the
/// part that is not set up (client, key, password), and what to do about it. Returns the exit status.
int tell_trackers(const Arguments& given);

/// Runs one sender process for each tracker that this machine sends to, until each has sent everything or,
/// with `--with PID`, process PID ends. Returns the exit status.
int track_run(const Arguments& given);

}  // namespace ringmaster
