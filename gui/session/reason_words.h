/// Says in the app's language why a run ended.
#pragma once

#include <QString>

#include "engine/events/run_state.h"

namespace ringmaster {

/// Returns the sentence, with last log lines after it if the reason has them. What a library, the engine or
/// another node said stays as it is; in another language than English, the title of the failure's code comes
/// before the engine's own words.
QString reason_of(const Reason& why, const std::string& reason, const std::string& code);
QString reason_of(const RunState& state);

}  // namespace ringmaster
