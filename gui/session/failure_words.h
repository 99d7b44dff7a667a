/// Writes why a job failed, in the app's language if the texts are ours.
#pragma once

#include <QString>
#include <utility>

#include "gui/session/job.h"
#include "launcher/nodes/mirror.h"

namespace ringmaster {

/// Returns the text of one finding, and what to do next in the app's words; empty if its code is unknown
/// here.
QString findingWords(const NodeFinding& finding);
QString findingNext(const NodeFinding& finding);

/// Returns the machine, and what was found there: "gpu2: connection refused".
QString reportWords(const NodeReport& report);
/// Returns why a node is silent; empty if none is.
QString troubleWords(const NodeTrouble& trouble);

/// Returns what failed and what to do next. Several machines or findings have a line each.
std::pair<QString, QString> failureWords(const JobFailure& failure);

}  // namespace ringmaster
