/// Returns an alert's sentence and the names of its kinds, in the app's language. They contain no text of the
/// run.
#pragma once

#include <QString>

#include "launcher/alerts/alert.h"

namespace ringmaster {

QString alertText(const Alert& alert);
QString alertName(AlertKind kind);  ///< such as "Spike of the loss"

}  // namespace ringmaster
