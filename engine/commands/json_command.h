/// Declares the functions that the engine's commands --calibrate, --selftest, --trial and --link share: they
/// print lines of JSON on stdout, and most run two ranks as threads.
#pragma once

#include <functional>
#include <nlohmann/json_fwd.hpp>

#include "engine/commands/calibrate.h"

namespace ringmaster {

/// Prints a line on stdout and flushes it.
void print_line(const nlohmann::json& line);

/// Returns a callback that prints {"phase","done","total"}; `before` counts earlier parts.
OnPart print_phases(int before = 0);

/// Runs `work` and returns its exit status. If it throws, prints the error and its remedy on one line of
/// stderr and returns the error's status.
int exit_status_of(const std::function<int()>& work);

/// Runs `body` with ranks 0 and 1 on two threads, without gradients; rethrows the first rank's failure, if
/// any.
void run_two_ranks(const std::function<void(int rank)>& body);

}  // namespace ringmaster
