/// Translates failures of c10d and Gloo into causes in plain words. Only this file does so.
#pragma once

#include <chrono>
#include <exception>
#include <string>

namespace ringmaster {

/// Returns the message of any exception without source locations and stack traces.
std::string cause_of(const std::exception_ptr& exception);

/// Returns text such as "0.5 s".
std::string seconds_text(std::chrono::milliseconds time);

}  // namespace ringmaster
