/// Writes the agent's messages, one per line with the time: to stderr, or to the log once say_into() has been
/// called.
#pragma once

#include <string>

namespace ringmaster {

void say(const std::string& text);
void say_into(int log);  ///< makes later messages go to this log; the descriptor must stay open

}  // namespace ringmaster
