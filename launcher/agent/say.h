/// Writes the agent's messages, each a line with its time, to stderr until there is a log.
#pragma once

#include <string>

namespace ringmaster {

void say(const std::string& text);
void say_into(int log);  ///< writes to this log from now on; the descriptor must stay open

}  // namespace ringmaster
