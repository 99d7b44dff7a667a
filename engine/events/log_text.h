/// Formats an event as the text for its rank's log.
#pragma once

#include <string>

#include "engine/error.h"
#include "engine/events/event.h"

namespace ringmaster {

/// Returns the event of an error; its message ends with the hint.
ErrorEvent error_event(const Error& error);

/// Returns the text, without the time, that the engine writes into a rank's log for an event. A reader of
/// events and log uses this text to find the log's lines that repeat an event. Returns an empty text for
/// events that the log lacks or has in another form.
std::string log_text(const Event& event);

}  // namespace ringmaster
