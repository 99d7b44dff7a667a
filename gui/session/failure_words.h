/// Writes why a job failed, in the app's language if the texts are ours.
#pragma once

#include <QString>
#include <utility>

#include "gui/session/job.h"

namespace ringmaster {

/// Returns a text of launcher/ssh/finding.h in the app's language, with its values filled in.
QString filledFinding(const char* text, const std::vector<std::string>& with);

/// Returns the text of one finding; empty if its code is unknown here.
QString findingWords(const NodeFinding& finding);

/// Returns what failed and what to do next. Several machines or findings have a line each.
std::pair<QString, QString> failureWords(const JobFailure& failure);

}  // namespace ringmaster
