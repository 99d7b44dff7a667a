/// Holds one line of a run's output: from a rank's log, from the agent's log, or an event as text.
#pragma once

#include <QString>
#include <ctime>
#include <string>

#include "launcher/history/history.h"

namespace ringmaster {

struct LogLine {
    enum class Kind { Text, RunEvent, Warning, Error };

    double t = 0;  ///< Unix seconds; a line without a time gets the previous line's time
    int rank = 0;  ///< rank; -1: the agent
    Kind kind = Kind::Text;
    QString text;
};

/// Removes a local time ("12:04:50" or "2026-11-21 12:04:50") from the start of `text`; returns it, or `near`
/// if there is none. A time without a date gets the date of `near`, or the next day's if it would lie over
/// half a day before `near`.
double take_time(std::string& text, double near);

/// Returns the text without control characters (a terminal's colours, for example), cut if it is very long.
QString plain_text(std::string text);

/// Returns the event as human-readable text; the engine's messages are not translated.
LogLine lineOf(const Happening& happening);

}  // namespace ringmaster
