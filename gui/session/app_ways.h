/// Holds the app's versions of sentences that tell the user what to do next. On the command line, these
/// sentences name a command or an option.
#pragma once

#include <QString>
#include <string_view>

namespace ringmaster {

/// Returns the app's sentence for the code of a node finding (launcher/ssh/finding.h) or of a part of a run's
/// end (engine/events/run_reason.h). It has the same placeholders %1, %2, … as the command line's sentence.
/// Returns an empty text if the code has no such sentence. Findings in resources/findings have their
/// sentences in their records.
QString app_way(std::string_view code);

}  // namespace ringmaster
