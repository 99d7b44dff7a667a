/// Trackers (Weights & Biases and others): processes of Python that follow the run directory and send each
/// step. They live beside the agent and outlive it; what becomes of them never reaches the run.
///
///     ringmaster-agent --trackers SETTINGS.json                    which of them can be sent to from here
///     ringmaster-agent --track DIR [--sender node|launcher|any] [--with PID]
#pragma once

#include <filesystem>
#include <span>

namespace ringmaster {

/// Starts `--track DIR --sender node` in a session of its own, if the run asks for trackers. Never throws.
void start_tracking(const std::filesystem::path& run_dir);

/// Prints a line with tabs for each tracker that the file asks for: its name, ready|client|none, file|server,
/// what is not set up (client, key, password) and what to do about it. Returns the exit status.
int tell_trackers(std::span<char* const> arguments);

/// Keeps a sending process for each tracker that is this machine's to send to, until each has sent
/// everything. With --with, no longer than that process lives. Returns the exit status.
int track_run(std::span<char* const> arguments);

}  // namespace ringmaster
