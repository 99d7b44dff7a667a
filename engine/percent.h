/// Writes shares as text for messages.
#pragma once

#include <cstdio>
#include <string>

namespace ringmaster {

/// Returns the share in percent: with one decimal, 0.061 gives "6.1 %".
inline std::string percent(double share, int decimals) {
    char text[32];
    std::snprintf(text, sizeof text, "%.*f %%", decimals, 100 * share);
    return text;
}

}  // namespace ringmaster
