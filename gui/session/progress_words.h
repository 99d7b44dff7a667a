/// Translates the progress that a long task reports: names of steps (launcher/progress.h), and of a rank's
/// phases.
#pragma once

#include <QString>
#include <string>

namespace ringmaster {

/// Returns the step's or phase's name in the app's language, such as "loading the model" for "load". Names
/// and numbers within it stay. An unknown string is returned as it is.
QString progress_text(const std::string& name);

}  // namespace ringmaster
