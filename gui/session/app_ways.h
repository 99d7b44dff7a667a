/// Says in the app's words what to do next, where the command line names a command or an option.
#pragma once

#include <QString>
#include <string_view>

namespace ringmaster {

/// Returns the app's sentence for the code of a node finding (launcher/ssh/finding.h) or of a part of a run's
/// end (engine/events/run_reason.h), with the same %1, %2, … as the command line's; empty if it has none. The
/// findings of resources/findings have theirs in their records.
QString app_way(std::string_view code);

}  // namespace ringmaster
