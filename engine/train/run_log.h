/// Writes the rank's log text to stdout, and also to logs/rank-00000.log if stdout is not already redirected
/// there (under torchrun, srun or alone).
#pragma once

#include <filesystem>
#include <string>

#include "engine/events/event_log.h"

namespace ringmaster {

/// From now on, also writes log lines to `file`. Throws Error(Refused) if it cannot be opened.
void open_log_file(const std::filesystem::path& file);

/// Writes one line with the time of day, and flushes it.
void log_line(const std::string& text);

/// Writes an event to `events`, and its log_text to the log.
void log_event(EventWriter& events, const Event& event);

}  // namespace ringmaster
