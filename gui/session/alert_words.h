/// Returns an alert's sentence and the name of its kind, in the app's language. Neither contains text of the
/// run.
#pragma once

#include <QString>

#include "launcher/alerts/alert.h"

namespace ringmaster {

QString alertText(const Alert& alert);
QString alertName(AlertKind kind);  ///< such as "Spike of the loss"

}  // namespace ringmaster
