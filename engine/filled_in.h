/// Fills the placeholders of a text. Placeholders are numbered because a translation may need them in another
/// order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ringmaster {

/// Returns `text` with %1 to %9 replaced by the entries of `values`; a placeholder without an entry is
/// removed.
inline std::string filled_in(std::string_view text, const std::vector<std::string>& values) {
    std::string filled;
    for (size_t at = 0; at < text.size(); ++at) {
        const bool is_place =
            text[at] == '%' && at + 1 < text.size() && text[at + 1] >= '1' && text[at + 1] <= '9';
        if (!is_place) {
            filled += text[at];
            continue;
        }
        const auto place = static_cast<size_t>(text[++at] - '1');
        if (place < values.size()) filled += values[place];
    }
    return filled;
}

}  // namespace ringmaster
