/// Defines the product's only exception. It says what went wrong, where, and what works instead.
///
/// Mistakes in a configuration are not an Error but a list of Diagnostic values (engine/config/diagnostic.h).
/// Errors are caught only in `main` and in the outermost function of a thread, a worker or a Qt slot.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

#include "engine/bare_texts.h"

namespace ringmaster {

/// The kinds of failure, with the exit status of each.
enum class Failure {
    Refused = 1,      ///< the work cannot be done, for example because of damaged rows or a full disk
    Usage = 2,        ///< missing file, malformed YAML, unusable arguments
    Unreachable = 3,  ///< a node, port or engine could not be reached or started
};

/// Holds the code of a failure, as in Code("RUN-MISSING"). Programs can test the code, because a released
/// code never changes. The app's help (resources/findings) explains every code.
struct Code {
    explicit Code(std::string_view text_) : text(text_) {}
    std::string text;
};

/// Lists causes of a rank's failure. A code such as RANKS-TRANSFER can have any of them.
namespace cause {
inline constexpr std::string_view kPeerLost = "peer-lost";  ///< another rank is gone
inline constexpr std::string_view kTimeout = "timeout";     ///< another rank did not answer in time
inline constexpr std::string_view kMemory = "memory";       ///< the machine or the GPU ran out of memory
}  // namespace cause

struct Error : std::runtime_error {
    Error(Failure failure_, const Code& code_, const std::string& what_, std::string where_ = {},
          std::string hint_ = {}, std::string_view cause_ = {})
        : std::runtime_error(bare_texts ? code_.text : what_),
          failure(failure_),
          code(code_.text),
          where(std::move(where_)),
          hint(bare_texts && !hint_.empty() ? code_.text : std::move(hint_)),
          cause(cause_) {}

    Failure failure;
    std::string code;   ///< never empty
    std::string where;  ///< file and line, key, rank or host; empty if `what` already names the place
    std::string hint;   ///< what to do next; may be empty
    /// A constant of namespace cause; empty if the code implies the cause, or if the cause is unknown.
    std::string cause;

    /// Returns "where: what
    ///   hint", as shown on a terminal.
    std::string text() const {
        return (where.empty() ? "" : where + ": ") + what() + (hint.empty() ? "" : "\n  " + hint);
    }
};

}  // namespace ringmaster
