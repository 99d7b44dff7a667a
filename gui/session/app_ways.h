/// Holds the app's own versions of sentences that tell what to do next and that, on the command line, name a
/// command or an option.
#pragma once

#include <QString>
#include <string_view>

namespace ringmaster {

/// Returns the app's sentence for a code: of a node finding (launcher/ssh/finding.h), or of a part of a run's
/// end (engine/events/run_reason.h). It has the same %1, %2, … as the command line's sentence. Returns an
/// empty text if the code has no such sentence. The findings in resources/findings have their sentences in
/// their records.
QString app_way(std::string_view code);

}  // namespace ringmaster
