/// What is found about a machine: a code that stays, and what stands in its two sentences. The sentences are
/// English here; the app has them in its languages, by the code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/error.h"

namespace ringmaster {

struct FindingText {
    std::string_view code;
    const char* message;  ///< one sentence, with %1, %2, …
    const char* next;     ///< what to do; may be empty
};

/// All that there are.
const std::vector<FindingText>& finding_texts();
/// Null for a code that is none of them: of a newer version, or no finding of ours.
const FindingText* finding_text(std::string_view code);

struct NodeFinding {
    std::string code = {};                ///< "old-glibc"; empty: nothing is found
    std::vector<std::string> with = {};   ///< %1, %2, …
    std::vector<NodeFinding> parts = {};  ///< a list at the end of the message

    std::string message() const;
    std::string next() const;
    bool operator==(const NodeFinding&) const = default;
};

/// `template_` with %1 to %9 as `with` has them.
std::string filled_in(std::string_view template_, const std::vector<std::string>& with);

/// A machine that cannot be reached, by what was found: Error(Unreachable).
struct NodeError : Error {
    NodeError(const NodeFinding& finding_, const std::string& host)
        : Error(Failure::Unreachable, Code("NODE-UNREACHABLE"), finding_.message(), host, finding_.next()),
          finding(finding_) {}

    NodeFinding finding;
};

}  // namespace ringmaster
