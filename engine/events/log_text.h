/// Gives an event's words in its rank's log.
#pragma once

#include <string>

#include "engine/error.h"
#include "engine/events/event.h"

namespace ringmaster {

/// Returns the event of an error; its message ends with the hint.
ErrorEvent error_event(const Error& error);

/// Returns the text, without its time, that the engine writes into a rank's log for an event. A reader of
/// events and log knows by it which lines of the log repeat an event. Empty for events that the log has in
/// another form or not at all.
std::string log_text(const Event& event);

}  // namespace ringmaster
