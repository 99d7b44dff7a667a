#include "launcher/base/format.h"

#include <cmath>
#include <cstdio>
#include <ctime>

namespace ringmaster {

namespace {

template <class... Values>
std::string printed(const char* form, Values... values) {
    char text[64];
    std::snprintf(text, sizeof text, form, values...);
    return text;
}

}  // namespace

std::string format_count(int64_t count) {
    std::string digits = std::to_string(count);
    const int64_t first = digits[0] == '-' ? 1 : 0;
    for (int64_t at = static_cast<int64_t>(digits.size()) - 3; at > first; at -= 3)
        digits.insert(static_cast<size_t>(at), ",");
    return digits;
}

std::string format_bytes(int64_t bytes) {
    constexpr double kGiB = 1 << 30, kMiB = 1 << 20, kKiB = 1 << 10;
    const auto value = static_cast<double>(bytes);
    const double size = std::abs(value);
    if (size >= 99.95 * kGiB) return printed("%.0f GiB", value / kGiB);
    if (size >= 0.9995 * kGiB) return printed("%.1f GiB", value / kGiB);
    if (size >= 9.995 * kMiB) return printed("%.0f MiB", value / kMiB);
    if (size >= 0.1 * kMiB) return printed("%.1f MiB", value / kMiB);
    if (size >= kKiB) return printed("%.0f KiB", value / kKiB);
    return printed("%.0f B", value);
}

std::string format_duration(double seconds) {
    if (!std::isfinite(seconds) || seconds < 0) return "?";
    if (seconds < 0.00095) return printed("%.0f µs", seconds * 1e6);
    if (seconds < 0.0995) return printed("%.0f ms", seconds * 1e3);
    if (seconds < 9.95) return printed("%.2g s", seconds);
    const auto whole = static_cast<long long>(std::llround(seconds));
    if (whole < 60) return printed("%lld s", whole);
    if (whole < 3600) return printed("%lld min %02lld s", whole / 60, whole % 60);
    const auto minutes = static_cast<long long>(std::llround(seconds / 60));
    if (minutes < 24 * 60) return printed("%lld h %02lld min", minutes / 60, minutes % 60);
    const auto hours = static_cast<long long>(std::llround(seconds / 3600));
    return printed("%lld d %lld h", hours / 24, hours % 24);
}

std::string format_percent(double share) {
    if (!std::isfinite(share)) return "?";
    return printed(std::abs(share) < 0.0995 ? "%.1f %%" : "%.0f %%", share * 100);
}

std::string format_rate(double per_second) {
    if (!std::isfinite(per_second)) return "?";
    if (per_second >= 999500) return printed("%.3gM", per_second / 1e6);
    if (per_second >= 9995) return printed("%.3gk", per_second / 1e3);
    return per_second >= 99.5 ? format_count(std::llround(per_second)) : printed("%.3g", per_second);
}

std::string format_number(double value, int significant) {
    return printed("%.*g", significant, value);
}

std::string format_loss(double loss) {
    const double size = std::abs(loss);
    return size >= 0.1 && size < 1e4 ? printed("%.4f", loss) : printed("%.4g", loss);
}

std::string format_time(double unix_seconds) {
    if (unix_seconds <= 0) return "";
    char text[32];
    const auto whole = static_cast<std::time_t>(unix_seconds);
    std::tm parts{};
    std::strftime(text, sizeof text, "%Y-%m-%d %H:%M", localtime_r(&whole, &parts));
    return text;
}

}  // namespace ringmaster
