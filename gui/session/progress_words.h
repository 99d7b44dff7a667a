/// Translates the progress that a long task reports: its steps (launcher/base/progress.h), and a rank's
/// phases.
#pragma once

#include <QString>

#include "engine/events/event.h"
#include "launcher/base/progress.h"

namespace ringmaster {

/// Returns the step in the app's language, such as "loading the model" for "load"; the code if it is unknown.
QString progress_words(const ProgressStep& step);

/// Returns true if `done` and `total` are seconds because the run waits for something, for at most `total`
/// seconds.
bool counts_seconds(const PhaseEvent& phase);

/// Returns the phase and how much of it is done, such as "tokenizing, 3 of 10".
QString phase_text(const PhaseEvent& phase);

}  // namespace ringmaster
