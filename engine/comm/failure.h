/// Failures of c10d and Gloo as a cause in plain words: the one place where they are translated.
#pragma once

#include <chrono>
#include <exception>
#include <string>

namespace ringmaster {

/// What a foreign exception says, without source locations and stack traces.
std::string cause_of(const std::exception_ptr& exception);

/// "0.5 s"
std::string seconds_text(std::chrono::milliseconds time);

}  // namespace ringmaster
