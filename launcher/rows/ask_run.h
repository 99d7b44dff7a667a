/// Asks a run that trains on this machine to continue prompts when it has finished its current step, with the
/// weights of that step (engine/train/training_samples.h). The answers stay in RUN/samples.jsonl.
#pragma once

#include "launcher/base/places.h"
#include "launcher/base/progress.h"
#include "launcher/rows/generate.h"
#include "launcher/run/run_directory.h"

namespace ringmaster {

/// Returns whether a run in this state is currently training on this machine.
bool trains_here(const RunState& state);

/// Asks without waiting for the answers. In `options`, `compares` and `device` have no effect. Throws
/// Error(Refused) if the run does not train here or has not yet answered the last question; Cancelled.
void ask_run(const RunDirectory& run, const GenerateOptions& options, const Places& places,
             const Progress& progress);

/// Asks and waits; calls `on_line` for each answer with {"type":"completion","model":"trained","prompt",
/// "text","stopped","step"}. Throws what ask_run throws, and Error(Refused) if the run ends before it answers
/// or cannot answer. Withdraws the question if the user cancels.
void ask_run_and_wait(const RunDirectory& run, const GenerateOptions& options, const Places& places,
                      const Progress& progress, const OnGenerated& on_line);

}  // namespace ringmaster
