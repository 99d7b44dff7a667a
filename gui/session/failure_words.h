/// Writes why a job failed, in the app's language if the texts are ours.
#pragma once

#include <QString>
#include <utility>

#include "gui/session/job.h"

namespace ringmaster {

/// Returns the text of one finding, and what to do next in the app's words; empty if its code is unknown
/// here.
QString findingWords(const NodeFinding& finding);
QString findingNext(const NodeFinding& finding);

/// Returns what failed and what to do next. Several machines or findings have a line each.
std::pair<QString, QString> failureWords(const JobFailure& failure);

}  // namespace ringmaster
