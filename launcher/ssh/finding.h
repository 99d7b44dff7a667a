/// Describes a problem or fact about a machine: a stable code and the parameters of its two sentences. The
/// sentences here are English; the app finds their translations by code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "engine/error.h"

namespace ringmaster {

struct FindingText {
    std::string_view code;
    const char* message;  ///< one sentence with %1, %2, …
    const char* next;     ///< next step; may be empty
};

/// Returns all findings that exist.
const std::vector<FindingText>& finding_texts();
/// Returns null for an unknown code: one of a newer version, or one that is not Ringmaster's.
const FindingText* finding_text(std::string_view code);

struct NodeFinding {
    std::string code = {};                ///< "old-glibc"; empty: no finding
    std::vector<std::string> with = {};   ///< values of %1, %2, …
    std::vector<NodeFinding> parts = {};  ///< list at the end of the message

    std::string message() const;
    std::string next() const;
    bool operator==(const NodeFinding&) const = default;
};

/// Thrown if a machine cannot be reached, with the finding that says why: Error(Unreachable).
struct NodeError : Error {
    NodeError(const NodeFinding& finding_, const std::string& host)
        : Error(Failure::Unreachable, Code("NODE-UNREACHABLE"), finding_.message(), host, finding_.next()),
          finding(finding_) {}

    NodeFinding finding;
};

}  // namespace ringmaster
