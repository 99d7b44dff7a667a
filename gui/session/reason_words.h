/// Says in the app's language why a run ended.
#pragma once

#include <QString>

#include "engine/events/run_state.h"

namespace ringmaster {

/// Returns the sentence, followed by the last log lines if the reason has them. Text from a library, the
/// engine or another node is not translated. In languages other than English, the title of the failure's code
/// precedes the engine's text.
QString reason_of(const Reason& why, const std::string& reason, const std::string& code);
QString reason_of(const RunState& state);

}  // namespace ringmaster
