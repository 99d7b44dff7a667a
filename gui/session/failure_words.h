/// Describes why a job failed, in the app's language if Ringmaster wrote the texts.
#pragma once

#include <QString>
#include <utility>

#include "gui/session/job.h"
#include "launcher/nodes/mirror.h"

namespace ringmaster {

/// findingWords() returns a finding's text, and findingNext() what to do next in the app's words. Both return
/// an empty text if the code is unknown here.
QString findingWords(const NodeFinding& finding);
QString findingNext(const NodeFinding& finding);

/// Returns the machine, and what was found there: "gpu2: connection refused".
QString reportWords(const NodeReport& report);
/// Returns the node and why it does not answer; empty if there is no trouble.
QString troubleWords(const NodeTrouble& trouble);

/// Returns what failed and what to do next. Several machines or findings get one line each.
std::pair<QString, QString> failureWords(const JobFailure& failure);

}  // namespace ringmaster
