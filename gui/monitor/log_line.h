/// One line of what a run says: of a rank's log, of the agent's, or an event told as a line.
#pragma once

#include <QString>
#include <ctime>
#include <string>

#include "launcher/history.h"

namespace ringmaster {

struct LogLine {
    enum class Kind { Text, Told, Warning, Error };

    double t = 0;  ///< Unix seconds; of a line without a time, that of the one before it
    int rank = 0;  ///< -1: the agent
    Kind kind = Kind::Text;
    QString text;
};

/// "12:04:50 step 1 …" or "2026-11-21 12:04:50 …": its local time, on the day of `near` (or the next where it
/// would lie half a day before); the time is taken off `text`. `near` itself where there is none.
double take_time(std::string& text, double near);

/// Control characters (a terminal's colours, say) have no place in a list, nor has a line without an end.
QString plain_text(std::string text);

/// As a line for people; engine messages stay as they are.
LogLine lineOf(const Happening& happening);

}  // namespace ringmaster
