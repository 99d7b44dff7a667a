/// The agent's own text: a line with its time, on stderr until there is a log.
#pragma once

#include <string>

namespace ringmaster {

void say(const std::string& text);
void say_into(int log);  ///< a descriptor that stays open

}  // namespace ringmaster
