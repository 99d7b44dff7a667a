/// Formats figures for people to read.
#pragma once

#include <cstdint>
#include <string>

namespace ringmaster {

std::string format_count(int64_t count);      ///< "1,048,576"
std::string format_bytes(int64_t bytes);      ///< "61.4 GiB", "812 MiB"
std::string format_duration(double seconds);  ///< "0.41 s", "12 s", "1 min 40 s", "3 h 05 min", "2 d 4 h"
std::string format_percent(double share);     ///< 0.061 -> "6.1 %", 0.52 -> "52 %"
std::string format_rate(double per_second);   ///< "812", "19.8k", "1.2M"
/// Returns the number with at most `significant` digits, like printf's %g: "0.0001", "2.714".
std::string format_number(double value, int significant);
std::string format_loss(double loss);          ///< "2.7142"; 4 significant digits below 0.1 and from 10,000
std::string format_time(double unix_seconds);  ///< local time: "2026-11-21 10:04"

}  // namespace ringmaster
