/// Says in the app's words what a hint says in those of the command line.
#pragma once

#include <QString>

namespace ringmaster {

/// Returns the hint with the button or the page in place of a command or an option, if the app can do the
/// same; any other hint unchanged.
QString way_in_app(const QString& hint);

}  // namespace ringmaster
