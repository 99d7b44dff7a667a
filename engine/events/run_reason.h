/// Describes why a run ended as a list of parts, each with a code and the values of its text. The texts here
/// are English; the app has them in its languages, by code.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

struct ReasonPart {
    std::string code;                    ///< "stopped-after"
    std::vector<std::string> with = {};  ///< values of %1, %2, …
    bool operator==(const ReasonPart&) const = default;
};

/// The parts follow each other without a space: the text of a part begins with its own punctuation.
using Reason = std::vector<ReasonPart>;

struct ReasonText {
    std::string_view code;
    const char* text;  ///< with %1, %2, …
};

/// Returns the texts of all codes.
const std::vector<ReasonText>& reason_texts();
/// Returns null for an unknown code, such as one of a newer version.
const char* reason_text(std::string_view code);

/// Returns the English text of the parts; parts with an unknown code are left out.
std::string english(const Reason& reason);

}  // namespace ringmaster
