/// Translates the progress that a long task reports: names of steps (launcher/base/progress.h), and of a
/// rank's phases.
#pragma once

#include <QString>
#include <string>

#include "engine/events/event.h"

namespace ringmaster {

/// Returns the step's or phase's name in the app's language, such as "loading the model" for "load". Names
/// and numbers within it stay. An unknown string is returned as it is.
QString progress_text(const std::string& name);

/// Returns whether `done` and `total` are seconds: the run waits, for `total` seconds at most.
bool counts_seconds(const PhaseEvent& phase);

/// Returns the phase and how much of it is done, such as "tokenizing, 3 of 10".
QString phase_text(const PhaseEvent& phase);

}  // namespace ringmaster
