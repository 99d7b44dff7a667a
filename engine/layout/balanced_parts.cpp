#include "engine/layout/balanced_parts.h"

#include <algorithm>

namespace ringmaster {

Spans spans_of_parts(std::vector<DocumentPart> parts) {
    std::sort(parts.begin(), parts.end(),
              [](const DocumentPart& a, const DocumentPart& b) { return a.begin < b.begin; });
    Spans spans;
    for (const DocumentPart& part : parts) append_span(spans, {part.begin, part.end});
    return spans;
}

int64_t received_keys(const std::vector<DocumentPart>& parts, const AttentionMask& mask) {
    std::vector<DocumentPart> cut;
    int64_t held = 0;
    for (const DocumentPart& part : parts) {
        if (part.is_padding || part.size() == part.document.size()) continue;
        cut.push_back(part);
        held += part.size();
    }
    return count_tokens(visible_keys(spans_of_parts(std::move(cut)), mask)) - held;
}

}  // namespace ringmaster
