/// Translates failures of c10d and Gloo into plain words and a cause. Only this file does so.
#pragma once

#include <chrono>
#include <exception>
#include <string>
#include <string_view>

namespace ringmaster {

struct TransferFailure {
    std::string words;
    std::string_view cause = {};  ///< a constant of namespace cause (engine/error.h); empty if unknown
};

/// Returns the message of any exception without source locations and stack traces, and its cause.
TransferFailure failure_of(const std::exception_ptr& exception);

/// Returns text such as "0.5 s".
std::string seconds_text(std::chrono::milliseconds time);

}  // namespace ringmaster
